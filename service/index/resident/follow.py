"""Following what is written: every write of any writer, taken into the indexes."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime
from typing import Any, Final, Protocol

from service.errors import QueryFailed, ServiceError
from service.index.resident.agent_index import AgentIndex
from service.index.resident.apply_commits import APPLIED_FIRST, apply_commits, apply_to_all
from service.index.resident.change_feed import SNAPSHOTS, ChangeFeed
from service.index.resident.feed_position import MARGIN_MS
from service.index.resident.graph import EDGE_TABLES
from service.index.resident.own_writes import OwnWrites
from service.records import Commit
from service.store.database import Database
from service.store.written_records import Row
from service.threads import in_thread_to_its_end

log = logging.getLogger(__name__)

# Another writer's commit is seen within a second, at 0.5 ms a look.
POLL_SECONDS: Final = 0.25
_LONGEST_REST_SECONDS: Final = 5.0
# Tables with a change feed that no index holds anything of.
_WITHOUT_INDEX: Final = frozenset({"derived_from", "supersedes"})
_TABLES: Final = frozenset({*APPLIED_FIRST, *EDGE_TABLES})


class Feed(Protocol):
    """Where to read what was written: commits with rows as they were then, or are now.

    What a reader of `news` or `since` does not take in, because it fails, is told again.
    """

    async def mark(self) -> Any:
        """Return a place before everything that is written from now on."""

    def unread(self, keys: Iterable[str]) -> set[str]:
        """Return those of the memories that may differ from what was read of them last."""

    def waiting(self) -> list[Row] | None:
        """Return the rows of memories that were written and not read yet; None if unknown."""

    def since(self, mark: Any, /) -> AsyncGenerator[list[Commit]]:
        """Yield what was written since a mark."""

    async def begin(self) -> None:
        """Begin to read at this moment, where nothing was read yet."""

    def news(self) -> AsyncGenerator[list[Commit]]:
        """Yield what was written since it was asked for last."""

    def lose(self) -> None:
        """Forget where reading stands: it begins anew at the next look."""

    async def stamp(self) -> dict[str, Any]:
        """Return a place before everything that is written from now on, for another process.

        JSON can say it. Raises StampRefused.
        """

    async def since_stamp(self, stamp: Mapping[str, Any], /) -> Any:
        """Return the mark of a stamp that another process took; raises StampRefused."""

    async def publish(self, stamp: Mapping[str, Any], /) -> None:
        """Let a snapshot with this stamp be the one that is valid."""

    async def forget(self) -> None:
        """Let no snapshot be valid; raises StoreUnavailable."""


class Audience(Protocol):
    """Who holds copies of the indexes, and is told of every change that they take in."""

    def applied(self, commits: Sequence[Commit], fingerprint: str | None, /) -> None:
        """Hear what all indexes hold from now on, in the order in which they took it in."""


class Follower:
    """Reads the feed of one store for all resident indexes.

    `through` is the moment up to which every commit is in them; `on_doubt` is called with the
    agents whose index may have missed something and must be loaded again.
    """

    def __init__(
        self,
        db: Database,
        residents: dict[str, AgentIndex],
        on_doubt: Callable[[Iterable[str]], None],
    ) -> None:
        self.through = datetime.now(UTC)
        self._looked_at = time.monotonic()
        # How many rows changed so far, and when the last did, on the monotonic clock.
        self.changes = 0
        self.changed_at = time.monotonic()
        # When something was deleted that a snapshot may still tell of, on the same clock.
        self.deleted_at: float | None = None
        self.unknown_tables: Counter[str] = Counter()
        self._db = db
        self._residents = residents
        self._on_doubt = on_doubt
        self._reading = asyncio.Lock()
        # The number of calls of catch_up, and of those that a look at the feed has served.
        self._calls = 0
        self._served = 0
        # An embedded store has this process alone, a server has other writers too.
        self.is_alone = bool(db.address.folder)
        self._feed: Feed = OwnWrites(db) if self.is_alone else ChangeFeed(db, self._doubt_all)
        # The model of the vectors that were read last.
        self.fingerprint: str | None = None
        self.audience: Audience | None = None

    def held(self, agent: str) -> AgentIndex | None:
        """Return the index of an agent that is kept true; None if it is not in RAM."""
        return self._residents.get(agent)

    @property
    def lag_seconds(self) -> float:
        """How long ago the last look began that was taken in whole."""
        return time.monotonic() - self._looked_at

    async def catch_up(self) -> None:
        """Take in everything that was committed before this call; raises StoreUnavailable.

        Callers that wait together are served by one look at the feed.
        """
        self._calls += 1
        call = self._calls
        async with self._reading:
            if self._served < call:
                latest = self._calls
                await self._read()
                self._served = latest

    async def after_write(self) -> None:
        """Take in a write of our own. It is stored: a failure here only lets the index lag."""
        try:
            await self.catch_up()
        except ServiceError as error:
            log.warning("the index lags behind a write: %s", error.logged)

    async def run(self) -> None:
        """Look at the feed again and again; a database that is away is waited for."""
        rest = POLL_SECONDS
        while True:
            try:
                async with self._reading:
                    await self._read()
                rest = POLL_SECONDS
            except QueryFailed as error:
                # A row that the driver cannot read, such as a date past the year 9999.
                log.error("the change feed cannot be read: %s", error.logged)  # noqa: TRY400
                self._feed.lose()
                self._doubt_all()
                rest = MARGIN_MS / 1000
            except ServiceError as error:
                log.warning("the index cannot be kept current: %s", error.logged)
                rest = min(rest * 2, _LONGEST_REST_SECONDS)
            await asyncio.sleep(rest)

    async def mark(self) -> Any:
        """Return a place in the feed before everything that is written from now on."""
        return await self._feed.mark()

    @property
    def feed(self) -> Feed:
        """Where this follower reads."""
        return self._feed

    @asynccontextmanager
    async def at_rest(self) -> AsyncIterator[None]:
        """Keep every index at what is committed by now, for a while; raises StoreUnavailable."""
        async with self._reading:
            await self._read()
            yield

    async def admit(self, index: AgentIndex, mark: Any) -> None:
        """Let a loaded index join, with all that was written since the mark: while it loaded."""
        async with self._reading:
            await self._feed.begin()
            async with aclosing(self._feed.since(mark)) as missed:
                async for commits in missed:
                    model = await self._model_of(commits)
                    self._count(commits)
                    if await asyncio.to_thread(apply_commits, index, commits, model):
                        self._on_doubt([index.agent])
            self._residents[index.agent] = index

    async def _read(self) -> None:
        begun, looked_at = datetime.now(UTC), time.monotonic()
        async with aclosing(self._feed.news()) as news:
            async for commits in news:
                await self._take_in(commits)
        self.through, self._looked_at = begun, looked_at

    def _doubt_all(self) -> None:
        self._on_doubt(list(self._residents))

    async def _take_in(self, commits: Sequence[Commit]) -> None:
        self._count(commits)
        model, residents = await self._model_of(commits), list(self._residents.values())
        self._on_doubt(await in_thread_to_its_end(apply_to_all, residents, commits, model))
        if self.audience:
            self.audience.applied(commits, model)

    async def _model_of(self, commits: Sequence[Commit]) -> str | None:
        """Return the fingerprint that the store's vectors carry, asked where vectors are new.

        A process that is alone notes another model before it writes the first vector of it.
        """
        rows = [c.row or {} for one in commits for c in one.changes if c.table == "embedding"]
        is_known = self.is_alone and {row.get("fingerprint") for row in rows} == {self.fingerprint}
        if rows and not is_known:
            stored = (await self._db.meta("embedding")).get("fingerprint")
            if self.fingerprint not in {None, stored}:
                log.warning("the store's vectors are of another model now: %s", stored)
                self._on_doubt(list(self._residents))
            self.fingerprint = stored
        return self.fingerprint

    def _count(self, commits: Iterable[Commit]) -> None:
        # That there is a snapshot makes none older.
        told = (change for commit in commits for change in commit.changes)
        changes = [change for change in told if change.table != SNAPSHOTS]
        if not changes:
            return
        self.changed_at = time.monotonic()
        self.changes += len(changes)
        if self.deleted_at is None and any(
            one.row is None and one.table in APPLIED_FIRST for one in changes
        ):
            self.deleted_at = self.changed_at
        for change in changes:
            if change.table not in _TABLES | _WITHOUT_INDEX:
                if change.table not in self.unknown_tables:
                    log.warning("the change feed tells of an unknown table %r", change.table)
                self.unknown_tables[change.table] += 1
