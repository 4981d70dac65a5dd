"""Paths from the best hits along concepts to what they lead to, scored by all that lies on them."""

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

import numpy as np

from service.index.links import Links, Places
from service.records import Concept, ConceptId
from service.search.fusion.steps import Beams, steps_further

SEEDS: Final = 5
_WIDTH: Final = 4
_DEPTH: Final = 2
# What a path's mean is worth beside a direct hit of the same score.
_WORTH: Final = 0.88
# Of the memories that one step leads to, so many are looked at, those by the rarest concepts first.
_MOST_ENDS: Final = 400

# Gives the links of memories by number, with the numbers of their keys.
Look = Callable[[Sequence[int]], Awaitable[tuple[Sequence[int], Links]]]
# Gives the scores of memories by number: absent for one that may not be seen.
Score = Callable[[Sequence[int]], Awaitable[Mapping[int, float]]]


class Trail(NamedTuple):
    """A way from a seed along concepts; of two the lesser is the better one.

    The greater its worth; of equal ones by ids, of one way that along the rarest concepts.
    """

    # Its worth, below 0.
    lack: float
    memories: tuple[str, ...]
    # How common each concept is.
    rarity: tuple[tuple[int, ConceptId], ...]
    concepts: tuple[Concept, ...]
    # The sum of all scores on it.
    total: float
    numbers: tuple[int, ...]

    @classmethod
    def begin(cls, seed: str, number: int, score: float) -> "Trail":
        """Return a trail that has not left its seed."""
        return cls(-_WORTH * score, (seed,), (), (), score, (number,))

    @property
    def worth(self) -> float:
        """The mean score of its memories, a little less than that of a direct hit."""
        return -self.lack

    def to(self, key: str, number: int, concept: Concept, total: float) -> "Trail":
        """Return the trail one step further, with the sum of all scores on it."""
        memories = (*self.memories, key)
        rarity = (*self.rarity, (concept.memories, concept.id))
        concepts, numbers = (*self.concepts, concept), (*self.numbers, number)
        return Trail(-_WORTH * total / len(memories), memories, rarity, concepts, total, numbers)


async def best_trails(
    seeds: Mapping[int, float], ids: Sequence[str], look: Look, score: Score
) -> dict[int, Trail]:
    """Return the best trail to each memory that some seed leads to within two steps, by number.

    A beam search with four trails a seed (as wide as in NeuroGraphDB's ablations, whose best score
    for a path is the mean, too; their third step led astray, see docs/decisions/0063). The trails
    of all seeds go on together, so that each step asks twice, however many there are. Ties by the
    ids on the way, which stand in `ids` by number, then the rarest concepts.
    """
    beams = [[Trail.begin(ids[number], number, total)] for number, total in seeds.items()]
    best: dict[int, Trail] = {}
    scores: dict[int, float] = dict(seeds)
    asked = set(seeds)
    for _ in range(_DEPTH):
        ends = {trail.numbers[-1] for beam in beams for trail in beam}
        if not ends:
            break
        numbers, links = await look(sorted(ends))
        reached = [numbers[place] for place in _reached(links)]
        new = [number for number in reached if number not in asked]
        asked.update(new)
        scores |= await score(new) if new else {}
        beams = _further(beams, numbers, links, scores)
        for trail in (trail for beam in beams for trail in beam):
            known = best.get(trail.numbers[-1])
            if known is None or trail < known:
                best[trail.numbers[-1]] = trail
    return best


def _further(
    beams: Sequence[Sequence[Trail]],
    numbers: Sequence[int],
    links: Links,
    scores: Mapping[int, float],
) -> list[list[Trail]]:
    """Return for each beam the best trails that go one step on from its own, one for each end."""
    at = {number: place for place, number in enumerate(numbers)}
    trails = [trail for beam in beams for trail in beam]
    scored = np.array([scores.get(number, math.nan) for number in numbers])
    places = np.array([[at.get(number, -1) for number in trail.numbers] for trail in trails])
    borders = np.array([0, *accumulate(map(len, beams))])
    found: list[dict[int, Trail]] = [{} for _ in beams]
    so_far = Beams(places, np.array([trail.total for trail in trails]), borders)
    for step in steps_further(links, _ranks(links.concepts), scored, so_far, _WIDTH):
        beam, trail, end, link, total = step
        longer = trails[trail].to(links.keys[end], numbers[end], links.concepts[link], total)
        known = found[beam].get(end)
        if known is None or longer < known:
            found[beam][end] = longer
    return [sorted(one.values())[:_WIDTH] for one in found]


def _ranks(concepts: Sequence[Concept]) -> Places:
    """Return the place of each concept among all, the rarest first, then by id."""
    rarest = sorted(range(len(concepts)), key=lambda n: (concepts[n].memories, concepts[n].id))
    ranks = np.empty(len(concepts), np.intp)
    ranks[rarest] = np.arange(len(concepts))
    return ranks


def _reached(links: Links) -> set[int]:
    """Return the places that links lead to, of very many those of the rarest concepts."""
    if len(links.keys) <= _MOST_ENDS:
        return set(links.ends.tolist())
    sizes, starts = links.sizes.tolist(), links.starts.tolist()
    by_rarity = sorted(
        range(len(sizes)),
        key=lambda link: (sizes[link], links.concepts[link].id, links.keys[starts[link]]),
    )
    last = np.cumsum(links.sizes).tolist()
    found: set[int] = set()
    for link in by_rarity:
        if len(found) >= _MOST_ENDS:
            break
        found.update(links.ends[last[link] - sizes[link] : last[link]].tolist())
    return found
