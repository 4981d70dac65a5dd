"""What lies one step beside memories, by the concepts that lead there, in arrays."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from service.records import Concept

Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Links:
    """Links from memories along a concept to others; arrays have a row for each link.

    `keys` are all memories concerned, each once. `starts` are places in it, and so are `ends`:
    those of all links one after the other, as many of each as `sizes` says. A link never leads
    back to its start.
    """

    keys: Sequence[str]
    concepts: Sequence[Concept]
    starts: Places
    sizes: Places
    ends: Places

    @classmethod
    def of(cls, beside: Mapping[str, Iterable[tuple[Concept, Sequence[str]]]]) -> "Links":
        """Return the links of memories by id: concepts, and the ids that each leads to."""
        links = [(key, concept, ends) for key, told in beside.items() for concept, ends in told]
        named = dict.fromkeys(key for start, _, ends in links for key in (start, *ends))
        places = {key: place for place, key in enumerate(named)}
        return cls(
            tuple(named),
            [concept for _, concept, _ in links],
            np.array([places[start] for start, _, _ in links], np.intp),
            np.array([len(ends) for _, _, ends in links], np.intp),
            np.array([places[end] for _, _, ends in links for end in ends], np.intp),
        )

    def by_start(self) -> dict[str, list[tuple[Concept, list[str]]]]:
        """Return what `of` was given, without memories that nothing leads from."""
        beside: defaultdict[str, list[tuple[Concept, list[str]]]] = defaultdict(list)
        ends = np.split(self.ends, np.cumsum(self.sizes)[:-1]) if len(self.sizes) else []
        for start, concept, places in zip(self.starts.tolist(), self.concepts, ends, strict=True):
            named = sorted(self.keys[place] for place in places.tolist())
            beside[self.keys[start]].append((concept, named))
        return dict(beside)

    @property
    def of_ends(self) -> Places:
        """The link that each of the `ends` belongs to."""
        return np.repeat(np.arange(len(self.starts)), self.sizes)


def join(parts: Sequence[Links]) -> Links:
    """Join the links of several agents, none of whose memories is another's."""
    if len(parts) == 1:
        return parts[0]
    shifts = np.cumsum([0, *(len(part.keys) for part in parts[:-1])])
    return Links(
        tuple(key for part in parts for key in part.keys),
        [concept for part in parts for concept in part.concepts],
        np.concatenate([p.starts + shift for p, shift in zip(parts, shifts, strict=True)]),
        np.concatenate([part.sizes for part in parts]),
        np.concatenate([p.ends + shift for p, shift in zip(parts, shifts, strict=True)]),
    )
