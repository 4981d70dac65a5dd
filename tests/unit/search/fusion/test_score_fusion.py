"""The order that fusion by score gives where scores do not tell."""

from service.search.fusion.score_fusion import best_first


def test_equal_scores_stand_in_the_order_of_their_ids() -> None:
    assert best_first({"b": 1.0, "c": 2.0, "a": 1.0}) == ["c", "a", "b"]
