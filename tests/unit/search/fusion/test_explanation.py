"""What signals say of hits: told of all when the first is asked about, and sent as one table."""

import pickle
from collections.abc import Sequence

import numpy as np
import pytest

from service.index.evidence import Floats, Question
from service.index.numbered import Hits
from service.records import Concept
from service.search.fusion import explanation
from service.search.fusion.explanation import Explanation
from service.search.fusion.graph_paths import Trail
from service.search.fusion.places import Rows, places_of
from service.search.fusion.rrf import Fused, LateSignals, SignalHit
from service.search.fusion.scoring import Scale, Scores, SignalValues
from service.search.signals.registry import WEIGHTS
from service.search.signals.signal import Candidates
from tests.unit.search.fusion.test_scoring import chain

_HITS = (2, 0, 1)


def explained(shown: int = 3) -> Explanation:
    """Return what is said of three memories: words found m0, meaning m1, neither m2."""
    values = SignalValues.of(chain([[3], [1], [2]], [3, 3, 3], [0.2, 0.9, 0.5], is_chain=False))
    scores = Scores(["m0", "m1", "m2"])
    scores.add([0, 1, 2], values, Scale.of(values).shares(values, WEIGHTS))
    scores.add_share(1, "phrase", 2.0)
    scores.add_share(2, "phrase", 2.0)
    question = Question(("crane",), np.array([True]), np.ones(2, np.float32), {})
    candidates = Candidates(question, Hits([0], [107.3]), Hits([1], [0.9]), {})
    trail = Trail.begin("m1", 1, 3.0).to("m2", 2, Concept(("main", "gpu"), "GPU", 2), 5.0)
    return Explanation(scores, _HITS, shown, {2: trail}, {2: 0.25}, candidates)


def test_an_index_tells_its_own_rank_and_what_it_did_not_find_comes_behind() -> None:
    why = explained()
    found, alone = why.signals(1), why.signals(0)
    assert (found["text"].rank, found["text"].score) == (1, 107.3)
    assert alone["text"].rank == 2
    assert alone["vector"].rank == 2
    assert why.signals(1)["vector"].rank == 3
    assert why.signals(2)["text"].rank == 3
    # Equal bonuses go by id; what signals nothing is not there.
    assert why.signals(2)["phrase"] == SignalHit(1, 2.0, share=2.0)
    assert alone["phrase"] == SignalHit(2, 2.0, share=2.0)
    assert "phrase" not in found
    assert "speaker" not in found
    assert alone["graph"].path == ("m1", "GPU")
    assert (alone["graph"].rank, alone["graph"].share) == (1, 0.25)
    assert all(said.path is None for name, said in alone.items() if name != "graph")


@pytest.fixture
def worked_out(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the numbers of hits of which it was worked out what is said, as they come."""
    asked = list[int]()

    def counted(values: Floats, columns: Rows, keys: Sequence[str]) -> Rows:
        asked.append(len(columns))
        return places_of(values, columns, keys)

    monkeypatch.setattr(explanation, "places_of", counted)
    return asked


def test_nothing_is_worked_out_until_somebody_looks_and_then_once(worked_out: list[int]) -> None:
    why = explained()
    hits = [Fused(f"m{place}", 1.0, LateSignals(why.signals, n)) for n, place in enumerate(_HITS)]
    assert worked_out == []
    assert all(dict(hit.signals) for hit in hits)
    assert worked_out == [3]


def test_of_those_that_are_not_shown_nothing_is_worked_out_until_one_is(
    worked_out: list[int],
) -> None:
    whole = [explained().signals(hit) for hit in range(3)]
    why = explained(shown=2)
    worked_out.clear()
    assert [why.signals(hit) for hit in (1, 0)] == [whole[1], whole[0]]
    assert worked_out == [2]
    assert [why.signals(hit) for hit in (2, 0)] == [whole[2], whole[0]]
    assert worked_out == [2, 3]


def test_hits_that_were_sent_say_the_same_and_share_one_table() -> None:
    why = explained()
    hits = [Fused(f"m{place}", 1.0, LateSignals(why.signals, n)) for n, place in enumerate(_HITS)]
    body = pickle.dumps(hits)
    assert body.count(b"SignalTable") == 1
    sent = pickle.loads(body)  # noqa: S301 - its own
    assert [dict(hit.signals) for hit in sent] == [why.signals(n) for n in range(3)]
