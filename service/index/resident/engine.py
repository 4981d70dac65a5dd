"""The resident engine: every signal answered from RAM, in threads beside the event loop."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from heapq import merge
from itertools import chain, islice
from typing import Final, TypeVar

from service.index.evidence import Evidence, Floats, Question, join
from service.index.links import Links
from service.index.links import join as join_links
from service.index.numbered import NumberedEngine
from service.index.numbering import NumberingEngine
from service.index.resident.agent_index import AgentIndex
from service.index.resident.asking import Asking
from service.index.resident.evidence import latest, newest, newest_places, occurred
from service.index.resident.fetching import are_at, is_current, read_packed, unpack_or_read, unread
from service.index.resident.left_out import find_referencing
from service.index.resident.neighbours import (
    before_and_after,
    concepts_named,
    concepts_of,
    memories_of,
    referencing,
    related,
    related_edges,
    slugs_by_agent,
    summaries_of,
)
from service.index.resident.phrases import add_holding, hold_after, keep_phrase, waiting_rows
from service.index.resident.rankings import leading, newest_of_equals, tied
from service.index.resident.residency import Residency
from service.index.resident.row_engine import RowEngine
from service.records import Concept, ConceptId, Filters, Memory, Place, Related, RelatedEdge, Scored
from service.store.fetching import fetch_newest, newest_first

Answer = TypeVar("Answer")

_MOST_PHRASE_TEXTS: Final = 1000
# A memory's share in the search for the newest, measured.
_MOMENT: Final = 2.5e-8


class ResidentEngine:
    """Ranks by the indexes in RAM; its answers are merged over the agents that may be read."""

    name = "resident"

    def __init__(self, residency: Residency, threads: int) -> None:
        self.residency = residency
        self._asking = Asking(threads)

    async def numbered(self, agents: Sequence[str]) -> NumberedEngine:
        """Return the rows of one agent's index; those of several get numbers of their own."""
        if len(agents) == 1:
            return await self._rows_of(agents[0])
        return NumberingEngine(self, agents)

    async def by_text(self, text: str, filters: Filters, limit: int) -> list[Scored]:
        """Return the memories whose words match best (BM25 over each agent's own memories)."""
        parts = await self._each(filters.agents)
        found = [(await part.by_text(text, filters, limit)).named(part.ids) for part in parts]
        return await self._best(filters.agents, found, limit)

    async def by_phrase(self, phrase: str, filters: Filters, limit: int) -> list[Scored]:
        """Return memories that hold a phrase: all its words by the index, their order by the store.

        Of very many that hold all the words only the first are looked through.
        """
        most = max(_MOST_PHRASE_TEXTS, limit)
        found = await self._ask(
            filters.agents, lambda i: i.by_all_words(phrase, filters, most).named(i.keys)
        )
        ranking = await self._best(filters.agents, found, most)
        return await keep_phrase(self.residency.db, ranking, phrase, limit)

    async def by_vector(
        self, vector: Floats, filters: Filters, limit: int
    ) -> tuple[list[Scored], int]:
        """Return the memories nearest in meaning, by comparing every one that passes."""
        parts = await self._each(filters.agents)
        answers = [await part.by_vector(vector, filters, limit) for part in parts]
        found = [near.named(part.ids) for part, (near, _) in zip(parts, answers, strict=True)]
        best = await self._best(filters.agents, found, limit)
        return best, sum(filtered for _, filtered in answers)

    async def collect_evidence(
        self, question: Question, filters: Filters, keys: Iterable[str], reach: int
    ) -> Evidence:
        """Count in the indexes of all agents, each of which knows its own memories only."""
        wanted = list(dict.fromkeys(keys))
        told = []
        for part in await self._each(filters.agents):
            numbers = part.numbers_of(wanted)
            _, evidence = await part.collect_evidence(question, filters, numbers, reach)
            told.append(evidence)
        return join(told)

    async def fetch(self, keys: Sequence[str], filters: Filters) -> dict[str, Memory]:
        """Unpack what is held; the store is asked for what it may have in another form."""
        asked = unread(self.residency, keys, filters.agents)
        known = [key for key in keys if key not in asked]
        parts = await self._look_up(filters.agents, lambda i: read_packed(i, known, filters))
        return await unpack_or_read(self.residency.db, parts, asked, filters)

    async def fetch_newest(self, filters: Filters, before: Place, limit: int) -> list[Memory]:
        """Ask the index of each agent, or the store, which reads all down to the last that passes.

        The store is asked where the index lacks some, and where what it told is so no more.
        """
        each = [replace(filters, agents=(agent,)) for agent in filters.agents]
        pages = [await self._page(one, before, limit) for one in each]
        return newest_first(chain.from_iterable(pages))[:limit]

    async def linked(
        self, agents: Sequence[str], keys: Iterable[str], caps: Mapping[str, int]
    ) -> Links:
        """Follow concepts from memories to others, in each agent's index."""
        wanted, told = list(keys), []
        for part in await self._each(agents):
            _, links = await part.linked(part.numbers_of(wanted), caps)
            told.append(links)
        return join_links(told)

    async def holding(self, agent: str, phrases: Iterable[str], limit: int) -> dict[str, set[str]]:
        """Ask the agent's index, and look through what is written and not in it yet."""
        wanted = list(phrases)
        rows = await waiting_rows(self.residency, agent)
        [held] = await self._ask([agent], lambda i: i.holding(wanted, limit))
        return await asyncio.to_thread(add_holding, rows, held) if rows else held

    async def holding_after(
        self, agent: str, phrases: Iterable[str], after: str, limit: int
    ) -> list[str]:
        """Ask the agent's index for all of them, and look as `holding` does."""
        wanted, rows = list(phrases), await waiting_rows(self.residency, agent)
        [held] = await self._ask([agent], lambda i: hold_after(i, wanted, after, limit))
        held = await asyncio.to_thread(add_holding, rows, held)
        return sorted(key for key in set().union(*held.values()) if key > after)[:limit]

    async def referencing(self, agent: str, slugs: Iterable[str]) -> set[str]:
        """Ask the agent's index with all that anyone has written, the store where it lacks some."""
        if not (wanted := list(slugs)):
            return set()
        await self.residency.catch_up(agent)
        [found] = await self._ask([agent], lambda i: referencing(i, wanted))
        return await find_referencing(self.residency.db, agent, wanted) if found is None else found

    async def related_edges(self, agent: str, slugs: Iterable[str]) -> list[RelatedEdge]:
        """Ask the agent's index, once everything is in it that anyone has written."""
        await self.residency.catch_up(agent)
        [found] = await self._ask([agent], lambda i: related_edges(i, slugs))
        return found

    async def keep_visible(
        self, ranking: Sequence[Scored], filters: Filters, limit: int
    ) -> list[Scored]:
        """Return the first `limit` of a ranking that pass the filters, in its order."""
        keys = [hit.id for hit in ranking]
        answers = await self._look_up(filters.agents, lambda i: i.seen(keys, filters))
        visible = set().union(*answers)
        return [hit for hit in ranking if hit.id in visible][:limit]

    async def summaries_of(self, agents: Sequence[str], keys: Iterable[str]) -> dict[str, str]:
        """Look up what each memory's row says."""
        wanted = list(keys)
        answers = await self._look_up(agents, lambda i: summaries_of(i, wanted))
        return dict(chain.from_iterable(part.items() for part in answers))

    async def newest(self, filters: Filters, among: Sequence[str] | None = None) -> datetime | None:
        """Look through the moments of all that passes."""
        answers = await self._look_up(filters.agents, lambda i: newest(i, filters, among))
        moments = [moment for moment in answers if moment is not None]
        return max(moments, default=None)

    async def latest(self, filters: Filters, limit: int) -> list[str]:
        """Look through the moments of all that passes."""
        parts = await self._look_up(filters.agents, lambda i: latest(i, filters, limit))
        return [key for _, key in islice(merge(*parts), limit)]

    async def sizes(self, agents: Sequence[str]) -> dict[str, int]:
        """Return the number of memories of each agent."""
        answers = await self._look_up(agents, lambda i: i.memories)
        return dict(zip(agents, answers, strict=True))

    async def concepts_of_memories(
        self, agents: Sequence[str], keys: Iterable[str], caps: Mapping[str, int]
    ) -> dict[str, tuple[Concept, ...]]:
        """Return the concepts that each memory can link by."""
        wanted = list(keys)
        answers = await self._look_up(
            agents, lambda i: concepts_of(i, wanted, caps.get(i.agent, 0))
        )
        return dict(chain.from_iterable(part.items() for part in answers))

    async def concepts_named(self, agents: Sequence[str], question: Question) -> list[Concept]:
        """Return the concepts that go by some of these names, and are not said by them alone."""
        answers = await self._look_up(agents, lambda i: concepts_named(i, question))
        return sorted(chain.from_iterable(answers), key=lambda concept: concept.id)

    async def memories_of_concepts(
        self, agents: Sequence[str], concepts: Iterable[ConceptId]
    ) -> dict[ConceptId, list[str]]:
        """Return the ids of the memories that reference each concept, in ascending order."""
        slugs = slugs_by_agent(concepts)
        answers = await self._look_up(agents, lambda i: memories_of(i, slugs[i.agent]))
        return dict(chain.from_iterable(part.items() for part in answers))

    async def related_concepts(
        self, agents: Sequence[str], concepts: Sequence[Concept], edges: Iterable[str]
    ) -> dict[ConceptId, list[Related]]:
        """Return the concepts beside each one, the tightest first."""
        slugs, allowed = slugs_by_agent(concept.id for concept in concepts), set(edges)
        answers = await self._look_up(agents, lambda i: related(i, slugs[i.agent], allowed))
        return dict(chain.from_iterable(part.items() for part in answers))

    async def before_and_after(
        self, agents: Sequence[str], keys: Iterable[str]
    ) -> dict[str, tuple[list[str], list[str]]]:
        """Return the ids of the memories just before and just after each one."""
        wanted = list(keys)
        answers = await self._look_up(agents, lambda i: before_and_after(i, wanted))
        return dict(chain.from_iterable(part.items() for part in answers))

    def indexed_through(self, agents: Sequence[str], /) -> datetime:
        """Return when the change feed was last read to its end."""
        del agents  # one feed carries them all
        return self.residency.follower.through

    def caveat(self, agents: Sequence[str], /) -> str | None:
        """Return what the indexes of these agents leave out, or that they may lag behind."""
        caveats = [caveat for agent in agents if (caveat := self.residency.caveat(agent))]
        return " ".join(caveats) or None

    def close(self) -> None:
        """Let the threads go."""
        self._asking.close()

    async def _ask(
        self, agents: Sequence[str], question: Callable[[AgentIndex], Answer]
    ) -> list[Answer]:
        """Ask the index of each agent, in their order; loads those that are not in RAM."""
        indexes = [await self._index_of(agent) for agent in agents]
        asked = [self._asking.in_thread(index, question) for index in indexes]
        return await asyncio.gather(*asked)

    async def _index_of(self, agent: str) -> AgentIndex:
        """Return an agent's index, loaded first if need be."""
        return await self.residency.index_of(agent)

    async def _rows_of(self, agent: str) -> RowEngine:
        return RowEngine(await self._index_of(agent), self._asking, self.by_phrase)

    async def _each(self, agents: Sequence[str]) -> list[RowEngine]:
        return [await self._rows_of(agent) for agent in agents]

    async def _page(self, filters: Filters, before: Place, limit: int) -> list[Memory]:
        """Return a page of one agent's."""
        if await is_current(self.residency, *filters.agents):
            [places] = await self._look_up(
                filters.agents,
                lambda i: newest_places(i, filters, before, limit),
                lambda i: i.memories * _MOMENT,
            )
            found = await self.fetch([place.id for place in places or ()], filters)
            if places is not None and are_at(places, found):
                return list(found.values())
        return await fetch_newest(self.residency.db, filters, before, limit)

    async def _best(
        self, agents: Sequence[str], rankings: Sequence[list[Scored]], limit: int
    ) -> list[Scored]:
        """Return the best of all agents in one order, as each of them has it."""
        if len(rankings) == 1:
            return rankings[0][:limit]
        best = leading(rankings, limit)
        keys = tied(best)
        known = await self._look_up(agents, lambda i: occurred(i, keys))
        moments = dict(chain.from_iterable(part.items() for part in known))
        return newest_of_equals(best, moments)[:limit]

    async def _look_up(
        self,
        agents: Sequence[str],
        question: Callable[[AgentIndex], Answer],
        seconds: Callable[[AgentIndex], float] = lambda _: 0.0,
    ) -> list[Answer]:
        """Ask the index of each agent for what takes little; `seconds` as Asking.look_up."""
        indexes = [await self._index_of(agent) for agent in agents]
        return [await self._asking.look_up(one, question, seconds(one)) for one in indexes]
