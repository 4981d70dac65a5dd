"""The trials of a consolidation: its time and memory, what it saves, whether order matters."""

import json
import os
import random
import re
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx

from scripts.consolidation.store import Compacted, Done, Memory, Size, Store, size_of
from scripts.generated.logs import Logs, documents, observations
from scripts.servers.own_servers import own_servers
from scripts.servers.watched_service import (
    Resident,
    Setup,
    WatchedService,
    fake_embedding_server,
    watched_service,
)

_DIMENSIONS: Final = 384
_PATIENCE_SECONDS: Final = 3600
_REST_SECONDS: Final = 60
# What of a summary must not depend on the order in which its sources came.
_COMPARED: Final = ("title", "content", "tags", "importance", "occurred_at", "scope")
_DATE: Final = re.compile(r"^(?:19|20)\d{2}-?\d{2}-?\d{2}")


@dataclass(frozen=True, slots=True)
class TimeFigures:
    """One size: the client's seconds, the service's memory, what became of the logs.

    `cpu_seconds` are those of the service's process during the run: on a shared machine, what
    `seconds` would be about. `changed` is what a second run in a row did: memories that
    joined, summaries made or revised. `counts` are how many different ones the job told on the
    way. `rested` is the memory a quiet minute later.
    """

    entries: int
    memories: int
    dry_seconds: float
    seconds: float
    counts: int
    cpu_seconds: float
    again_seconds: float
    changed: int
    empty: Resident
    before: Resident
    after: Resident
    rested: Resident
    compacted: Compacted


@dataclass(frozen=True, slots=True)
class SizeFigures:
    """One folder: everything a search sees before and after, and of that what was compacted."""

    name: str
    remark: str
    before: Size
    after: Size
    compacted: Compacted


@dataclass(frozen=True, slots=True)
class OrderFigures:
    """Two stores of the same entries; `differing` are ids of summaries that only one has so."""

    entries: int
    summaries: int
    differing: tuple[str, ...]


def measure_time(entries: int) -> TimeFigures:
    """Consolidate generated logs on a store of their own, with a fake embedding server."""
    with (
        tempfile.TemporaryDirectory() as folder,
        fake_embedding_server(_DIMENSIONS) as embedding_url,
        watched_service(Setup(Path(folder), embedding_url, "resident")) as service,
        httpx.Client(base_url=service.url, timeout=_PATIENCE_SECONDS) as client,
    ):
        store, empty = Store(client), service.resident()
        store.write_logs(Logs(entries).entries())
        # The index over vectors and words is loaded by the first search.
        client.post("/search", json={"query": "backup"}).raise_for_status()
        before, loaded = store.memories(), forget_peak(service)
        _, dry_seconds = store.consolidate()
        shown, busy = store.show(), cpu_seconds(service)
        job = store.run_job()
        busy, after = cpu_seconds(service) - busy, service.resident()
        again, again_seconds = store.consolidate(dry_run=False)
        time.sleep(_REST_SECONDS)
        rested = service.resident()
        done = Done(shown, before, store.memories())
    return TimeFigures(
        entries=entries,
        memories=len(before),
        dry_seconds=dry_seconds,
        seconds=job.seconds,
        counts=job.counts,
        cpu_seconds=busy,
        again_seconds=again_seconds,
        changed=sum(again["counts"][name] for name in ("memories", "created", "revised")),
        empty=empty,
        before=loaded,
        after=after,
        rested=rested,
        compacted=done.compacted(),
    )


def cpu_seconds(service: WatchedService) -> float:
    """Return what the service's process has had of the processors since it began."""
    fields = Path(f"/proc/{service.process.pid}/stat").read_text("ascii").rpartition(")")[2].split()
    # utime and stime, fields 14 and 15 of proc(5).
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def forget_peak(service: WatchedService) -> Resident:
    """Begin a new peak of the service's memory, and return what it holds now."""
    Path(f"/proc/{service.process.pid}/clear_refs").write_text("5", encoding="ascii")
    return service.resident()


def measure_size(store: Store, folder: Path) -> SizeFigures:
    """Store the notes of a folder as daily logs, consolidate, and compare."""
    dates = manifest_dates(folder)
    undated = 0
    for path in sorted(folder.rglob("*.md")):
        name = path.relative_to(folder).as_posix()
        date = dates.get(name)
        undated += date is None and not _DATE.match(path.name)
        store.ingest(name, path.read_text("utf-8"), kind="daily_log", occurred_at=date)
    done = store.consolidate_as_shown()
    return SizeFigures(
        name=f"{folder.parent.name}/{folder.name}",
        remark=_remark(len(dates), undated),
        before=size_of(memory["content"] for memory in done.before.values()),
        after=size_of(memory["content"] for memory in done.after.values()),
        compacted=done.compacted(),
    )


def manifest_dates(folder: Path) -> dict[str, str]:
    """Return the dates of a folder's files by name, from FOLDER.manifest.jsonl if it is there."""
    manifest = folder.with_name(f"{folder.name}.manifest.jsonl")
    if not manifest.is_file():
        return {}
    lines = map(json.loads, manifest.read_text("utf-8").splitlines())
    return {line["path"]: f"{line['date']}T00:00:00Z" for line in lines}


def _remark(dated: int, undated: int) -> str:
    told = "Every file is stored as a daily log"
    told += ", dated by the folder's manifest." if dated else ", dated by its name or front matter."
    return told + (f" {undated} files have no date there." if undated else "")


def measure_order(entries: int, embedding_model: str) -> OrderFigures:
    """Store the same entries twice, once shuffled, on stores of their own, and compare."""
    logs = Logs(entries, seed=2).entries()
    names = sorted(documents(logs))
    shuffled, chooser = list(names), random.Random(3)
    chooser.shuffle(shuffled)
    pushed = observations(logs)
    with own_store(embedding_model) as store:
        store.write_logs(logs, names)
        one = store.consolidate_as_shown().summaries
    with own_store(embedding_model) as store:
        store.push(chooser.sample(pushed, len(pushed)))
        store.write_logs([entry for entry in logs if not entry.is_observation], shuffled)
        other = store.consolidate_as_shown().summaries
    return OrderFigures(entries, len(one), differing(one, other))


@contextmanager
def own_store(embedding_model: str) -> Iterator[Store]:
    """Start an embedding server and a service; yields their empty store, stops both at the end."""
    with (
        own_servers(embedding_model) as servers,
        httpx.Client(base_url=servers.url, timeout=_PATIENCE_SECONDS) as client,
    ):
        yield Store(client)


def differing(one: Mapping[str, Memory], other: Mapping[str, Memory]) -> tuple[str, ...]:
    """Return the ids of the summaries that only one store has, or that read otherwise."""

    def told(summaries: Mapping[str, Memory], key: str) -> list[object] | None:
        return [summaries[key][name] for name in _COMPARED] if key in summaries else None

    return tuple(key for key in sorted({*one, *other}) if told(one, key) != told(other, key))
