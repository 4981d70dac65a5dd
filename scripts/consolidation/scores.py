"""What a ranking is worth when one hit may stand for many memories; pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from scripts.recall.scores import Interval, bootstrap, score

LABELS: Final = ("R@5", "R@10", "nDCG@10")


@dataclass(frozen=True, slots=True)
class Covered:
    """The scores of one ranking, or their means; each 0..1."""

    recall_5: float
    recall_10: float
    ndcg_10: float

    @property
    def row(self) -> tuple[float, float, float]:
        """The scores in the order of LABELS."""
        return self.recall_5, self.recall_10, self.ndcg_10


@dataclass(frozen=True, slots=True)
class Comparison:
    """So many questions asked twice; the differences are after less before, as in LABELS."""

    name: str
    questions: int
    before: Covered
    after: Covered
    differences: tuple[Interval, ...]


def covered(gold: Mapping[str, float], hits: Sequence[Collection[str]]) -> Covered:
    """Score a ranking, best first, of hits that each stand for one memory or more.

    Evidence is found at k when one of the first k hits stands for it. For nDCG the evidence of one
    hit stands in a row, so what follows moves down: with one memory a hit it is trec_eval's.
    Raises ZeroDivisionError without gold.
    """
    found: set[str] = set()
    ranked: list[str] = []
    recalls = {5: 0.0, 10: 0.0}
    for rank in range(1, 11):
        new = sorted((gold.keys() & set(hits[rank - 1])) - found) if rank <= len(hits) else []
        found.update(new)
        ranked += new or [f"no evidence at {rank}"]
        if rank in recalls:
            recalls[rank] = len(found) / len(gold)
    return Covered(recalls[5], recalls[10], score(gold, ranked).ndcg_10)


def compare(name: str, before: Sequence[Covered], after: Sequence[Covered]) -> Comparison | None:
    """Return the means and the paired bootstrap of the same questions; None of none."""
    if not before:
        return None
    one = np.array([scores.row for scores in before])
    other = np.array([scores.row for scores in after])
    return Comparison(
        name=name,
        questions=len(before),
        before=Covered(*map(float, one.mean(axis=0))),
        after=Covered(*map(float, other.mean(axis=0))),
        differences=tuple(bootstrap(other - one)),
    )
