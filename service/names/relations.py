"""Edges and counts that change when memories are added, changed and removed; pure."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Final

# A memory's first 12 concepts by slug are paired: at most 66 pairs, a function of the set alone,
# so that what one version of a memory added, the next can take back exactly.
_MOST_PAIRED: Final = 12

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class LinkChange:
    """The difference between two states of `references`, with what follows from it.

    `counts` is by how much each concept's number of memories changes, `weights` the same for
    each pair of concepts (slugs in ascending order) that memories mention together.
    """

    added: frozenset[tuple[str, str]]
    dropped: frozenset[tuple[str, str]]
    counts: Mapping[str, int]
    weights: Mapping[Pair, int]


def link_change(
    before: Mapping[str, frozenset[str]],
    after: Mapping[str, frozenset[str]],
    silent_before: Collection[str] = (),
    silent: Collection[str] = (),
) -> LinkChange:
    """Compare the concepts of each memory (key → slugs) before and after.

    Memories that are silent, then or now, have edges, but count for no concept and no pair: a
    summary repeats what its sources say, and what is quarantined has no say.
    """
    old = {(key, slug) for key, slugs in before.items() for slug in slugs}
    new = {(key, slug) for key, slugs in after.items() for slug in slugs}
    counts: Counter[str] = Counter()
    weights: Counter[Pair] = Counter()
    for key, slugs in after.items():
        if key not in silent:
            counts.update(slugs)
            weights.update(pairs(slugs))
    for key, slugs in before.items():
        if key not in silent_before:
            counts.subtract(slugs)
            weights.subtract(pairs(slugs))
    return LinkChange(
        frozenset(new - old),
        frozenset(old - new),
        {slug: by for slug, by in counts.items() if by},
        {pair: by for pair, by in weights.items() if by},
    )


def pairs(slugs: Iterable[str]) -> list[Pair]:
    """Return the pairs of concepts that one memory mentions together, each in ascending order."""
    return list(combinations(sorted(slugs)[:_MOST_PAIRED], 2))
