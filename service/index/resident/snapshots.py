"""Snapshots: the resident indexes in files, so that a start need not read the whole store.

The store stays the truth: what was written since a snapshot is read from there, and one that says
something else than this service and this store expect is not used (docs/decisions/0022).
"""

import asyncio
import logging
import time
from collections.abc import Container, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from service.errors import ServiceError, StoreFull
from service.index.resident.add_pages import StoreFacts
from service.index.resident.agent_index import AgentIndex
from service.index.resident.array_file import Unreadable, map_arrays, read_facts, write_arrays
from service.index.resident.follow import Follower
from service.index.resident.index_file import restore_index, save_index
from service.index.resident.loading import scanned_of, store_facts
from service.index.resident.saved import Saved
from service.index.resident.stamps import StampRefused
from service.redaction import loggable
from service.store.allocator import give_back
from service.store.database import Database
from service.text.digests import digest
from service.version import VERSION

log = logging.getLogger(__name__)

# Of what is held and how: another number for every change of either. How words are counted may
# change with any version of the service.
_FORMAT: Final = 15
# Below it, reading the store takes less than half a second.
FEWEST_MEMORIES: Final = 1000
# A snapshot is taken when nobody has written for so long, or after so long in any case: sooner
# where something was deleted that the last one tells of.
_QUIET_SECONDS: Final = 30.0
_LONGEST_SECONDS: Final = 600.0
_QUIET_SECONDS_AFTER_DELETION: Final = 5.0
_LONGEST_SECONDS_AFTER_DELETION: Final = 60.0
# Writers wait meanwhile: for a twentieth of the time at most.
_SHARE: Final = 20
# With fewer changes than these since the last one, a service that ends leaves it at that: reading
# them again takes less time than another snapshot.
_FEW_CHANGES: Final = 1000
_SUFFIX: Final = ".index"
# What damaged files and facts of other versions raise.
_UNFIT: Final = (Unreadable, StampRefused, OSError, KeyError, ValueError, TypeError, IndexError)


@dataclass(frozen=True, slots=True)
class Expected:
    """What a snapshot must say to be used: whose it is, and what the store says of its vectors."""

    agent: str
    fingerprint: str | None
    dimensions: int | None
    scanned: int | None

    def fits(self, index: AgentIndex) -> bool:
        """Return whether an index scans its vectors so: one that began empty scans them whole."""
        vectors = index.vectors
        return vectors is None or vectors.scanned == (self.scanned or vectors.dimensions)


async def facts_and_expected(
    db: Database, agent: str, scanned_dimensions: int | None
) -> tuple[StoreFacts, Expected]:
    """Return what the store says of an agent, and what a snapshot must say of that."""
    facts = await store_facts(db, agent)
    scanned = scanned_of(facts.fingerprint, scanned_dimensions)
    return facts, Expected(agent, facts.fingerprint, facts.dimensions, scanned)


@dataclass(frozen=True, slots=True)
class Restored:
    """An index from a file, and the mark from which on it lacks what was written."""

    index: AgentIndex
    mark: Any


class _OfAnotherVersion(Unreadable):
    """No fault of a file, and nothing to be done about: the next one takes its place."""


