"""Pairs of memories that an edge joins: sampled from very many without listing them; pure.

Samples are random with a fixed seed: the same graph gives the same pairs.
"""

import math
import random
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final, TypeVar

MemoryPair = tuple[str, str]
Item = TypeVar("Item")
_SEED: Final = 20_260_213


def sample(items: Sequence[Item], most: int) -> list[Item]:
    """Return at most so many of the items, in their order."""
    if len(items) <= most:
        return list(items)
    indexes = random.Random(_SEED).sample(range(len(items)), most)  # noqa: S311 - statistics
    return [items[index] for index in sorted(indexes)]


def sample_groups(sizes: Sequence[int], most: int) -> list[tuple[int, int]]:
    """Choose at most so many of all members of groups of these sizes, each as likely.

    Returns (group, number in the group) in ascending order; every member where they are few.
    """
    ends = list(accumulate(sizes))
    total = ends[-1] if ends else 0
    numbers = sample(range(total), most)
    groups = [bisect_right(ends, number) for number in numbers]
    return [
        (group, number - ends[group] + sizes[group])
        for group, number in zip(groups, numbers, strict=True)
    ]


def pair_count(count: int) -> int:
    """Return how many pairs so many items make."""
    return count * (count - 1) // 2


def pair_at(number: int) -> tuple[int, int]:
    """Return the pair of indexes with this number, in the order (0, 1), (0, 2), (1, 2), (0, 3)."""
    second = (1 + math.isqrt(8 * number + 1)) // 2
    return number - pair_count(second), second


def pair_within(keys: Sequence[str], number: int) -> MemoryPair | None:
    """Return a pair of memories that share a concept; None for a number beyond the last pair."""
    first, second = pair_at(number)
    return (keys[first], keys[second]) if second < len(keys) else None


def pair_across(lists: tuple[Sequence[str], Sequence[str]], number: int) -> MemoryPair | None:
    """Return a memory of each of two concepts; None where one of them mentions both concepts.

    None as well for a number beyond the last pair.
    """
    keys, others = lists
    if not others or number >= len(keys) * len(others):
        return None
    key, other = keys[number // len(others)], others[number % len(others)]
    return None if key in others or other in keys else (key, other)


def distinct(pairs: Iterable[MemoryPair | None]) -> list[MemoryPair]:
    """Return each pair once, its ends and all pairs in ascending order."""
    ordered = {(min(pair), max(pair)) for pair in pairs if pair}
    return sorted(pair for pair in ordered if pair[0] != pair[1])
