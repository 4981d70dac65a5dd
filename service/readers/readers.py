"""The readers of a service: that they run, hold what it holds, and which of them is asked.

Nothing depends on them: where none can answer, whoever asks ranks by himself.
"""

import asyncio
import logging
import os
import shutil
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final
from uuid import uuid4

from service.errors import ServiceError
from service.index.resident.agent_index import AgentIndex
from service.index.resident.array_file import write_arrays
from service.index.resident.index_file import save_index
from service.index.resident.residency import Residency
from service.readers.demand import Demand
from service.readers.line import ReaderLine
from service.readers.messages import UNTELLABLE, Ask, Changes, framed
from service.records import Commit
from service.redaction import loggable
from service.search.searcher import Alone, Answered, Embedded, SearchQuery
from service.settings import Settings
from service.stages import Stages
from service.text.words import quoted_phrases

log = logging.getLogger(__name__)

# Of fewer memories a copy is not worth its RAM.
FEWEST_MEMORIES: Final = 1000
# Who would wait behind more is answered by the service itself.
_MOST_WAITING: Final = 3
_LOOK_SECONDS: Final = 0.5
# Where no number is set: one a core, as long as they take less RAM than most indexes. Elsewhere no
# process inherits a socket.
_BY_DEFAULT: Final = min(os.cpu_count() or 1, 4) if os.name == "posix" else 0
# After an index could not be shared: copying it again and again would hold up writers.
_REST_SECONDS: Final = 30.0


