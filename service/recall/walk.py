"""The arithmetic of a walk: what one hop adds to what is reached, with the path; pure."""

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from service.names.shares import LEAST_SHARE
from service.records import Concept, ConceptId, Related

# What is left of a score after one hop: two hops away counts a third of the seed.
DECAY: Final = 0.6
# From one hop to the next this many memories and concepts are followed, the strongest first.
MOST_MEMORIES: Final = 40
MOST_CONCEPTS: Final = 40


class Step(NamedTuple):
    """One part of a path: a memory, or the edge that was walked and the concept it leads to."""

    memory: str | None = None
    edge: str | None = None
    concept: Concept | None = None
    direction: str | None = None


Path = tuple[Step, ...]


class Reached(NamedTuple):
    """A memory or concept that the walk has come to: how strongly, how far, by which path.

    Where several ways add up to `score`, `path` is the strongest of them.
    """

    score: float
    distance: int
    path: Path


@dataclass(slots=True)
class Walk:
    """Everything reached so far. Memories keep their shortest distance and their best path."""

    memories: dict[str, Reached] = field(default_factory=dict)
    concepts: dict[ConceptId, tuple[Concept, float]] = field(default_factory=dict)

    def start(self, seeds: Mapping[str, float]) -> None:
        """Begin at the seeds, with their scores relative to the best (0..1)."""
        for key, score in seeds.items():
            self.memories[key] = Reached(score, 0, (Step(memory=key),))

    def note(self, concept: Concept, weight: float) -> None:
        """Note a concept that the walk went through, with its greatest weight."""
        known = self.concepts.get(concept.id)
        if known is None or weight > known[1]:
            self.concepts[concept.id] = (concept, weight)


def memories_from(
    concepts: Mapping[ConceptId, tuple[Concept, Reached]],
    memories_of: Mapping[ConceptId, Iterable[str]],
    known: Container[str],
) -> tuple[dict[str, float], dict[str, ConceptId]]:
    """Return the memories that concepts lead to: scores, and the concept of the strongest way.

    The ways to one memory add up as 1 − Π(1 − score). What is `known` stays as it is: that also
    ends every cycle. Thousands are scored, few are kept: paths are made of those alone.
    """
    scores: dict[str, float] = {}
    strongest_way: dict[str, float] = {}
    through: dict[str, ConceptId] = {}
    for concept in sorted(memories_of):
        score = concepts[concept][1].score * DECAY
        for key in memories_of[concept]:
            if key in known:
                continue
            scores[key] = 1 - (1 - scores.get(key, 0.0)) * (1 - score)
            if score > strongest_way.get(key, -1.0):
                strongest_way[key], through[key] = score, concept
    return scores, through


def rarity(concept: Concept) -> float:
    """Return how much sharing this concept tells: .91 for two memories, .22 for a hundred."""
    return 1 / math.log1p(max(concept.memories, 2))


def concepts_from(
    frontier: Mapping[str, Reached], concepts: Mapping[str, Iterable[Concept]]
) -> dict[ConceptId, tuple[Concept, Reached]]:
    """Return the concepts that the frontier's memories mention, each by its strongest way."""
    found: dict[ConceptId, tuple[Concept, Reached]] = {}
    for key in sorted(frontier):
        here = frontier[key]
        for concept in concepts.get(key, ()):
            score = here.score * rarity(concept)
            known = found.get(concept.id)
            # Most ways are weaker ones: a path is made of those alone that are kept.
            if known is None or score > known[1].score:
                path = (*here.path, Step(edge="references", concept=concept))
                found[concept.id] = (concept, Reached(score, here.distance, path))
    return strongest(found)


def concepts_beside(
    concepts: Mapping[ConceptId, tuple[Concept, Reached]],
    related: Mapping[ConceptId, Iterable[Related]],
) -> dict[ConceptId, tuple[Concept, Reached]]:
    """Return the concepts one edge further, each by its strongest way; one hop is spent."""
    found: dict[ConceptId, tuple[Concept, Reached]] = {}
    for key in sorted(concepts):
        _, here = concepts[key]
        for near in related.get(key, ()):
            target = near.concept.id
            if target in concepts or near.share < LEAST_SHARE:
                continue
            score, known = here.score * DECAY * near.share, found.get(target)
            if known is None or score > known[1].score:
                path = (*here.path, Step(edge=near.edge, concept=near.concept))
                found[target] = (near.concept, Reached(score, here.distance + 1, path))
    return strongest(found)


def strongest(
    concepts: Mapping[ConceptId, tuple[Concept, Reached]],
) -> dict[ConceptId, tuple[Concept, Reached]]:
    """Keep the concepts that are worth following: the strongest, ties by id."""
    ordered = sorted(concepts.items(), key=lambda item: (-item[1][1].score, item[0]))
    return dict(ordered[:MOST_CONCEPTS])


def apart(
    keys: Sequence[str], near: Mapping[str, tuple[Sequence[str], Sequence[str]]]
) -> list[str]:
    """Return keys in their order, but those last that stand beside an earlier one in time.

    Two parts of a section are one place: a walk reaches the second from the first anyway. `near`
    gives what is just before and just after each.
    """
    first: list[str] = []
    for key in keys:
        beside = {other for side in near.get(key, ()) for other in side}
        if beside.isdisjoint(first):
            first.append(key)
    return [*first, *(key for key in keys if key not in first)]
