"""Which agents are held in RAM: loaded on first use, the least recently used let go for room."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from service.errors import ServiceError
from service.index.resident.add_pages import Loading
from service.index.resident.agent_index import AgentIndex
from service.index.resident.census import find_drift
from service.index.resident.follow import Follower
from service.index.resident.loading import empty_index, load, log_loaded, store_facts
from service.index.resident.snapshots import Expected, Snapshots, facts_and_expected
from service.index.resident.state import AgentState, IndexState, left_out_of, stale_of, too_many
from service.store.database import Database
from service.store.queries import load_query

log = logging.getLogger(__name__)

OWNS_ANYTHING: Final = load_query(__package__, "owns_anything")

_WATCH_SECONDS: Final = 5.0
# A census reads every row: at most a fiftieth of the time is spent on it.
_CENSUS_SECONDS: Final = 600.0
_CENSUS_SHARE: Final = 50
_RETRY_SECONDS: Final = 1.0
MOST_AGENTS: Final = 1000


class Residency:
    """The resident indexes of one service, and the follower that keeps them true.

    An agent that the store does not know is never held, nor anything by its name: callers make
    such names up.
    """

    def __init__(
        self,
        db: Database,
        budget_bytes: int,
        scanned_dimensions: int | None,
        other_bytes: Callable[[], int] = lambda: 0,
        most_agents: int = MOST_AGENTS,
        snapshots: Path | None = None,
    ) -> None:
        self.budget_bytes = budget_bytes
        self.most_agents = most_agents
        # How many left RAM to make room for others.
        self.evicted = 0
        self._other_bytes = other_bytes  # the dictionaries of writers, in the same budget
        self.db = db
        self._scanned_dimensions = scanned_dimensions
        # The least recently used first.
        self._residents: dict[str, AgentIndex] = {}
        self._loading: dict[str, Loading] = {}
        self._tasks: dict[str, asyncio.Task[AgentIndex]] = {}
        self._drift: dict[str, dict[str, int]] = {}
        # Agents whose index may have missed something, and how often that was reported.
        self.doubts: Counter[str] = Counter()
        # Agents that are held although they own nothing yet, and those of them whose first load
        # the service waits for before it calls itself ready.
        self._expected: set[str] = set()
        self._awaited: set[str] = set()
        # What the store said of each agent's vectors when they were loaded.
        self._loaded_as: dict[str, Expected] = {}
        self.follower = Follower(db, self._residents, self.doubts.update)
        self.snapshots = Snapshots(snapshots, db, self.follower) if snapshots else None

    async def index_of(self, agent: str) -> AgentIndex:
        """Return an agent's index, loaded first if need be; raises StoreUnavailable.

        That of an agent who owns nothing is empty, and made anew each time. Whoever asks meanwhile
        waits for the same load; other agents are not held up by it.
        """
        index = self._residents.pop(agent, None)
        if index is not None:
            self._residents[agent] = index
            return index
        return await self._loaded(agent)

    async def catch_up(self, agent: str) -> None:
        """Let an agent's index hold all that is committed by now; raises StoreUnavailable."""
        await self.follower.catch_up()
        if agent in self.doubts:
            await self.rebuild([agent])

    async def rebuild(self, agents: Iterable[str]) -> None:
        """Load agents anew beside their present index, which answers until the new one is there."""
        for agent in agents:
            await self._loaded(agent)
            self._drift.pop(agent, None)

    def residents(self) -> list[str]:
        """Return the agents in RAM, the least recently used first."""
        return list(self._residents)

    def index_bytes(self) -> int:
        """Return an estimate of what the indexes hold; any thread may call."""
        return sum(index.bytes for index in list(self._residents.values()))

    def state(self) -> IndexState:
        """Return what is held, what is on its way, and what is left out; any thread may call."""
        indexes = list(self._residents.values())
        loading = {agent: now.progress for agent, now in list(self._loading.items())}
        return IndexState(
            agents=len(indexes),
            memories=sum(index.memories for index in indexes),
            bytes=self.index_bytes() + self._other_bytes(),
            budget_bytes=self.budget_bytes,
            loading=loading,
            left_out=left_out_of(indexes),
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
        if loading := self._loading.get(agent):
            return f"loading agent {agent!r}: {loading.progress}"
        return f"agent {agent!r} is not loaded yet: where that lasts, the log says why"

    def caveat(self, agent: str) -> str | None:
        """Return why answers about an agent may be incomplete; None if they are not."""
        if agent in self.doubts:
            return f"The index of agent {agent!r} may have missed changes: it is loaded again."
        index = self._residents.get(agent)
        left_out = index.left_out() if index else {}
        if not left_out:
            return None
        reasons = ", ".join(f"{count:,}: {reason}" for reason, count in sorted(left_out.items()))
        return f"The index of agent {agent!r} leaves out rows of the store ({reasons})."

    def expect(self, agents: Collection[str]) -> None:
        """Call these agents waited for, until `run` has loaded them; and hold them also empty."""
        self._expected.update(agents)
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
        index = await self.index_of(agent)
        drift = await find_drift(self.db, index, self.follower)
        if drift is None or self._residents.get(agent) is not index:  # exchanged: it lags
            return {}
        self._drift[agent] = drift
        return drift

    async def _watch(self) -> None:
        next_census = time.monotonic() + _CENSUS_SECONDS
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            try:
                await self.rebuild([*self.doubts, *await self._stale()])
                self._make_room()
                if self.snapshots and self.snapshots.is_due():
                    await self.take_snapshots()
                if (started := time.monotonic()) >= next_census:
                    await self._repair_drift()
                    spent = time.monotonic() - started
                    next_census = time.monotonic() + max(_CENSUS_SECONDS, spent * _CENSUS_SHARE)
            except ServiceError as error:
                log.warning("the index cannot be checked: %s", error.logged)

    async def _repair_drift(self) -> None:
        for agent in self.residents():
            if drift := await self.take_census(agent):
                log.error(
                    "index of agent %s differs from the store by %s: loading it again", agent, drift
                )
                await self._loaded(agent)
                await self.take_census(agent)

    async def _load_patiently(self, agent: str) -> None:
        while agent in self._awaited:
            try:
                await self.index_of(agent)
                self._awaited.discard(agent)
            except ServiceError as error:
                log.warning("the index of agent %s waits: %s", agent, error.logged)
                await asyncio.sleep(_RETRY_SECONDS)

    async def _loaded(self, agent: str) -> AgentIndex:
        """Return the index of an agent that is loaded from now on, or is being loaded already."""
        task = self._tasks.get(agent)
        if task is None:
            task = self._tasks[agent] = asyncio.create_task(self._load(agent))
            task.add_done_callback(lambda _: self._tasks.pop(agent))
        # Whoever asked may give up; the others still wait for it.
        return await asyncio.shield(task)

    async def _load(self, agent: str) -> AgentIndex:
        if agent not in self._expected and not await self.db.run(OWNS_ANYTHING, agent=agent):
            self._forget(agent)
            return AgentIndex(agent)
        started = time.perf_counter()
        doubts = self.doubts[agent]
        is_first = agent not in self._residents and agent not in self.doubts
        mark = await self.follower.mark()
        facts, expected = await facts_and_expected(self.db, agent, self._scanned_dimensions)
        # The first vector that comes later may be of another model.
        self.follower.fingerprint = self.follower.fingerprint or facts.fingerprint
        # Whoever loads again looks for what the index has missed: it stands in no file either.
        restored = None
        if self.snapshots and is_first:
            restored = await self.snapshots.restore(expected, self._room_for_indexes())
        elif self.snapshots:
            await self.snapshots.forget()
        if restored:
            index = restored.index
            await self.follower.admit(index, restored.mark)
            self.db.memory.begin()
        else:
            index = empty_index(agent, facts, expected.scanned, packs=self.follower.is_alone)
            loading = self._loading[agent] = Loading(index, facts, self._room_for_indexes())
            try:
                await load(self.db, loading)
                index = loading.index
                await self.follower.admit(index, mark)
            finally:
                del self._loading[agent]
        self._loaded_as[agent] = expected
        if self.doubts[agent] == doubts:
            del self.doubts[agent]
        self._awaited.discard(agent)
        index.loaded_bytes = index.bytes
        self._make_room(keep=agent)
        log_loaded(index, time.perf_counter() - started, self.caveat(agent))
        return index

    async def take_snapshots(self) -> None:
        """Write what is held to files, for the next start."""
        if not self.snapshots:
            return
        for agent in [agent for agent, known in self._loaded_as.items() if not known.fingerprint]:
            # It was empty when it was loaded: the first vector said which model there is.
            with suppress(ServiceError):
                _, expected = await facts_and_expected(self.db, agent, self._scanned_dimensions)
                self._loaded_as[agent] = expected
        held = ((self._loaded_as.get(agent), index) for agent, index in self._residents.items())
        await self.snapshots.take([(one, known) for known, one in held if known], self.doubts)

    async def close(self) -> None:
        """Take a last snapshot where much has changed, or let go of one that tells what is gone."""
        is_concerned = self._loaded_as or self.follower.deleted_at is not None
        if self.snapshots and is_concerned and not self.snapshots.is_good:
            await self.take_snapshots()

    def _forget(self, agent: str) -> None:
        """Hold nothing of an agent any more."""
        self._residents.pop(agent, None)
        self._loaded_as.pop(agent, None)
        self._drift.pop(agent, None)
        self.doubts.pop(agent, None)

    def _make_room(self, keep: str | None = None) -> None:
        """Let go of the agents that were used longest ago until the rest fits."""
        sizes = {agent: index.bytes for agent, index in self._residents.items()}
        for agent in too_many(sizes, self._room_for_indexes(), self.most_agents, keep):
            self._forget(agent)
            self.evicted += 1
            log.info("index of agent %s left RAM to make room", agent)

    def _room_for_indexes(self) -> int:
        """Return how much indexes may hold now."""
        return self.budget_bytes - self._other_bytes()

    async def _stale(self) -> list[str]:
        """Return the agents whose indexes are better loaded anew: nothing is wrong in them."""
        cut = [index for index in self._residents.values() if index.beyond_budget]
        stored = {one.agent: (await store_facts(self.db, one.agent)).memories for one in cut}
        for index in cut:
            # What was deleted since may have been left out: only the store knows how much is.
            index.beyond_budget = max(1, stored[index.agent] - index.memories)
        return stale_of(self._residents.values(), stored, self._room_for_indexes())
