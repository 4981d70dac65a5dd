"""Paths from the best hits along concepts to what they lead to, scored by all that lies on them."""

import math
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import Final

from service.records import Concept, ConceptId

SEEDS: Final = 5
_WIDTH: Final = 4
_DEPTH: Final = 3
# What a path's mean is worth beside a direct hit of the same score.
_WORTH: Final = 0.95
# Of the memories that one step leads to, so many are looked at, those by the rarest concepts first.
_MOST_ENDS: Final = 400

Links = Mapping[str, Sequence[tuple[Concept, Sequence[str]]]]
# Gives the links of memories, and the scores of memories: absent for one that may not be seen.
Look = Callable[[Iterable[str]], Awaitable[Links]]
Score = Callable[[Iterable[str]], Awaitable[Mapping[str, float]]]


@dataclass(frozen=True, slots=True)
class Trail:
    """A way from a seed: the memories on it, the concepts between them, and its worth."""

    memories: tuple[str, ...]
    concepts: tuple[Concept, ...]
    total: float
    # How common each concept is: of equal trails the one along the rarest goes first.
    rarity: tuple[tuple[int, ConceptId], ...] = ()

    @property
    def worth(self) -> float:
        """The mean score of its memories, a little less than that of a direct hit."""
        return _WORTH * self.total / len(self.memories)

    @property
    def order(self) -> tuple[float, tuple[str, ...], tuple[tuple[int, ConceptId], ...]]:
        """Put the best first; of equal ones by ids, of one way that along the rarest concepts."""
        return -self.worth, self.memories, self.rarity

    def to(self, key: str, concept: Concept, total: float) -> "Trail":
        """Return the trail one step further, with the sum of all scores on it."""
        rarity = (*self.rarity, (concept.memories, concept.id))
        return Trail((*self.memories, key), (*self.concepts, concept), total, rarity)


async def best_trails(seeds: Mapping[str, float], look: Look, score: Score) -> dict[str, Trail]:
    """Return the best trail to each memory that some seed leads to within three steps.

    A beam search with four trails a seed (width and depth as in NeuroGraphDB's ablations, whose
    best score for a path is the mean, too). The trails of all seeds go on together, so that each
    step asks twice, however many there are. Ties by the ids on the way, then the rarest concepts.
    """
    beams = [[Trail((key,), (), total)] for key, total in seeds.items()]
    best: dict[str, Trail] = {}
    scores: dict[str, float] = dict(seeds)
    asked = set(seeds)
    for _ in range(_DEPTH):
        ends = {trail.memories[-1] for beam in beams for trail in beam}
        if not ends:
            break
        links = await look(sorted(ends))
        new = _reached(links) - asked
        asked |= new
        scores |= await score(sorted(new)) if new else {}
        beams = [_further(beam, links, scores) for beam in beams]
        for trail in (trail for beam in beams for trail in beam):
            known = best.get(trail.memories[-1])
            if known is None or trail.order < known.order:
                best[trail.memories[-1]] = trail
    return best


def _further(beam: Sequence[Trail], links: Links, scores: Mapping[str, float]) -> list[Trail]:
    """Return the best trails that go one step on from these, one for each end.

    Trails of one beam are equally long: their totals order them. Only those that may be among the
    best are made, which of hundreds is a dozen.
    """
    steps = {
        (place, key): (trail.total + scores[key], concept)
        for place, trail in enumerate(beam)
        for key, concept in _rarest_ways(trail, links, scores).items()
    }
    best: dict[str, float] = {}
    for (_, key), (total, _) in steps.items():
        best[key] = max(total, best.get(key, total))
    # The total of the last end that the beam has room for.
    least = min(nlargest(_WIDTH, best.values()), default=-math.inf)
    found: dict[str, Trail] = {}
    for (place, key), (total, concept) in steps.items():
        if total >= least:
            longer = beam[place].to(key, concept, total)
            if key not in found or longer.order < found[key].order:
                found[key] = longer
    return sorted(found.values(), key=lambda trail: trail.order)[:_WIDTH]


def _rarest_ways(trail: Trail, links: Links, scores: Mapping[str, float]) -> dict[str, Concept]:
    """Return the ends one step on, each with the rarest concept that leads there."""
    ways: dict[str, Concept] = {}
    for concept, ends in sorted(
        links.get(trail.memories[-1], ()), key=lambda link: (link[0].memories, link[0].id)
    ):
        for key in ends:
            if key not in ways and key in scores and key not in trail.memories:
                ways[key] = concept
    return ways


def _reached(links: Links) -> set[str]:
    """Return the memories that links lead to, of very many those of the rarest concepts."""
    found: set[str] = set()
    every = [link for key in sorted(links) for link in links[key]]
    by_rarity = sorted(every, key=lambda link: (len(link[1]), link[0].id))
    for _, ends in by_rarity:
        if len(found) >= _MOST_ENDS:
            break
        found.update(ends)
    return found
