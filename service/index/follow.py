"""Following the change feed: every commit of any writer, taken into the indexes in its order."""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from service.database import Database
from service.errors import ServiceError
from service.index.agent_index import AgentIndex
from service.index.facts import CorruptRow, facts_of_row
from service.index.graph import EDGE_TABLES, EdgeTable
from service.index.loading import CORRUPT, OTHER_MODEL
from service.queries import load_query
from service.records import Commit, RowChange
from service.vector_forms import read_vector

log = logging.getLogger(__name__)

CLOCK: Final = load_query(__package__, "clock")

# Another writer's commit is seen within a second, at 0.5 ms a look.
POLL_SECONDS: Final = 0.25
_LONGEST_REST_SECONDS: Final = 5.0
# A version stamp is the database's time in milliseconds, shifted, and a counter.
_STAMP_BITS: Final = 16
# Two writers' commits may become visible in another order than their stamps: looked at again.
_OVERLAP_MS: Final = 2000
# How far the clocks of several database nodes may differ.
_MARGIN_MS: Final = 10_000
_ORDER: Final = {name: place for place, name in enumerate(("memory", "concept", "embedding"))}
# Tables with a change feed that no index holds anything of.
_WITHOUT_INDEX: Final = frozenset({"derived_from", "supersedes"})
# What a row written by hand may raise where a field is missing or of another type.
_MISSHAPEN: Final = (CorruptRow, KeyError, TypeError, ValueError, IndexError, AttributeError)
_TABLES: Final = frozenset({*_ORDER, *EDGE_TABLES})


class Follower:
    """Reads the change feed of one store for all resident indexes.

    `through` is the moment up to which every commit is in them; `on_gap` is called when commits
    may have been missed.
    """

    def __init__(
        self, db: Database, residents: dict[str, AgentIndex], on_gap: Callable[[], None]
    ) -> None:
        self.through = datetime.now(UTC)
        self.unknown_tables: Counter[str] = Counter()
        self._db = db
        self._residents = residents
        self._on_gap = on_gap
        self._reading = asyncio.Lock()
        self._tickets = 0
        self._served = 0
        self._cursor: int | None = None
        # The newest commit that was read: the feed must still begin with it, or it has a gap.
        self._newest: int | None = None
        self._seen: set[int] = set()
        self._fingerprint: str | None = None

    async def catch_up(self) -> None:
        """Take in everything that was committed before this call; raises StoreUnavailable.

        Callers that wait together are served by one look at the feed.
        """
        self._tickets += 1
        ticket = self._tickets
        async with self._reading:
            if self._served < ticket:
                newest = self._tickets
                await self._read(overlap=False)
                self._served = newest

    async def after_write(self) -> None:
        """Take in a write of our own. It is stored: a failure here only lets the index lag."""
        try:
            await self.catch_up()
        except ServiceError as error:
            log.warning("the index lags behind a write: %s", error.detail)

    async def run(self) -> None:
        """Look at the feed again and again; a database that is away is waited for."""
        rest = POLL_SECONDS
        while True:
            try:
                async with self._reading:
                    await self._read(overlap=True)
                rest = POLL_SECONDS
            except ServiceError as error:
                log.warning("the index cannot be kept current: %s", error.detail)
                rest = min(rest * 2, _LONGEST_REST_SECONDS)
            await asyncio.sleep(rest)

    async def admit(self, index: AgentIndex, since: int) -> None:
        """Let a loaded index join, with all that was committed while it was being loaded."""
        async with self._reading:
            async for commits in self._pages(since):
                await asyncio.to_thread(apply, index, commits, await self._model_of(commits))
            self._residents[index.agent] = index

    async def stamp(self) -> int:
        """Return a version stamp that lies surely before every commit from now on."""
        return (int(await self._db.run(CLOCK)) - _MARGIN_MS) << _STAMP_BITS

    async def _read(self, *, overlap: bool) -> None:
        begun = datetime.now(UTC)
        if self._cursor is None:
            self._cursor = await self.stamp()
        since = self._cursor - (_OVERLAP_MS << _STAMP_BITS if overlap else 0)
        stamps: set[int] = set()
        async for commits in self._pages(since):
            stamps |= {commit.stamp for commit in commits}
            await self._take([commit for commit in commits if commit.stamp not in self._seen])
        if self._newest is not None and self._newest not in stamps:
            self._begin_anew()
        elif stamps:
            self._newest = self._cursor = max(stamps)
        horizon = self._cursor - (_OVERLAP_MS << _STAMP_BITS)
        self._seen = {stamp for stamp in self._seen | stamps if stamp >= horizon}
        self.through = begun

    def _begin_anew(self) -> None:
        log.error("the change feed has a gap: every index is loaded again")
        self._newest = None
        self._on_gap()

    async def _pages(self, since: int) -> AsyncIterator[list[Commit]]:
        """Yield the commits since a stamp, that one included, page by page."""
        has_more = True
        while has_more:
            commits, has_more = await self._db.changes(since)
            if commits:
                yield commits
                since = commits[-1].stamp

    async def _take(self, commits: Sequence[Commit]) -> None:
        if not commits:
            return
        self._count_unknown(commits)
        model = await self._model_of(commits)
        for index in list(self._residents.values()):
            await asyncio.to_thread(apply, index, commits, model)

    async def _model_of(self, commits: Sequence[Commit]) -> str | None:
        """Return the fingerprint that the store's vectors carry, asked where vectors are new."""
        if any(change.table == "embedding" for commit in commits for change in commit.changes):
            stored = (await self._db.meta("embedding")).get("fingerprint")
            if self._fingerprint not in {None, stored}:
                log.warning("the store's vectors are of another model now: %s", stored)
                self._on_gap()
            self._fingerprint = stored
        return self._fingerprint

    def _count_unknown(self, commits: Iterable[Commit]) -> None:
        for commit in commits:
            for change in commit.changes:
                if change.table not in _TABLES | _WITHOUT_INDEX:
                    if change.table not in self.unknown_tables:
                        log.warning("the change feed tells of an unknown table %r", change.table)
                    self.unknown_tables[change.table] += 1


