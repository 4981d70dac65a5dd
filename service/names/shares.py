"""How strongly two concepts are related: the share of their memories that hold both; pure."""

from typing import Final

# Declared by the user: as strong as two concepts that stand together four times out of five.
DECLARED_SHARE: Final = 0.8
# Below this two concepts stand together by chance: `graph-memory graph report` finds such edges
# noisy as a rule, and stronger ones worth it. Walks leave them out.
LEAST_SHARE: Final = 0.1


def share_of(weight: float, memories: int, others: int) -> float:
    """Return in which share of the more frequent concept's memories both stand, at most 1.

    `weight` is the number of memories that hold both; `memories` and `others` those of each.
    """
    return min(1.0, weight / max(1, memories, others))
