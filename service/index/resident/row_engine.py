"""The resident engine for one agent: a memory's number is its row."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Final

from service.index.evidence import Evidence, Floats, Question
from service.index.links import Links
from service.index.numbered import Hits
from service.index.resident.agent_index import AgentIndex
from service.index.resident.asking import Asking
from service.index.resident.evidence import collect_evidence
from service.index.resident.neighbours import beside, linked, summary_rows
from service.records import Filters, Scored
from service.text.words import query_words
from service.threads import give_way

ByPhrase = Callable[[str, Filters, int], Awaitable[list[Scored]]]

# Measured: a memory's share in the search for one word; to count one word in one memory; to compare
# one number of two vectors.
_POSTING: Final = 1e-9
_COUNT: Final = 2e-8
_NUMBER: Final = 6e-11


class RowEngine:
    """Asks the index that an agent has now, also when another one takes its place meanwhile.

    Until then a search sees what is written meanwhile; from then on what stood there.
    """

    def __init__(self, index: AgentIndex, asking: Asking, by_phrase: ByPhrase) -> None:
        self.ids: Sequence[str] = index.keys
        self._index = index
        self._asking = asking
        self._by_phrase = by_phrase

    def numbers_of(self, keys: Iterable[str]) -> list[int]:
        """Return the rows of memories by id; those that never stood here are left out."""
        rows = map(self._index.rows.get, keys)
        return [row for row in rows if row is not None]

    async def by_text(self, text: str, filters: Filters, limit: int) -> Hits:
        """Return the memories whose words match best (BM25 over the agent's own memories)."""
        words = query_words(text)
        seconds = self._index.memories * (1 + words.count(" ")) * _POSTING
        return await self._asking.look_up(
            self._index, lambda i: i.by_text(words, filters, limit), seconds
        )

    async def by_phrase(self, phrase: str, filters: Filters, limit: int) -> Hits:
        """Return memories that hold a phrase, as the engine says it by ids."""
        found = await self._by_phrase(phrase, filters, limit)
        return Hits(self.numbers_of(hit.id for hit in found), [hit.score for hit in found])

    async def by_vector(self, vector: Floats, filters: Filters, limit: int) -> tuple[Hits, int]:
        """Return the memories nearest in meaning, by comparing every one that passes."""
        vectors = self._index.vectors
        return await self._asking.look_up(
            self._index,
            lambda i: i.by_vector(vector, filters, limit),
            _NUMBER * (vectors.numbers_compared if vectors else 0),
        )

    async def collect_evidence(
        self, question: Question, filters: Filters, numbers: Sequence[int], reach: int
    ) -> tuple[list[int], Evidence]:
        """Count in the index."""
        around = len(numbers) * (1 + 2 * reach)
        return await self._asking.look_up(
            self._index,
            lambda i: collect_evidence(i, question, filters, numbers, reach),
            around * (1 + len(question.words)) * _COUNT,
        )

    async def linked(
        self, numbers: Sequence[int], caps: Mapping[str, int]
    ) -> tuple[list[int], Links]:
        """Follow concepts from memories to others: a search's longest part, step by step."""
        await give_way()
        most = caps.get(self._index.agent, 0)
        return await self._asking.look_up(self._index, lambda i: linked(i, numbers, most))

    async def beside(self, numbers: Sequence[int]) -> list[int]:
        """Return the memories just before and just after these."""
        return await self._asking.look_up(self._index, lambda i: beside(i, numbers))

    async def passing(self, numbers: Sequence[int], filters: Filters) -> list[int]:
        """Return those that pass the filters."""
        return await self._asking.look_up(self._index, lambda i: i.passing(numbers, filters))

    async def summaries_of(self, numbers: Iterable[int]) -> dict[int, int]:
        """Look up what each memory's row says."""
        return await self._asking.look_up(self._index, lambda i: summary_rows(i, numbers))