class Readers:
    """Processes that rank over copies of the resident indexes; `ranked` counts who did how often.

    The service's own index stays the one that is kept true; a copy is made of it, and what is
    applied to it is told to the copies in the same order. Where the settings name no number they
    run for as long as several ask at once.
    """

    def __init__(self, residency: Residency, settings: Settings) -> None:
        number = _BY_DEFAULT if settings.readers is None else settings.readers
        self.lines: Final = [ReaderLine(one) for one in range(1, number + 1)]
        self._demand = Demand()
        self._always = settings.readers is not None
        self.ranked = {"reader": 0, "service": 0}
        self._residency = residency
        self._settings = settings
        self._folder = settings.data_dir / "readers"
        self._shares_at = 0.0
        residency.follower.audience = self

    @property
    def alive(self) -> int:
        """How many of them run."""
        return sum(line.is_alive for line in self.lines)

    @property
    def warning(self) -> str | None:
        """What is to be told of them; None when all run, or need not."""
        # One that was never tried yet will be in a moment.
        missing = sum(
            not line.is_alive and bool(line.starts or not line.is_due) for line in self.lines
        )
        if not missing or not self._are_wanted():
            return None
        return f"{missing} of {len(self.lines)} readers do not run; the service ranks meanwhile."

    async def run(self) -> None:
        """Start readers that do not run, and let them hold what the service holds.

        For as long as they are wanted.
        """
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)
        while True:
            try:
                await self._start_or_end()
                self._detach_gone()
                if time.monotonic() >= self._shares_at:
                    await self._share_all()
            except (OSError, ServiceError) as error:
                log.warning("readers lack something: %s", loggable(error))
                self._shares_at = time.monotonic() + _REST_SECONDS
            await asyncio.sleep(_LOOK_SECONDS)

    def _are_wanted(self) -> bool:
        return self._always or (
            self._demand.is_there(time.monotonic()) and bool(self._shared_agents())
        )

    async def _start_or_end(self) -> None:
        are_wanted = self._are_wanted()
        for line in self.lines:
            if are_wanted and line.is_due:
                await line.start()
            elif line.is_alive and not are_wanted:
                await line.close()

    def _shared_agents(self) -> dict[str, AgentIndex]:
        """Return the indexes whose copies are worth their RAM."""
        held = {one: self._residency.follower.held(one) for one in self._residency.residents()}
        return {
            agent: index
            for agent, index in held.items()
            if index is not None and index.memories >= FEWEST_MEMORIES
        }

    def applied(self, commits: Sequence[Commit], fingerprint: str | None) -> None:
        """Tell the readers what the service's own indexes hold now, before anyone is answered."""
        if not any(line.told for line in self.lines):
            return
        try:
            frame = framed(Changes(commits, fingerprint))
        except UNTELLABLE as error:
            log.error("readers cannot be told of a change: %s", loggable(error))  # noqa: TRY400
            for line in self.lines:
                line.end("it was not told of a change")
            return
        for line in self.lines:
            line.tell_changes(frame)

    async def rank(
        self,
        query: SearchQuery,
        embed: Callable[[], Awaitable[Embedded]],
        stages: Stages,
        alone: Alone,
    ) -> Answered:
        """Return what the least busy reader ranks; what the service does alone, where none can."""
        with self._demand.answering(time.monotonic()):
            line = self._chosen(query)
            found = await self._ranked_by(line, query, embed, stages) if line else None
            self.ranked["reader" if found else "service"] += 1
            return found or await alone()

    async def _ranked_by(
        self,
        line: ReaderLine,
        query: SearchQuery,
        embed: Callable[[], Awaitable[Embedded]],
        stages: Stages,
    ) -> Answered | None:
        line.load += 1  # its place, while the question is embedded
        begun = line.starts
        try:
            vector, missing = await embed()
        finally:
            line.load -= line.starts == begun and line.is_alive
        most, share = self._settings.concept_max_memories, self._settings.concept_max_share
        answer = await line.ask(Ask(line.next_number(), query, vector, most, share))
        if answer is None or answer.failure:
            if answer:
                log.warning("a reader could not answer: %s", answer.failure)
            return None
        for name, spent in answer.milliseconds.items():
            stages.milliseconds[name] += spent
        stages.counts |= answer.counts
        return list(answer.hits), answer.certainty, missing

    async def close(self) -> None:
        """End them all, and wait for that."""
        self._residency.follower.audience = None
        await asyncio.gather(*[line.close() for line in self.lines])
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)

    def _chosen(self, query: SearchQuery) -> ReaderLine | None:
        """Return the least busy reader that can answer; phrases word for word need the store."""
        held = {agent: self._residency.follower.held(agent) for agent in query.filters.agents}
        able = [
            line
            for line in self.lines
            if line.load < _MOST_WAITING
            and all(line.knows(agent, index) for agent, index in held.items())
        ]
        if not able or quoted_phrases(query.text):
            return None
        return min(able, key=lambda line: line.load)

    def _detach_gone(self) -> None:
        """Let copies go of what the service has let go of, or holds another index of."""
        for line in self.lines:
            for agent, index in list(line.told.items()):
                if self._residency.follower.held(agent) is not index:
                    line.detach(agent)

    async def _share_all(self) -> None:
        for agent, index in self._shared_agents().items():
            lacking = [line for line in self.lines if line.is_alive and agent not in line.told]
            if lacking:
                await self._share(agent, index, lacking)

    async def _share(self, agent: str, index: AgentIndex, lines: Sequence[ReaderLine]) -> None:
        """Let readers hold a copy of an index; raises OSError, StoreUnavailable.

        Writers wait while it is copied in RAM, as they do for a snapshot; not at all where nothing
        has changed since there is a snapshot.
        """
        snapshots = self._residency.snapshots
        async with self._residency.follower.at_rest():
            path = await asyncio.to_thread(snapshots.current, agent) if snapshots else None
            saved = None if path else await asyncio.to_thread(save_index, index)
            for line in lines:
                line.expect(agent, index)
        own = self._folder / f"{uuid4().hex}.shared"
        try:
            if saved:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                await asyncio.to_thread(write_arrays, own, saved)
            attaching = [line.attach(agent, str(path or own)) for line in lines]
            if not all(await asyncio.gather(*attaching)):
                self._shares_at = time.monotonic() + _LOOK_SECONDS
        except OSError:
            for line in lines:
                line.detach(agent)
            raise
        finally:
            # Mapped files need no name; what is deleted later shall stand in none.
            await asyncio.to_thread(partial(own.unlink, missing_ok=True))
