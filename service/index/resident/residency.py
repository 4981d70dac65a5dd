"""Which agents are held in RAM: loaded on first use, the least recently used let go for room."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from service.errors import ServiceError
from service.index.resident.add_pages import Loading
from service.index.resident.agent_index import AgentIndex
from service.index.resident.census import find_drift
from service.index.resident.follow import Follower
from service.index.resident.loading import empty_index, load, store_facts
from service.index.resident.state import AgentState, IndexState
from service.store.database import Database, record
from service.store.queries import load_query

log = logging.getLogger(__name__)

HOLD_PHRASE: Final = load_query(__package__, "hold_phrase")

_WATCH_SECONDS: Final = 5.0
# A census reads every row: at most a fiftieth of the time is spent on it.
_CENSUS_SECONDS: Final = 600.0
_CENSUS_SHARE: Final = 50
# An index that holds mostly the places of deleted memories is loaded again.
_WASTED_ROWS: Final = 10_000
_RETRY_SECONDS: Final = 1.0


class Residency:
    """The resident indexes of one service, and the follower that keeps them true."""

    def __init__(
        self,
        db: Database,
        budget_bytes: int,
        scanned_dimensions: int | None,
        other_bytes: Callable[[], int] = lambda: 0,
    ) -> None:
        self.budget_bytes = budget_bytes
        # What else the budget holds: the dictionaries of writers.
        self._other_bytes = other_bytes
        self._db = db
        self._scanned_dimensions = scanned_dimensions
        # The least recently used first.
        self._residents: dict[str, AgentIndex] = {}
        self._loading: dict[str, Loading] = {}
        self._tasks: dict[str, asyncio.Task[AgentIndex]] = {}
        self._drift: dict[str, dict[str, int]] = {}
        # Agents whose index may have missed something, and how often that was reported.
        self._doubts: Counter[str] = Counter()
        # Agents whose first load the service waits for before it calls itself ready.
        self._awaited: set[str] = set()
        self.follower = Follower(db, self._residents, self._doubts.update)

    async def index_of(self, agent: str) -> AgentIndex:
        """Return an agent's index, loaded first if need be; raises StoreUnavailable.

        Whoever asks meanwhile waits for the same load; other agents are not held up by it.
        """
        index = self._residents.pop(agent, None)
        if index is not None:
            self._residents[agent] = index
            return index
        return await self._loaded(agent)

    async def catch_up(self, agent: str) -> None:
        """Let an agent's index hold all that is committed by now; raises StoreUnavailable."""
        await self.follower.catch_up()
        if agent in self._doubts:
            await self.rebuild([agent])

    async def rebuild(self, agents: Iterable[str]) -> None:
        """Load agents anew beside their present index, which answers until the new one is there."""
        for agent in agents:
            await self._loaded(agent)
            self._drift.pop(agent, None)

    async def hold_phrase(self, keys: Sequence[str], phrase: str) -> set[str]:
        """Return those of the memories whose words hold a phrase; raises StoreUnavailable."""
        ids = [record("memory", k) for k in keys]
        return set(await self._db.run(HOLD_PHRASE, ids=ids, phrase=f" {phrase} "))

    def residents(self) -> list[str]:
        """Return the agents in RAM, the least recently used first."""
        return list(self._residents)

    def state(self) -> IndexState:
        """Return what is held, what is on its way, and what is left out; any thread may call."""
        indexes = list(self._residents.values())
        left_out: Counter[str] = Counter()
        for index in indexes:
            left_out.update(index.left_out())
        loading = {agent: now.progress for agent, now in list(self._loading.items())}
        return IndexState(
            agents=len(indexes),
            memories=sum(index.memories for index in indexes),
            bytes=sum(index.bytes for index in indexes) + self._other_bytes(),
            budget_bytes=self.budget_bytes,
            loading=loading,
            left_out=dict(left_out),
            drift={agent: drift for agent, drift in list(self._drift.items()) if drift},
            unknown_tables=dict(self.follower.unknown_tables),
            indexed_through=self.follower.through,
        )

    async def state_of(self, agent: str) -> AgentState:
        """Return the state of one agent's index, with a fresh census; loads it if need be."""
        index = await self.index_of(agent)
        await self.take_census(agent)
        counts = await asyncio.to_thread(index.counts)
        return AgentState(agent, counts, index.bytes, index.left_out(), self._drift.get(agent))

    def waiting(self, agent: str) -> str | None:
        """Return how far the first load of an agent's index is; None once it answers."""
        if agent not in self._awaited:
            return None
        loading = self._loading.get(agent)
        if loading is None:
            return f"agent {agent!r} is not loaded yet"
        return f"loading agent {agent!r}: {loading.progress}"

    def caveat(self, agent: str) -> str | None:
        """Return why answers about an agent may be incomplete; None if they are not."""
        if agent in self._doubts:
            return f"The index of agent {agent!r} may have missed changes: it is loaded again."
        index = self._residents.get(agent)
        left_out = index.left_out() if index else {}
        if not left_out:
            return None
        reasons = ", ".join(f"{count:,}: {reason}" for reason, count in sorted(left_out.items()))
        return f"The index of agent {agent!r} leaves out rows of the store ({reasons})."

    def expect(self, agents: Iterable[str]) -> None:
        """Call these agents waited for, until `run` has loaded them."""
        self._awaited.update(agents)

    async def run(self) -> None:
        """Load the expected agents and keep every index true, for as long as the service runs."""
        try:
            async with asyncio.TaskGroup() as together:
                together.create_task(self.follower.run())
                for agent in sorted(self._awaited):
                    await self._load_patiently(agent)
                await self._watch()
        finally:
            for task in list(self._tasks.values()):
                task.cancel()

    async def take_census(self, agent: str) -> dict[str, int]:
        """Compare one resident index with the store, row counts by table; returns the drift."""
        drift = await find_drift(self._db, await self.index_of(agent), self.follower)
        if drift is not None:
            self._drift[agent] = drift
        return drift or {}

    async def _watch(self) -> None:
        next_census = time.monotonic() + _CENSUS_SECONDS
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            try:
                await self.rebuild([*self._doubts, *self._wasteful()])
                self._make_room()
                if time.monotonic() >= next_census:
                    started = time.monotonic()
                    await self._repair_drift()
                    spent = time.monotonic() - started
                    next_census = time.monotonic() + max(_CENSUS_SECONDS, spent * _CENSUS_SHARE)
            except ServiceError as error:
                log.warning("the index cannot be checked: %s", error.detail)

    async def _repair_drift(self) -> None:
        for agent in self.residents():
            if drift := await self.take_census(agent):
                log.error(
                    "index of agent %s differs from the store by %s: loading it again", agent, drift
                )
                await self._loaded(agent)
                await self.take_census(agent)

    async def _load_patiently(self, agent: str) -> None:
        while True:
            try:
                await self.index_of(agent)
            except ServiceError as error:
                log.warning("the index of agent %s waits: %s", agent, error.detail)
                await asyncio.sleep(_RETRY_SECONDS)
            else:
                self._awaited.discard(agent)
                return

    async def _loaded(self, agent: str) -> AgentIndex:
        """Return the index of an agent that is loaded from now on, or is being loaded already."""
        task = self._tasks.get(agent)
        if task is None:
            task = self._tasks[agent] = asyncio.create_task(self._load(agent))
            task.add_done_callback(lambda _: self._tasks.pop(agent))
        # Whoever asked may give up; the others still wait for it.
        return await asyncio.shield(task)

    async def _load(self, agent: str) -> AgentIndex:
        started = time.perf_counter()
        doubts = self._doubts[agent]
        mark = await self.follower.mark()
        facts = await store_facts(self._db, agent)
        index = empty_index(agent, facts, self._scanned(facts.fingerprint))
        loading = self._loading[agent] = Loading(index, facts, self._index_bytes())
        reporting = asyncio.create_task(self._report(loading))
        try:
            await load(self._db, loading)
            await self.follower.admit(index, mark)
        finally:
            reporting.cancel()
            del self._loading[agent]
        if self._doubts[agent] == doubts:
            del self._doubts[agent]
        self._awaited.discard(agent)
        self._make_room(keep=agent)
        self._log_loaded(index, time.perf_counter() - started)
        return index

    async def _report(self, loading: Loading) -> None:
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            log.info("index of agent %s: %s", loading.index.agent, loading.progress)

    def _log_loaded(self, index: AgentIndex, seconds: float) -> None:
        counts = index.counts()
        log.info(
            "index of agent %s: %s memories, %s vectors, %s concepts in %.1f s, %.0f MB",
            index.agent,
            f"{counts['memory']:,}",
            f"{counts['embedding']:,}",
            f"{counts['concept']:,}",
            seconds,
            index.bytes / 1e6,
        )
        if caveat := self.caveat(index.agent):
            log.warning("%s", caveat)

    def _make_room(self, keep: str | None = None) -> None:
        """Let go of the agents that were used longest ago until the rest fits."""
        sizes = {agent: index.bytes for agent, index in self._residents.items()}
        total = sum(sizes.values())
        for agent, size in sizes.items():
            if total <= self._index_bytes() or len(self._residents) == 1:
                return
            if agent != keep:
                del self._residents[agent]
                self._drift.pop(agent, None)
                total -= size
                log.info("index of agent %s left RAM to make room", agent)

    def _index_bytes(self) -> int:
        """Return how much indexes may hold now."""
        return self.budget_bytes - self._other_bytes()

    def _wasteful(self) -> list[str]:
        return [
            agent
            for agent, index in self._residents.items()
            if index.wasted_rows > max(_WASTED_ROWS, index.memories)
        ]

    def _scanned(self, fingerprint: str | None) -> int | None:
        """Return how many first dimensions a scan reads; None for all of them."""
        is_nested = "qwen3-embedding" in (fingerprint or "").lower()
        return self._scanned_dimensions if is_nested else None