def apply(index: AgentIndex, commits: Sequence[Commit], fingerprint: str | None) -> None:
    """Take what commits say of one agent into its index; vectors must carry the fingerprint."""
    with index.lock:
        for commit in commits:
            # Within a commit: memories first, then what hangs on them.
            for change in sorted(commit.changes, key=lambda c: _ORDER.get(c.table, len(_ORDER))):
                try:
                    _apply_one(index, change, fingerprint)
                except _MISSHAPEN as error:
                    log.warning(
                        "index of agent %s: left out %s %s, a corrupt row (%r)",
                        index.agent, change.table, change.key, error,
                    )  # fmt: skip
                    index.excluded[CORRUPT] += 1


def _apply_one(index: AgentIndex, change: RowChange, fingerprint: str | None) -> None:
    if change.table == "memory":
        _apply_memory(index, change)
    elif change.table == "concept":
        _apply_concept(index, change)
    elif change.table == "embedding":
        _apply_vector(index, change, fingerprint)
    elif change.table in EDGE_TABLES:
        _apply_edge(index, change.table, change)


def _apply_memory(index: AgentIndex, change: RowChange) -> None:
    if change.row is None or change.row.get("agent") != index.agent:
        index.remove_memory(change.key)
        return
    index.put_memories([facts_of_row(change.key, change.row)])


def _apply_concept(index: AgentIndex, change: RowChange) -> None:
    if not _is_of(index, change.key):
        return
    if change.row is None:
        index.graph.remove_concept(change.key[1])
    else:
        index.graph.put_concept(change.key[1], change.row["name"], change.row["memories"])


def _apply_vector(index: AgentIndex, change: RowChange, fingerprint: str | None) -> None:
    if change.row is None:
        index.remove_vector(change.key)
    elif not index.holds(change.key):
        return  # another agent's
    elif change.row["fingerprint"] != fingerprint:
        index.leave_out_vector(change.key, OTHER_MODEL)
    else:
        try:
            index.put_vectors([change.key], [read_vector(change.row["vector"])])
        except ValueError as error:
            index.leave_out_vector(change.key, str(error))


def _apply_edge(index: AgentIndex, table: EdgeTable, change: RowChange) -> None:
    ends = _ends(index, table, change)
    if ends is None:
        return
    if change.row is None:
        index.remove_edge(table, ends)
    else:
        index.put_edge(
            table, ends, change.row.get("weight") or 0,
            is_declared=bool(change.row.get("is_declared")),
        )  # fmt: skip


def _ends(index: AgentIndex, table: EdgeTable, change: RowChange) -> tuple[str, str] | None:
    """Return an edge's ends if they are this agent's: memories by key, concepts by slug.

    A deleted edge is told by its id alone, which names its ends (service/ingest/writing.py).
    """
    if table in {"related_to", "is_a"}:
        key = change.key
        is_named = _is_of(index, key) and len(key) == 3
        return (key[1], key[2]) if is_named else None
    if not isinstance(change.key, list) or not index.knows(change.key[0]):
        return None
    return change.key[0], change.key[1]


def _is_of(index: AgentIndex, key: Any) -> bool:
    return isinstance(key, list) and bool(key) and key[0] == index.agent
