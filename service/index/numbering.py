"""Numbers for an engine that knows memories by their ids, or those of several agents."""

from collections.abc import Iterable, Mapping, Sequence

from service.index.engine import Engine
from service.index.evidence import Evidence, Floats, Question
from service.index.links import Links
from service.index.numbered import Hits
from service.records import Filters, Scored


class NumberingEngine:
    """Gives each memory that it meets the next number, for one search."""

    def __init__(self, engine: Engine, agents: Sequence[str]) -> None:
        self.ids: list[str] = []
        self._engine = engine
        self._agents = agents
        self._numbers: dict[str, int] = {}

    def numbers_of(self, keys: Iterable[str]) -> list[int]:
        """Return their numbers, new ones for those that were not met yet."""
        numbers = []
        for key in keys:
            number = self._numbers.setdefault(key, len(self.ids))
            if number == len(self.ids):
                self.ids.append(key)
            numbers.append(number)
        return numbers

    async def by_text(self, text: str, filters: Filters, limit: int) -> Hits:
        """Return the memories that hold any of the text's words."""
        return self._hits(await self._engine.by_text(text, filters, limit))

    async def by_phrase(self, phrase: str, filters: Filters, limit: int) -> Hits:
        """Return memories that hold a phrase."""
        return self._hits(await self._engine.by_phrase(phrase, filters, limit))

    async def by_vector(self, vector: Floats, filters: Filters, limit: int) -> tuple[Hits, int]:
        """Return the memories nearest in meaning."""
        found, filtered = await self._engine.by_vector(vector, filters, limit)
        return self._hits(found), filtered

    async def collect_evidence(
        self, question: Question, filters: Filters, numbers: Sequence[int], reach: int
    ) -> tuple[list[int], Evidence]:
        """Return those that pass the filters, and what stands in them."""
        keys = self._named(numbers)
        evidence = await self._engine.collect_evidence(question, filters, keys, reach)
        return self.numbers_of(evidence.keys[: evidence.candidates]), evidence

    async def linked(
        self, numbers: Sequence[int], caps: Mapping[str, int]
    ) -> tuple[list[int], Links]:
        """Follow concepts from memories to others."""
        links = await self._engine.linked(self._agents, self._named(numbers), caps)
        return self.numbers_of(links.keys), links

    async def beside(self, numbers: Sequence[int]) -> list[int]:
        """Return the memories just before and just after these."""
        near = await self._engine.before_and_after(self._agents, self._named(numbers))
        return self.numbers_of(key for sides in near.values() for side in sides for key in side)

    async def passing(self, numbers: Sequence[int], filters: Filters) -> list[int]:
        """Return those that pass the filters."""
        hits = [Scored(key, 0.0) for key in self._named(numbers)]
        kept = await self._engine.keep_visible(hits, filters, len(hits))
        return self.numbers_of(hit.id for hit in kept)

    async def summaries_of(self, numbers: Iterable[int]) -> dict[int, int]:
        """Return the summary of each memory that has one."""
        found = await self._engine.summaries_of(self._agents, self._named(numbers))
        return dict(zip(self.numbers_of(found), self.numbers_of(found.values()), strict=True))

    def _named(self, numbers: Iterable[int]) -> list[str]:
        return [self.ids[number] for number in numbers]

    def _hits(self, found: Sequence[Scored]) -> Hits:
        return Hits(self.numbers_of(hit.id for hit in found), [hit.score for hit in found])
