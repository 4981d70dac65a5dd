"""What is asked of a search, and what of the running service answers it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from service.errors import ServiceError
from service.index.engine import Engine
from service.inference.reranker import Reranker
from service.inference.vectors import Vectors
from service.records import Filters, Vector
from service.search.fusion.confidence import Certainty
from service.search.fusion.rrf import Fused
from service.search.refine.refining import Choices
from service.settings import Settings
from service.stages import Stages
from service.store.agents import hub_caps
from service.store.database import Database

_AT_THE_DATABASE: Final = 64
DEFAULT_WEIGHTS: Final[Mapping[str, float]] = {"vector": 1.0, "text": 1.0, "graph": 0.5}
DEFAULT_RRF_K: Final = 60

# The question's vector, or why there is none.
Embedded = tuple[Vector | None, ServiceError | None]
# The hits, how sure they are, and why the vector signal is missing.
Answered = tuple[list[Fused], Certainty | None, ServiceError | None]
# Ranks in this process.
Alone = Callable[[], Awaitable[Answered]]


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """One question, with everything a caller may choose."""

    text: str
    filters: Filters = field(default_factory=Filters)
    limit: int = 5
    fusion: str = "default"
    rrf_k: int = DEFAULT_RRF_K
    weights: Mapping[str, float] = field(default_factory=lambda: dict(DEFAULT_WEIGHTS))
    max_tokens: int | None = None
    # Whether contents are told, not snippets alone: what fits `max_tokens` depends on it.
    with_content: bool = True
    min_confidence: float = 0.0
    choices: Choices = field(default_factory=Choices)
    skip_small_talk: bool = False
    # How long its vector is waited for; None: as long as one may take.
    meaning_seconds: float | None = None


def turns_of(*, is_resident: bool) -> asyncio.Semaphore:
    """Return the turns of those who were found something by words and by meaning.

    Where this process ranks, one after the other: the index keeps what it found of the question
    that it was asked last, and two that rank by turns make no answer faster. A database has cores
    of its own.
    """
    return asyncio.Semaphore(1 if is_resident else _AT_THE_DATABASE)


class Elsewhere(Protocol):
    """Processes of their own that rank as `rank_here` does, over all that was written so far."""

    @property
    def warning(self) -> str | None:
        """What an operator should know of them; None when all is well."""

    async def rank(
        self,
        query: SearchQuery,
        embed: Callable[[], Awaitable[Embedded]],
        stages: Stages,
        alone: Alone,
    ) -> Answered:
        """Return what one of them ranks; what `alone` does, where none can."""


@dataclass(frozen=True, slots=True)
class Searcher:
    """What a search needs of the running service; it goes on without reranker and readers."""

    db: Database
    vectors: Vectors
    settings: Settings
    engine: Engine
    reranker: Reranker | None = None
    turns: asyncio.Semaphore = field(default_factory=lambda: turns_of(is_resident=False))
    readers: Elsewhere | None = None


async def caps_of(searcher: Searcher, agents: Sequence[str]) -> dict[str, int]:
    """Return, for each agent, above how many memories a concept links nothing."""
    settings, sizes = searcher.settings, await searcher.engine.sizes(agents)
    return hub_caps(sizes, settings.concept_max_memories, settings.concept_max_share)
