"""Pages of an agent's concepts in the order of GET /concepts, without reading the others."""

import asyncio
from collections.abc import Callable, Iterable
from heapq import nsmallest
from itertools import chain
from typing import Final

from service.index.resident.agent_index import AgentIndex
from service.index.resident.amounts import true_index
from service.index.resident.residency import Residency

# In how many memories a concept stands, and its slug.
ConceptPlace = tuple[int, str]

# Names are read in a few milliseconds.
_AT_ONCE: Final = 1000


async def first_concepts(
    residency: Residency,
    agent: str,
    passes: Callable[[str, str], bool] | None,
    after: ConceptPlace | None,
    limit: int,
) -> list[ConceptPlace] | None:
    """Return the first of an agent's concepts behind a place, of those whose name and slug pass.

    Those in the most memories come first, then by slug. None where the index leaves some out, or
    differs from the store. Raises StoreUnavailable.
    """
    index = await true_index(residency, agent)
    if index is None or any(table == "concept" for table, _ in list(index.corrupt)):
        return None
    return await asyncio.to_thread(_first, index, passes, after, limit)


def _first(
    index: AgentIndex,
    passes: Callable[[str, str], bool] | None,
    after: ConceptPlace | None,
    limit: int,
) -> list[ConceptPlace]:
    found: list[ConceptPlace] = []
    most, last = after or (None, "")
    with index.lock:
        groups = list(index.graph.concepts.by_memories(most))
    for memories, numbers in groups:
        parts = (numbers[n : n + _AT_ONCE] for n in range(0, len(numbers), _AT_ONCE))
        named = chain.from_iterable(_named(index, part) for part in parts)
        slugs = (slug for name, slug in named if passes is None or passes(name, slug))
        behind = (slug for slug in slugs if memories != most or slug > last)
        found += [(memories, slug) for slug in nsmallest(limit - len(found), behind)]
        if len(found) == limit:
            break
    return found


def _named(index: AgentIndex, numbers: Iterable[int]) -> list[tuple[str, str]]:
    """Return names and slugs; the lock is let go after them, for a rare name is sought in all."""
    with index.lock:
        concepts = index.graph.concepts
        return [(concepts.name(number), concepts.slug(number)) for number in numbers]
