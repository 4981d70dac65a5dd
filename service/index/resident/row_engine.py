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

# Gives the first so many of a ranking whose words hold a phrase.
KeepPhrase = Callable[[Sequence[Scored], str, int], Awaitable[list[Scored]]]

_MOST_PHRASE_TEXTS: Final = 1000
# Measured: a memory's share in the search for one word; to count one word in one memory; to compare
# one number of two vectors.
_POSTING: Final = 1e-9
_COUNT: Final = 2e-8
_NUMBER: Final = 6e-11


class RowEngine:
    """Asks the index that an agent has now, also when another one takes its place meanwhile.

    That goes on as it was: a search sees what stood in the index when it began, and later changes
    for as long as nobody loads it anew.
    """

    def __init__(self, index: AgentIndex, asking: Asking, keep_phrase: KeepPhrase) -> None:
        self.ids: Sequence[str] = index.keys
        self._index = index
        self._asking = asking
        self._keep_phrase = keep_phrase

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
        """Return memories that hold a phrase: all its words by the index, their order by the store.

        Of very many that hold all the words only the first are looked through.
        """
        most = max(_MOST_PHRASE_TEXTS, limit)
        found = await self._asking.in_thread(
            self._index, lambda i: i.by_all_words(phrase, filters, most)
        )
        kept = await self._keep_phrase(found.named(self.ids), phrase, limit)
        return Hits(self.numbers_of(hit.id for hit in kept), [hit.score for hit in kept])

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
