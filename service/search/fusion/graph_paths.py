"""Paths from the best hits along concepts to what they lead to, scored by all that lies on them."""

import math
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from service.index.links import Links, Places
from service.records import Concept, ConceptId

SEEDS: Final = 5
_WIDTH: Final = 4
_DEPTH: Final = 3
# What a path's mean is worth beside a direct hit of the same score.
_WORTH: Final = 0.95
# Of the memories that one step leads to, so many are looked at, those by the rarest concepts first.
_MOST_ENDS: Final = 400

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
        ways = _Ways.of(links, scores)
        beams = [_further(beam, ways) for beam in beams]
        for trail in (trail for beam in beams for trail in beam):
            known = best.get(trail.memories[-1])
            if known is None or trail.order < known.order:
                best[trail.memories[-1]] = trail
    return best


@dataclass(frozen=True, slots=True)
class _Ways:
    """Where one step leads from each memory: an end with a score, along the rarest concept.

    `ends` are places in the keys of the links and `along` numbers of links; those of one start
    stand together, in `stretches`.
    """

    links: Links
    stretches: Mapping[str, slice]
    ends: Places
    along: Places
    totals: NDArray[np.float64]

    @classmethod
    def of(cls, links: Links, scores: Mapping[str, float]) -> "_Ways":
        """Of several concepts that lead from a start to an end, the rarest is kept."""
        concepts, starts = links.concepts, links.starts
        by_rarity = sorted(
            range(len(concepts)), key=lambda link: (concepts[link].memories, concepts[link].id)
        )
        ranks = np.empty(len(concepts), np.intp)
        ranks[by_rarity] = np.arange(len(concepts))
        every = np.array([scores.get(key, math.nan) for key in links.keys])
        of_ends = links.of_ends
        is_scored = ~np.isnan(every[links.ends])
        ends, of_ends = links.ends[is_scored], of_ends[is_scored]
        rarest_first = np.argsort(ranks[of_ends], kind="stable")
        ends, of_ends = ends[rarest_first], of_ends[rarest_first]
        pairs, first = np.unique(starts[of_ends] * len(links.keys) + ends, return_index=True)
        begun = np.unique(starts)
        borders = np.searchsorted(pairs, (begun[:, None] + (0, 1)) * len(links.keys)).tolist()
        stretches = {
            links.keys[start]: slice(*border)
            for start, border in zip(begun.tolist(), borders, strict=True)
        }
        return cls(links, stretches, ends[first], of_ends[first], every[ends[first]])


def _further(beam: Sequence[Trail], ways: _Ways) -> list[Trail]:
    """Return the best trails that go one step on from these, one for each end.

    Trails of one beam are equally long: their totals order them. Only those that may be among the
    best are made, which of hundreds is a dozen.
    """
    found: dict[str, Trail] = {}
    ends: set[str] = set()
    least = -math.inf
    for total, place, way in _greatest(beam, ways):
        if total < least:
            break
        trail, key = beam[place], ways.links.keys[int(ways.ends[way])]
        if key in trail.memories:
            continue
        ends.add(key)
        if len(ends) == _WIDTH:
            # The total of the last end that the beam has room for.
            least = total
        longer = trail.to(key, ways.links.concepts[int(ways.along[way])], total)
        if key not in found or longer.order < found[key].order:
            found[key] = longer
    return sorted(found.values(), key=lambda trail: trail.order)[:_WIDTH]


def _greatest(beam: Sequence[Trail], ways: _Ways) -> list[tuple[float, int, int]]:
    """Return the greatest totals one step on, with the trail's place and the way, in their order.

    So many that there is an end for each place in the beam: of one end there may be a way from
    every trail, and ways back to the memories that lie on a trail lead nowhere.
    """
    steps = [
        (place, np.arange(stretch.start, stretch.stop))
        for place, trail in enumerate(beam)
        if (stretch := ways.stretches.get(trail.memories[-1]))
    ]
    if not steps:
        return []
    along = np.concatenate([step for _, step in steps])
    places = np.repeat([place for place, _ in steps], [len(step) for _, step in steps])
    totals = np.array([trail.total for trail in beam])[places] + ways.totals[along]
    most = len(beam) * (_WIDTH + _DEPTH)
    if len(totals) > most:
        kept = totals >= np.partition(totals, len(totals) - most)[len(totals) - most]
        along, places, totals = along[kept], places[kept], totals[kept]
    greatest = zip(totals.tolist(), places.tolist(), along.tolist(), strict=True)
    return sorted(greatest, reverse=True)


def _reached(links: Links) -> set[str]:
    """Return the memories that links lead to, of very many those of the rarest concepts."""
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
    return {links.keys[place] for place in found}
