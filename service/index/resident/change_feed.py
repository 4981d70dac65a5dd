"""The change feed of a database that others write to as well: every commit, in its own order."""

import logging
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

from service.index.resident.feed_position import (
    FeedPosition,
    stamp_after,
    stamp_before,
)
from service.index.resident.stamps import StampRefused
from service.records import Commit
from service.store.database import Database, record
from service.store.queries import load_query

log = logging.getLogger(__name__)

CLOCK: Final = load_query(__package__, "clock")
NOTE_SNAPSHOT: Final = load_query(__package__, "note_snapshot")
# The table with a row of the snapshot that was taken last; nothing else is told of it.
SNAPSHOTS: Final = "snapshot"
# The feed holds seven days.
_REACH_MS: Final = 6 * 24 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class FeedMark:
    """A stamp that lies surely before every commit from now on, and the commits beyond it.

    Such there are when the database's clock was set back: they are older than their stamps say.
    """

    stamp: int
    future: frozenset[int]


class ChangeFeed:
    """Reads the feed on from where it was read last.

    `on_gap` is called when commits may be missing or out of their order: what was made of the feed
    must be read anew from the tables.
    """

    def __init__(self, db: Database, on_gap: Callable[[], None]) -> None:
        self._db = db
        self._on_gap = on_gap
        now = time.monotonic()
        self._position = FeedPosition(moved_at=now, checked_at=now)
        self._mark = FeedMark(0, frozenset())

    def unread(self, keys: Iterable[str]) -> set[str]:
        """Return them all: others write to a server as well."""
        return set(keys)

    def waiting(self) -> None:
        """Return that what is not read yet must be read: nobody else tells of it."""

    async def mark(self) -> FeedMark:
        """Return a place before everything that is committed from now on."""
        now = int(await self._db.run(CLOCK))
        future: set[int] = set()
        async for commits in self._pages(stamp_after(now)):
            future |= {commit.stamp for commit in commits}
        if future:
            log.warning("the database's clock is behind %d of its commits", len(future))
        return FeedMark(stamp_before(now), frozenset(future))

    async def since(self, mark: FeedMark) -> AsyncGenerator[list[Commit]]:
        """Yield what was committed since a mark, page by page."""
        async for commits in self._pages(mark.stamp):
            fresh = [commit for commit in commits if commit.stamp not in mark.future]
            if fresh:
                yield fresh
            elif commits[0].stamp > stamp_after(self._db.clock_ms or 0):
                return  # nothing new is stamped so far ahead of the clock

    async def begin(self) -> None:
        """Begin to read at this moment, where nothing was read yet."""
        if self._position.is_lost:
            self._mark = await self.mark()
            self._position.begin_at(self._mark.stamp)

    async def news(self) -> AsyncGenerator[list[Commit]]:
        """Yield what was committed since it was asked for last."""
        await self.begin()
        now, position = time.monotonic(), self._position
        since = position.next_stamp(now)
        stamps: set[int] = set()
        async for commits in self.since(FeedMark(since, self._mark.future)):
            stamps |= {commit.stamp for commit in commits}
            fresh = [commit for commit in commits if commit.stamp not in position.seen]
            if fresh:
                yield fresh
        if position.has_gap(since, stamps, now):
            log.error("the change feed has a gap: every index is loaded again")
            self._on_gap()
            stamps.clear()
        position.advance(stamps, now)
        if self._db.clock_ms is not None and stamp_after(self._db.clock_ms) < position.cursor:
            log.error("the database's clock was set back: every index is loaded again")
            self.lose()
            self._on_gap()

    def lose(self) -> None:
        """Forget where reading stands: it begins anew at the next look."""
        self._position.lose()

    async def stamp(self) -> dict[str, Any]:
        """Return a mark as JSON can say it, and a token of its own."""
        mark = await self.mark()
        return {"token": uuid4().hex, "stamp": mark.stamp, "future": sorted(mark.future)}

    async def since_stamp(self, stamp: Mapping[str, Any]) -> FeedMark:
        """Return a mark that was taken by another process, if the feed still reaches back there."""
        now = int(await self._db.run(CLOCK))
        if not stamp_before(now - _REACH_MS) < stamp["stamp"] <= stamp_before(now):
            msg = "it is older than the change feed reaches back, or the database's clock was set"
            raise StampRefused(msg)
        if not await self._tells_of(stamp):
            msg = "it is of another store, or of a later moment than this one was brought back from"
            raise StampRefused(msg)
        return FeedMark(stamp["stamp"], frozenset(stamp["future"]))

    async def publish(self, stamp: Mapping[str, Any]) -> None:
        """Note the token in the store, which holds by now all that the snapshot does."""
        facts = {"token": stamp["token"]}
        await self._db.run(NOTE_SNAPSHOT, id=record(SNAPSHOTS, "last"), facts=facts)

    async def _tells_of(self, stamp: Mapping[str, Any]) -> bool:
        """Return whether the feed tells when the token was noted.

        Of a store that was brought back from an older copy it does not. Nor of one that was read
        from an export, which holds rows alone: what was written before it is told by no feed.
        """
        async for commits in self._pages(stamp["stamp"]):
            for commit in commits:
                noted = [one.row or {} for one in commit.changes if one.table == SNAPSHOTS]
                if any(_is_of(row, stamp, commit.stamp) for row in noted):
                    return True
        return False

    async def forget(self) -> None:
        """Do nothing: the feed forgets by itself."""

    async def _pages(self, since: int) -> AsyncGenerator[list[Commit]]:
        """Yield the commits since a stamp, that one included, page by page."""
        has_more = True
        while has_more:
            commits, has_more = await self._db.changes(since)
            if commits:
                yield commits
                since = commits[-1].stamp


def _is_of(row: Mapping[str, Any], stamp: Mapping[str, Any], noted: int) -> bool:
    """Return whether a row has a stamp's token, and was written when it says so: no copy of it."""
    at = row.get("at", 0)
    is_told_then = stamp_before(at) < noted <= stamp_after(at)
    return row.get("token") == stamp.get("token") and is_told_then
