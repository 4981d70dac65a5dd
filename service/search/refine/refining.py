"""After fusion: the fetched hits without repetitions, by recency, reranked and diverse."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

from service.index.engine import Engine
from service.index.fetching import Wanted, fetch_first
from service.inference.reranker import Reranker, RerankFailed
from service.records import Filters, Memory
from service.search.fusion.ranked import Ranked
from service.search.fusion.rrf import Fused
from service.search.refine.duplicates import Repetitions
from service.search.refine.mmr import diversified
from service.search.refine.recency import by_recency
from service.search.refine.rerank import blended, clipped, document_of
from service.stages import Stages
from service.threads import read_texts

# What is reordered is chosen from this many. TEI takes 32 texts in one request.
_POOL: Final = 30
# Of what a session has, so many of the last are compared with what it would be given.
MOST_TOLD: Final = 300
# Fetched beyond the limit, for the places of duplicates; if there are more, more is fetched.
_SPARE: Final = 3


@dataclass(frozen=True, slots=True)
class Choices:
    """What a caller may choose of it; `diversity` and `recency` are 0 to 1."""

    duplicates: Literal["hide", "show"] = "hide"
    diversity: float = 0.0
    recency: float = 0.0
    rerank: bool = True


@dataclass(frozen=True, slots=True)
class Refined:
    """The answers, best first, all that was fetched by id, and why there was no reranking."""

    hits: list[Ranked]
    memories: Mapping[str, Memory]
    rerank_failure: str | None = None


@dataclass(frozen=True, slots=True)
class Refiner:
    """What refining one question's hits needs; `reranker` is None where none is asked."""

    engine: Engine
    reranker: Reranker | None
    text: str
    filters: Filters
    limit: int
    choices: Choices
    stages: Stages

    async def refine(self, ranking: Sequence[Fused]) -> Refined:
        """Return the first `limit` hits of a ranking, refined; raises StoreUnavailable.

        In this order: recency, so that the younger of two duplicates is the better; duplicates,
        so that none is reranked in vain; the reranker; diversity, which has the last word.
        """
        hits, memories = await self._distinct(ranking)
        hits, failure = await self._reranked(hits)
        with self.stages.measured("refine"):
            diversity = self.choices.diversity
            characters = sum(len(hit.memory.content) for hit in hits) if diversity > 0 else 0
            hits = await read_texts(characters, diversified, hits, diversity, self.limit)
            return Refined(hits, memories, failure)

    async def _distinct(
        self, ranking: Sequence[Fused]
    ) -> tuple[list[Ranked], Mapping[str, Memory]]:
        """Fetch until there are enough hits that say different things, or no more."""
        fused = {hit.id: hit for hit in ranking}
        depth, repetitions = self._depth(), Repetitions(await self._told())
        memories: dict[str, Memory] = {}
        while True:
            wanted = (Wanted(hit.id, beside=hit.seed) for hit in ranking)
            with self.stages.measured("fetch"):
                keys, memories = await fetch_first(
                    self.engine, wanted, self.filters, depth, known=memories
                )
            with self.stages.measured("refine"):
                fetched = self._by_recency([Ranked(memories[key], fused[key]) for key in keys])
                hits = fetched
                if self._hides_duplicates:
                    characters = sum(len(hit.memory.content) for hit in fetched)
                    characters += repetitions.told_characters
                    hits = await read_texts(characters // 10, repetitions.removed_from, fetched)
            if len(hits) >= self.limit or len(keys) < depth:
                self.stages.counts["duplicates"] = len(fetched) - len(hits)
                return hits, memories
            depth *= 2

    async def _told(self) -> list[Memory]:
        """Return what the session that asks has: no other copy of it is new."""
        keys = self.filters.without[:MOST_TOLD] if self._hides_duplicates else ()
        if not keys:
            return []
        found = await self.engine.fetch(keys, Filters(self.filters.agents))
        return list(found.values())

    def _depth(self) -> int:
        depth = self.limit + (_SPARE if self._hides_duplicates else 0)
        reorders = self.reranker or self.choices.diversity > 0 or self.choices.recency > 0
        return max(depth, _POOL) if reorders else depth

    @property
    def _hides_duplicates(self) -> bool:
        return self.choices.duplicates == "hide"

    def _by_recency(self, hits: Sequence[Ranked]) -> list[Ranked]:
        if self.choices.recency <= 0:
            return list(hits)
        return by_recency(hits, self.choices.recency, self.filters.as_of or datetime.now(UTC))

    async def _reranked(self, hits: list[Ranked]) -> tuple[list[Ranked], str | None]:
        """Return the hits with the first ones reranked; as they were, and why, if it failed."""
        if self.reranker is None or len(hits) < 2:
            return hits, None
        first, rest = hits[:_POOL], hits[_POOL:]
        with self.stages.measured("rerank"):
            try:
                scores = await self.reranker.score(
                    clipped(self.text), [document_of(hit.memory) for hit in first]
                )
            except RerankFailed as failure:
                return hits, str(failure)
        self.stages.counts["reranked"] = len(first)
        return [*blended(first, scores), *rest], None
