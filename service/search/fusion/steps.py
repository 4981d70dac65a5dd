"""One step of a beam search along links, for all beams at once; pure.

Plain Python, that setup.py compiles by the types in steps.pxd.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from service.index.links import Links, Places

Totals = NDArray[np.float64]
# A step: its beam, its trail, the place of its end in the keys, its link, the total of all scores.
Step = tuple[int, int, int, int, float]


@dataclass(frozen=True, slots=True)
class Beams:
    """The trails of all beams, one beam's after the other's.

    `places` are those of each trail's memories in the keys of the links, -1 for one that is not
    among them [trail, memory]; `totals` are the sums of their scores; `borders` say where each
    beam's trails begin, and where the last one's end.
    """

    places: NDArray[np.intp]
    totals: Totals
    borders: Places


def steps_further(
    links: Links, ranks: Places, scores: Totals, beams: Beams, width: int
) -> list[Step]:
    """Return the steps that may be among the `width` best of their beam, of one for each end.

    Of several links that lead from a trail to one end, that with the least of the `ranks` is taken.
    `scores` are those of all places, NaN for one that may not be stepped on; nor may one that lies
    on the trail already. What ties with the last of a beam is told, too.
    """
    along, totals, borders = _links_along(links, ranks, beams.places), beams.totals, beams.borders
    steps: list[Step] = []
    for beam in range(len(borders) - 1):
        first, last = borders[beam], borders[beam + 1]
        least = _least(along[first:last], totals[first:last], scores, np.full(width, -np.inf))
        for trail in range(first, last):
            for end in range(len(scores)):
                total = totals[trail] + scores[end]
                # A total that is no number is never greater.
                if along[trail, end] >= 0 and total >= least:
                    steps.append((beam, trail, end, along[trail, end], total))
    return steps


def _links_along(links: Links, ranks: Places, places: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the link from each trail's last memory to each place, -1 for none [trail, place]."""
    found = np.full((len(places), len(links.keys)), -1, np.intp)
    along, last = found, places.shape[1] - 1
    starts, sizes, ends = links.starts, links.sizes, links.ends
    for trail in range(len(places)):
        begin = 0
        for link in range(len(starts)):
            if starts[link] == places[trail, last]:
                for at in range(begin, begin + sizes[link]):
                    known = along[trail, ends[at]]
                    if known < 0 or ranks[link] < ranks[known]:
                        along[trail, ends[at]] = link
            begin += sizes[link]
        for memory in range(last + 1):
            if places[trail, memory] >= 0:
                along[trail, places[trail, memory]] = -1
    return found


def _least(along: NDArray[np.intp], totals: Totals, scores: Totals, greatest: Totals) -> float:
    """Return the last of the greatest totals, where each end gives its best; -inf if they are few.

    `greatest` has a place for each, and is written to.
    """
    width = len(greatest)
    for end in range(len(scores)):
        best = greatest[width - 1]
        for trail in range(len(totals)):
            if along[trail, end] >= 0 and totals[trail] + scores[end] > best:
                best = totals[trail] + scores[end]
        place = width - 1
        while place > 0 and best > greatest[place - 1]:
            greatest[place] = greatest[place - 1]
            place -= 1
        greatest[place] = best
    return float(greatest[width - 1])
