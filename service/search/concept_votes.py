"""Ranking by shared concepts: the rarer ones, and those of better seeds, count more; pure."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from service.records import Concept, ConceptId, Scored

# The rarest concepts of all seeds are followed; more only adds hubs.
_MOST_CONCEPTS: Final = 24


@dataclass(frozen=True, slots=True)
class Seed:
    """A good direct hit with the concepts it references; `score` is relative to the best, 0..1."""

    id: str
    score: float
    concepts: tuple[Concept, ...]


def vote(seeds: Sequence[Seed], memories_of: Mapping[ConceptId, Sequence[str]]) -> list[Scored]:
    """Rank the seeds and the memories that share concepts with them, best first.

    Each concept votes 1 / ln(1 + its number of memories) times its best seed's score; a memory's
    score is the sum. A seed has its own score on top, in units of the strongest vote: the graph
    may bring something new to the fore, not push the best direct hit away, as it did
    while the seeds were left out (docs/decisions/0006). Of equals seeds come first, then by id.
    The path is the strongest vote's seed (its id) and concept (its name). Empty if nothing new is
    found.
    """
    votes = _rarest_votes(seeds)
    scores: dict[str, float] = defaultdict(float)
    paths: dict[str, tuple[float, tuple[str, ...]]] = {}
    for weight, seed, concept in votes:
        for key in memories_of.get(concept.id, ()):
            if key == seed.id:
                continue
            scores[key] += weight
            if weight > paths.get(key, (0.0, ()))[0]:
                paths[key] = (weight, (seed.id, concept.name))
    known = {seed.id for seed in seeds}
    if not scores.keys() - known:
        return []
    strongest = max(scores.values())
    for seed in seeds:
        scores[seed.id] += seed.score * strongest
    ordered = sorted(scores, key=lambda key: (-scores[key], key not in known, key))
    return [Scored(key, scores[key], paths[key][1] if key in paths else ()) for key in ordered]


def _rarest_votes(seeds: Sequence[Seed]) -> list[tuple[float, Seed, Concept]]:
    """Return each concept's strongest vote, for the rarest concepts of all seeds."""
    best: dict[ConceptId, tuple[float, Seed, Concept]] = {}
    for seed in seeds:
        for concept in seed.concepts:
            weight = seed.score / math.log1p(concept.memories)
            if concept.id not in best or weight > best[concept.id][0]:
                best[concept.id] = (weight, seed, concept)
    return sorted(best.values(), key=lambda vote: (vote[2].memories, vote[2].id))[:_MOST_CONCEPTS]