class Snapshots:
    """The snapshots of one service: a file for each agent, in a folder of their own."""

    def __init__(self, folder: Path, db: Database, follower: Follower) -> None:
        self._folder = folder
        self._db = db
        self._follower = follower
        # Changes that the follower had counted when the last one was taken; None before the first.
        self._changes: int | None = None
        # Its files. What could not be removed stands beside them in the folder.
        self._own: list[Path] = []
        self._taken_at = time.monotonic()
        self._took_seconds = self._rests_until = 0.0

    async def restore(self, expected: Expected, room_bytes: int) -> Restored | None:
        """Return an agent's index from its newest file that fits; None, and why, without one.

        Raises StoreUnavailable.
        """
        facts = await self._facts(expected)
        for path in await asyncio.to_thread(self._files, expected.agent):
            try:
                told = await asyncio.to_thread(read_facts, path)
                _check(told, facts)
                mark = await self._follower.feed.since_stamp(told["stamp"])
                arrays = await asyncio.to_thread(map_arrays, path)
                index = await asyncio.to_thread(restore_index, arrays)
                if index.bytes > room_bytes:
                    raise Unreadable("it is larger than MEMORY_INDEX_MEMORY_MB leaves room for")
            except _UNFIT as error:
                level = logging.INFO if isinstance(error, _OfAnotherVersion) else logging.WARNING
                why = loggable(error)
                log.log(level, "a snapshot of agent %s is not used: %s", expected.agent, why)
            else:
                if self._changes is None:
                    self._changes = self._follower.changes
                self._own.append(path)
                log.info("agent %s is read from a snapshot", expected.agent)
                return Restored(index, mark)
        return None

    def is_due(self) -> bool:
        """Whether something changed and nobody has written for a while, or it changed long ago."""
        if self._changes == self._follower.changes:
            return False
        now, deleted_at = time.monotonic(), self._follower.deleted_at
        quiet = _QUIET_SECONDS if deleted_at is None else _QUIET_SECONDS_AFTER_DELETION
        longest = _LONGEST_SECONDS if deleted_at is None else _LONGEST_SECONDS_AFTER_DELETION
        waited = now - self._taken_at
        rests = deleted_at is None and now < self._rests_until
        if rests or waited < _SHARE * self._took_seconds:
            return False
        return now - self._follower.changed_at > quiet or waited > longest

    def current(self, agent: str) -> Path | None:
        """Return an agent's file if nothing at all has changed since it was written."""
        if self._changes != self._follower.changes:
            return None
        return next((path for path in self._files(agent) if path in self._own), None)

    @property
    def is_good(self) -> bool:
        """Whether so little changed since the last one, and nothing was deleted, that it may stay.

        Those changes are soon read again.
        """
        return (
            self._changes is not None
            and self._follower.deleted_at is None
            and self._follower.changes - self._changes < _FEW_CHANGES
        )

    async def take(
        self, indexes: Iterable[tuple[AgentIndex, Expected]], doubts: Container[str]
    ) -> None:
        """Write files of these indexes, and let older ones go.

        Those that are small, lack something or are among the `doubts` are left out. What goes wrong
        is told in the log, as is that one has come into doubt meanwhile: all stays as it was then.
        """
        chosen = [
            (index, expected)
            for index, expected in indexes
            if index.memories >= FEWEST_MEMORIES
            and index.agent not in doubts
            and not index.beyond_budget
            and expected.fits(index)
        ]
        started = self._taken_at = time.monotonic()
        try:
            await self._take(chosen, doubts)
        except (OSError, StampRefused, ServiceError) as error:
            log.warning("no snapshot was taken in %s: %s", self._folder, loggable(error))
            # On a full disk each takes what is left of it for a while.
            self._rests_until = time.monotonic() + _LONGEST_SECONDS
            if self._follower.deleted_at is not None:
                await self._go_without()
            return
        self._took_seconds = time.monotonic() - started
        if chosen:
            # The copies were 10 MB of 6,200 memories.
            await give_back()
            log.info("a snapshot of %d agents took %.1f s", len(chosen), self._took_seconds)

    async def _take(
        self, chosen: Sequence[tuple[AgentIndex, Expected]], doubts: Container[str]
    ) -> None:
        if not chosen:
            await self._go_without()
            return
        stamp = await self._follower.feed.stamp()
        told = {expected.agent: await self._facts(expected) for _, expected in chosen}
        paths: list[Path] = []
        changes, deleted_at = self._follower.changes, None
        try:
            for index, _ in chosen:
                # Writers wait for the copy, not its file: what they write stands behind the stamp.
                async with self._follower.at_rest():
                    if not paths:
                        changes, deleted_at = self._follower.changes, self._follower.deleted_at
                        self._follower.deleted_at = None
                    saved = await asyncio.to_thread(save_index, index)
                saved.facts |= {**told[index.agent], "stamp": stamp}
                paths.append(await asyncio.to_thread(self._write, index.agent, saved))
            _check_doubts(doubts, chosen)
            await self._follower.feed.publish(stamp)
            self._changes, self._own = changes, paths
        except (OSError, StampRefused, StoreFull):
            # Of no use, and as many a try on a full disk; a database that is away may know them.
            for path in paths:
                await asyncio.to_thread(path.unlink, missing_ok=True)
            raise
        finally:
            if self._own is not paths:  # the older files still tell of it
                self._follower.deleted_at = deleted_at or self._follower.deleted_at
        await asyncio.to_thread(self._forget_all_but, paths)

    async def forget(self) -> None:
        """Let go of every file, and of the log, which names what was deleted; another is due."""
        self._changes, self._own = None, []
        await asyncio.to_thread(self._forget_all_but, [])
        await self._follower.feed.forget()
        self._follower.deleted_at = None

    async def _go_without(self) -> None:
        """Let go of all that, until something changes; a store that is away is asked again."""
        changes = self._follower.changes
        with suppress(ServiceError):
            await self.forget()
            self._changes = changes

    async def _facts(self, expected: Expected) -> dict[str, Any]:
        schema = (await self._db.meta("schema")).get("version")
        return {"format": [_FORMAT, VERSION], "schema": schema, "expected": asdict(expected)}

    def _write(self, agent: str, saved: Saved) -> Path:
        # What the store may still write goes before what is made of it.
        self._db.room.check(saved.bytes)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._folder / f"{_name_of(agent)}-{uuid4().hex}{_SUFFIX}"
        write_arrays(path, saved)
        return path

    def _files(self, agent: str) -> list[Path]:
        """Return an agent's files, the newest first; none, and why, where nobody may look."""
        found = []
        try:
            for path in self._folder.glob(f"{_name_of(agent)}-*{_SUFFIX}"):
                with suppress(OSError):  # another service may remove it in this moment
                    found.append((path.stat().st_mtime_ns, path))
        except OSError as error:
            log.warning("no snapshot is looked for in %s: %s", self._folder, loggable(error))
        return [path for _, path in sorted(found, reverse=True)]

    def _forget_all_but(self, paths: Sequence[Path]) -> None:
        try:
            remove_files(self._folder, paths)
        except OSError as error:
            # Without its token in the store no service uses it.
            log.warning("remove the snapshots in %s by hand: %s", self._folder, loggable(error))


def remove_files(folder: Path, kept: Sequence[Path] = ()) -> None:
    """Remove the files of snapshots from a folder, but for some of them; raises OSError."""
    for path in folder.iterdir() if folder.is_dir() else ():
        if path not in kept and path.suffix in {_SUFFIX, ".partial"}:
            path.unlink(missing_ok=True)


def _check_doubts(doubts: Container[str], chosen: Iterable[tuple[AgentIndex, Expected]]) -> None:
    if any(index.agent in doubts for index, _ in chosen):
        raise StampRefused("an index has come into doubt meanwhile")


def _name_of(agent: str) -> str:
    """Return what an agent's files begin with: its name may be no file's."""
    return f"{digest(agent) & (2**64 - 1):016x}"


def _check(
    told: dict[str, Any], facts: dict[str, Any], fault: type[Unreadable] = _OfAnotherVersion
) -> None:
    """Raise Unreadable for a file that says something else than is expected."""
    for name, value in facts.items():
        if name == "expected":
            _check(told[name], value, Unreadable)
        elif told.get(name) != value:
            raise fault(f"its {name} is {told.get(name)!r}, not {value!r}")
