"""Pairs of memories that an edge joins: drawn from very many without listing them; pure.

The draw is random with a fixed seed: the same graph gives the same pairs.
"""

import math
import random
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final, TypeVar

Pair = tuple[str, str]
Item = TypeVar("Item")
_SEED: Final = 20_260_213


def some_of(items: Sequence[Item], most: int) -> list[Item]:
    """Return at most so many of the items, in their order."""
    if len(items) <= most:
        return list(items)
    places = random.Random(_SEED).sample(range(len(items)), most)  # noqa: S311 - statistics
    return [items[place] for place in sorted(places)]


def draw(sizes: Sequence[int], most: int) -> list[tuple[int, int]]:
    """Choose at most so many of all things that lie in groups of these sizes, each as likely.

    Returns (group, number in the group) in ascending order; all of them where they are few.
    """
    ends = list(accumulate(sizes))
    total = ends[-1] if ends else 0
    numbers = some_of(range(total), most)
    groups = [bisect_right(ends, number) for number in numbers]
    return [
        (group, number - ends[group] + sizes[group])
        for group, number in zip(groups, numbers, strict=True)
    ]


def couples(count: int) -> int:
    """Return how many pairs so many things make."""
    return count * (count - 1) // 2


def couple(number: int) -> tuple[int, int]:
    """Return the pair with this number; they count on (0, 1), (0, 2), (1, 2), (0, 3)."""
    second = (1 + math.isqrt(8 * number + 1)) // 2
    return number - couples(second), second


def within(keys: Sequence[str], number: int) -> Pair | None:
    """Return a pair of memories that share a concept; None for a number beyond the last."""
    first, second = couple(number)
    return (keys[first], keys[second]) if second < len(keys) else None


def across(lists: tuple[Sequence[str], Sequence[str]], number: int) -> Pair | None:
    """Return a pair of memories of two concepts; None where they share one of these already."""
    keys, others = lists
    if not others or number >= len(keys) * len(others):
        return None
    key, other = keys[number // len(others)], others[number % len(others)]
    return None if key in others or other in keys else (key, other)


def distinct(pairs: Iterable[Pair | None]) -> list[Pair]:
    """Return each pair once, its ends and all pairs in ascending order."""
    found = {(min(pair), max(pair)) for pair in pairs if pair}
    return sorted(pair for pair in found if pair[0] != pair[1])
