"""The door of /ingest: push a document, scan the folders, look at a job."""

import time
from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import Request
from pydantic import AfterValidator, Field

from service.access.caller import caller
from service.access.errors import TooManyRequests
from service.drafts.clock import CLOCK
from service.drafts.drafts import DocumentText
from service.errors import (
    AgentNotReadable,
    JobNotFound,
    NoSources,
    PathOutsideSources,
    QuotaFull,
    SourceTooLarge,
    WriteConflict,
)
from service.field_types import Kind, Label, Moment, OwnAgent, Reference, Text, pattern_of
from service.ingest.counts import Failure, ScanCounts
from service.ingest.document_names import relative_name
from service.ingest.jobs import Scans, counts_from
from service.ingest.opt_outs import refuse_switched_off_documents
from service.projects.switched_off import SwitchedOff
from service.sanitise.private_blocks import without_private
from service.web.accepted import JobAccepted, accepted
from service.web.declared import links, problems
from service.web.fields import Strict, body_example, own_agent
from service.web.parts import ThePipeline, TheSettings, part
from service.web.room import Room
from service.writing.pipeline import sync_documents

router = Room("ingest", prefix="/ingest")

TheScans = Annotated[Scans, part(Scans)]


# A name is neither empty nor one of the folders `.` and `..`; the first says no other root.
_NAME: Final = r"(?:[^./\\\x00-\x1f]|\.[^./\\\x00-\x1f]|\.\.[^/\\\x00-\x1f])[^/\\\x00-\x1f]*"
_FIRST_NAME: Final = (
    r"(?:[^./\\~:A-Za-z\x00-\x1f][^/\\\x00-\x1f]*|[A-Za-z](?:[^:/\\\x00-\x1f][^/\\\x00-\x1f]*)?"
    r"|:[^/\\\x00-\x1f]*|(?:\.[^./\\\x00-\x1f]|\.\.[^/\\\x00-\x1f])[^/\\\x00-\x1f]*)"
)
_NAME_PATTERN: Final = rf"^(?:{_FIRST_NAME}|\.[/\\](?:\.?[/\\])*{_NAME})(?:[/\\](?:{_NAME}|\.?))*$"

SourceName = Annotated[
    Reference, AfterValidator(relative_name), pattern_of(_NAME_PATTERN),
    Field(description="The document's name: a relative path.", examples=["memory/2026-02-13.md"]),
]  # fmt: skip


class IngestRequest(Strict):
    """A markdown document to store; the same `source` again replaces what it gave before."""

    model_config = body_example(
        source="memory/2026-02-13.md",
        text="# 2026-02-13\n\n## 09:15 Smoke test\n\nJR's code phrase is blue bunny.\n",
    )

    source: SourceName
    text: Text = Field(
        description="The whole document.",
        examples=["# 2026-02-13\n\n## 09:15 Smoke test\n\nJR's code phrase is blue bunny.\n"],
    )
    agent: OwnAgent = own_agent()
    scope: Label | None = None
    occurred_at: Moment | None = Field(None, description="Unset: front matter, name, else now.")
    kind: Kind | None = Field(None, description="Unset: what the path implies.")


class ScanBody(Strict):
    """What to scan."""

    model_config = body_example(paths=[], wait=True)

    paths: list[Text] = Field(
        [], max_length=1000, description="Files or folders below the configured ones; none: all."
    )
    agent: OwnAgent | None = Field(
        None, description="The owner of the folders (MEMORY_AGENT), who is meant in any case."
    )
    wait: bool = Field(True, description="false answers at once, with a job to look at.")


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of a document's sections."""

    source: str
    created: int
    updated: int
    unchanged: int
    removed: int
    concepts_linked: int
    embedded: int
    warnings: list[str]
    took_ms: float


@dataclass(frozen=True, slots=True)
class Scanned:
    """What a scan did; sections are counted, but for `files`.

    `left_out` counts failures and warnings that are not told: of each the first 1,000 are.
    """

    files: int
    created: int
    updated: int
    unchanged: int
    removed: int
    concepts_linked: int
    embedded: int
    failed: list[Failure]
    warnings: list[str]
    left_out: int
    took_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStatus:
    """How far a job has come: `done` of `files` files so far, and the counts of a scan."""

    id: str
    state: str
    detail: str | None
    files: int = 0
    done: int = 0
    created: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    concepts_linked: int = 0
    embedded: int = 0
    failed: list[Failure]
    warnings: list[str]
    left_out: int = 0
    took_ms: float = 0.0


@router.post(
    "",
    operation_id="ingest",
    responses=problems(SourceTooLarge, WriteConflict, QuotaFull, SwitchedOff)
    | links(200, read_document={"path": "/source"}),
)
async def post_ingest(
    pipeline: ThePipeline, settings: TheSettings, request: IngestRequest
) -> Ingested:
    """Store a document; answers after everything is durable and searchable."""
    size, most = len(request.text.encode()), settings.max_source_bytes
    if size > most:
        msg = f"{size:,} bytes; the largest text taken is {most:,} (MEMORY_MAX_SOURCE_BYTES)."
        raise SourceTooLarge(msg)
    started = time.perf_counter()
    scope = caller().own_scope(request.scope)
    document = DocumentText(
        request.source, request.text, request.agent, scope, request.kind,
        request.occurred_at, CLOCK.now(), sender=caller().provenance,
    )  # fmt: skip
    await refuse_switched_off_documents(pipeline.db, [document])
    [synced] = await sync_documents(pipeline, [document])
    counts = {n: getattr(synced, n) for n in Ingested.__dataclass_fields__ if hasattr(synced, n)}
    took_ms = round((time.perf_counter() - started) * 1000, 1)
    # As it is screened on its way in, which tells of it.
    source = pipeline.sanitiser.mask(without_private(request.source)[0])
    return Ingested(**counts | {"warnings": list(synced.warnings)}, source=source, took_ms=took_ms)


@router.post(
    "/scan", operation_id="scan", response_model=Scanned,
    responses={
        202: {"model": JobAccepted, **links(202, read_job={"id": "/job"})[202]},
        **problems(AgentNotReadable, PathOutsideSources, NoSources, TooManyRequests),
    },
)  # fmt: skip
async def post_scan(
    scans: TheScans,
    asked: Request,
    request: ScanBody = ScanBody(),  # noqa: B008 - a frozen default
) -> Any:
    """Bring the store in line with the configured folders."""
    paths = tuple(request.paths)
    # Where none is named it is not the caller's: the audit learns here whose memories are meant.
    asked.state.agents_named = [request.agent or scans.settings.agent]
    if request.wait:
        return _scanned(await scans.run_and_wait(request.agent, paths))
    return accepted(await scans.submit(request.agent, paths))


@router.get("/jobs/{id}", operation_id="read_job", responses=problems(JobNotFound))
async def get_job(scans: TheScans, id: str) -> JobStatus:  # noqa: A002 - the contract's name
    """Look at a job: its state (queued, running, done or failed) and its counts so far."""
    job = await scans.read(id)
    counts = counts_from(job.counts)
    told = {name: getattr(counts, name) for name in ScanCounts.__dataclass_fields__}
    return JobStatus(id=job.id, state=job.state, detail=job.detail, **told)


def _scanned(counts: ScanCounts) -> Scanned:
    return Scanned(**{name: getattr(counts, name) for name in Scanned.__dataclass_fields__})
