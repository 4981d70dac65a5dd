"""An engine as one search asks it: memories go by numbers, and are named when they are returned.

An id is looked up among those of the whole store, far from whatever was read before: with ids in
every answer a search took a tenth longer, HTTP and embedder apart (docs/decisions/0070).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from service.index.evidence import Evidence, Floats, Question
from service.index.links import Links
from service.records import Filters, Scored


@dataclass(frozen=True, slots=True)
class Hits:
    """Memories by number with the scores one signal gave them, best first."""

    numbers: Sequence[int] = ()
    scores: Sequence[float] = ()

    def __len__(self) -> int:
        return len(self.numbers)

    def named(self, ids: Sequence[str]) -> list[Scored]:
        """Return them by id; `ids` are those of all numbers."""
        return Scored.each([ids[number] for number in self.numbers], self.scores)


class NumberedEngine(Protocol):
    """An engine that is bound to some agents; see Engine for what its methods return.

    A memory keeps its number for as long as this lives, and no other one has it. Any method may
    raise StoreUnavailable.
    """

    @property
    def ids(self) -> Sequence[str]:
        """The ids of the memories, by number."""

    def numbers_of(self, keys: Iterable[str]) -> list[int]:
        """Return the numbers of memories by id; one that surely does not exist may be left out."""

    async def by_text(self, text: str, filters: Filters, limit: int) -> Hits:
        """Return the memories that hold any of the text's words, by BM25."""

    async def by_phrase(self, phrase: str, filters: Filters, limit: int) -> Hits:
        """Return memories that hold the words of a phrase one after the other."""

    async def by_vector(self, vector: Floats, filters: Filters, limit: int) -> tuple[Hits, int]:
        """Return the memories nearest in meaning, and how many near ones were filtered out."""

    async def collect_evidence(
        self, question: Question, filters: Filters, numbers: Sequence[int], reach: int
    ) -> tuple[list[int], Evidence]:
        """Return those of the memories that pass the filters, and what stands in them."""

    async def linked(
        self, numbers: Sequence[int], caps: Mapping[str, int]
    ) -> tuple[list[int], Links]:
        """Return the numbers of all the links' keys, and the links."""

    async def beside(self, numbers: Sequence[int]) -> list[int]:
        """Return the memories just before and just after these; some may come twice."""

    async def passing(self, numbers: Sequence[int], filters: Filters) -> list[int]:
        """Return those of the memories that pass the filters, in their order."""

    async def summaries_of(self, numbers: Iterable[int]) -> dict[int, int]:
        """Return the number of the summary that each memory is part of.

        They are for comparing: of a summary that is not there it may be below 0, and no place in
        `ids`.
        """
