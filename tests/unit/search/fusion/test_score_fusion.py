"""The order that fusion by score gives where scores do not tell."""

from service.index.evidence import Question
from service.search.fusion.score_fusion import Candidates, _fused, _Scores


def test_equal_scores_stand_in_the_order_of_their_ids() -> None:
    scores = _Scores()
    for key in ("b", "c", "a"):
        scores.total[key], scores.shares[key], scores.values[key] = 0.0, {}, {}
        for name in ("vector", "text"):
            scores.add_to(key, name, 0.5)
            scores.values[key][name] = 0.5
    found = Candidates(Question.read("kettle", None), text=(), vector=(), caps={})
    assert [hit.id for hit in _fused(scores, {}, found, 2)] == ["a", "b"]
