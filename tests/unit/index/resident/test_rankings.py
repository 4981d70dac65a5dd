"""Rankings of several agents as one: as if all had been sorted with their moments."""

import random

import pytest

from service.index.resident.rankings import leading, newest_of_equals, tied
from service.records import Scored


def merged(
    rankings: list[list[Scored]], moments: dict[str, int], limit: int
) -> tuple[list[Scored], list[str]]:
    """Return the best of all, and whose moments were asked for."""
    best = leading(rankings, limit)
    asked = tied(best)
    known = {key: moments[key] for key in asked if key in moments}
    return newest_of_equals(best, known)[:limit], asked


@pytest.mark.parametrize("seed", range(30))
def test_they_are_as_if_all_were_sorted_with_their_moments(seed: int) -> None:
    chooser = random.Random(seed)
    scores = [chooser.choice([0.5, 1.0, 1.5, chooser.random()]) for _ in range(60)]
    hits = [Scored(f"m{number:02}", score) for number, score in enumerate(scores)]
    # One that is gone by now comes last of its equals.
    moments = {hit.id: chooser.randint(1, 4) for hit in hits if chooser.random() < 0.9}
    order = sorted(hits, key=lambda hit: (-hit.score, -moments.get(hit.id, 0), hit.id))
    owners = [chooser.randrange(4) for _ in order]
    rankings = [[hit for hit, own in zip(order, owners, strict=True) if own == n] for n in range(4)]
    limit = chooser.choice([1, 7, 20, 60, 100])
    assert merged(rankings, moments, limit)[0] == order[:limit]


def test_moments_are_asked_for_where_scores_are_equal_alone() -> None:
    one = [Scored("a", 3.0), Scored("b", 2.0), Scored("c", 1.0)]
    other = [Scored("d", 2.5), Scored("e", 2.0), Scored("f", 0.5)]
    best, asked = merged([one, other], {"b": 1, "e": 2}, 3)
    assert [hit.id for hit in best] == ["a", "d", "e"]
    assert sorted(asked) == ["b", "e"]
