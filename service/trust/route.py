"""The door of /trust: quarantine and release by where words come from."""

from dataclasses import dataclass
from typing import Final, Self

from pydantic import Field, model_validator

from service.access.caller import Caller
from service.access.errors import Forbidden, TooManyRequests, Unauthorized
from service.errors import WriteConflict
from service.field_types import Label, Moment, OwnAgent, Reference
from service.memories.lineage import Noted, audit_trail
from service.records import QUARANTINED
from service.sessions.given import GivenSession
from service.trust.quarantine import Selection, select, set_tiers
from service.trust.standing import select_standing, set_standing
from service.web.authentication import TheCaller
from service.web.declared import problems
from service.web.fields import Strict, body_example, ruled
from service.web.parts import ThePipeline
from service.web.room import Room
from service.writing.pipeline import Pipeline

router = Room("trust", prefix="/trust")

_PROBLEMS: Final = problems(Unauthorized, Forbidden, TooManyRequests, WriteConflict)
_WAYS: Final = ("source", "session", "client", "key", "since")
_MOST_IDS: Final = 1000


class TrustRequest(Strict):
    """Memories by where they come from; every given part must hold, and one must be given."""

    model_config = ruled(
        body_example(client="codex", since="2026-02-10", dry_run=True),
        anyOf=[{"required": [name], "properties": {name: {"type": "string"}}} for name in _WAYS],
    )

    source: Reference | None = Field(
        None,
        description="A document, a folder of documents that ends with a slash, or the source_ref "
        "of a push.",
    )
    session: Label | None = Field(None, description="What was said in this session.")
    client: Label | None = Field(None, description="What this program sent, as memories show it.")
    key: Label | None = Field(None, description="What was sent with the key of this id.")
    since: Moment | None = Field(None, description="Stored, or changed last, from then on.")
    agent: OwnAgent | None = Field(None, description="Of this agent alone. Unset: of all.")
    dry_run: bool = Field(True, description="Only say what would be done.")

    @model_validator(mode="after")
    def _says_which(self) -> Self:
        if all(getattr(self, name) is None for name in _WAYS):
            msg = f"says no way in; send at least one of {', '.join(_WAYS)}"
            raise ValueError(msg)
        return self

    def selection(self, caller: Caller) -> Selection:
        """Return what is meant, of the caller's agents."""
        agents = caller.agents if self.agent is None else (self.agent,)
        return Selection(agents, **{name: getattr(self, name) for name in _WAYS})


@dataclass(frozen=True, slots=True)
class TrustChanged:
    """What was done, or with `dry_run` would be; `ids` are the first 1,000 of `memories`.

    `summaries` say something of these memories: they are told anew without what is quarantined, or
    go if nothing is left. `working_memory` and `intents` count what sessions are told unasked,
    `transcripts` those of which nothing made later is told.
    `given` are those who were given one of `ids` before, as far as the audit notes reads;
    `sessions` those that a search or a recall gave one of them to.
    """

    dry_run: bool
    memories: int
    agents: dict[str, int]
    ids: list[str]
    summaries: list[str]
    working_memory: int
    intents: int
    transcripts: int
    given: list[Noted]
    sessions: list[GivenSession]


@router.post("/quarantine", operation_id="quarantine", responses=_PROBLEMS)
async def post_quarantine(
    pipeline: ThePipeline, caller: TheCaller, request: TrustRequest
) -> TrustChanged:
    """Put all that came in one way into quarantine: no search, recall or summary tells it.

    Such as everything that a client said since Tuesday. What it has in focus or intends goes first,
    as sessions are told that unasked. In transactions of 128 memories; sent again, it goes on where
    it was interrupted.
    """
    return await _change(pipeline, caller, request, QUARANTINED)


@router.post("/release", operation_id="release", responses=_PROBLEMS)
async def post_release(
    pipeline: ThePipeline, caller: TheCaller, request: TrustRequest
) -> TrustChanged:
    """Take memories out of quarantine: they are trusted as far as their origin is."""
    return await _change(pipeline, caller, request, None)


async def _change(
    pipeline: Pipeline, caller: Caller, request: TrustRequest, tier: str | None
) -> TrustChanged:
    db, selection = pipeline.db, request.selection(caller)
    is_quarantined = tier != QUARANTINED
    selected, summaries = await select(db, selection, is_quarantined=is_quarantined)
    standing = await select_standing(db, selection, is_quarantined=is_quarantined)
    every = [key for keys in selected.values() for key in keys]
    # Before anything is done: it tells who was given what by then.
    trail = await audit_trail(db, every[:_MOST_IDS], caller)
    if not request.dry_run:
        await set_standing(db, standing, tier)
        await set_tiers(pipeline, selected, tier)
    return TrustChanged(
        request.dry_run, len(every), {agent: len(keys) for agent, keys in selected.items()},
        every[:_MOST_IDS], summaries, len(standing.working_memory), len(standing.intents),
        len(standing.transcripts), trail.given, trail.sessions,
    )  # fmt: skip
