"""The default fusion's parts, by numbers worked out by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.index.evidence import Evidence, join
from service.search.fusion.scoring import REACH, WEIGHTS, Parts, Scale, Weights
from tests.effort import examples

_TOLERANCE = 1e-5


def chain(
    counts: list[list[int]], lengths: list[int], cosines: list[float], *, is_chain: bool = True
) -> Evidence:
    """Return evidence of memories one after the other, all of them asked about."""
    size = len(counts)
    ways = np.full((2, size, REACH), -1, np.int32)
    for row in range(size if is_chain else 0):
        for step in range(1, REACH + 1):
            ways[0, row, step - 1] = row - step if row >= step else -1
            ways[1, row, step - 1] = row + step if row + step < size else -1
    table = np.array(counts, np.float32).reshape(size, len(counts[0]) if counts else 1)
    return Evidence(
        keys=tuple(f"m{row}" for row in range(size)), asked=size, counts=table,
        lengths=np.array(lengths, np.float32), cosines=np.array(cosines, np.float32),
        is_named=np.zeros(size, np.bool_),
        is_turn=np.ones(size, np.bool_), before=ways[0], after=ways[1],
        holders=(table > 0).sum(axis=0).astype(np.float32), documents=10, words=100.0,
    )  # fmt: skip


def bm25(tf: float, holders: int, length: float, average: float = 10.0, size: int = 10) -> float:
    """Return one word's share, as the formula is written."""
    if not tf:
        return 0.0
    idf = math.log(1 + (size - holders + 0.5) / (holders + 0.5))
    damped = 1 + math.log(tf)
    return idf * damped * 2.2 / (damped + 1.2 * (0.25 + 0.75 * length / average))


def test_words_are_bm25() -> None:
    parts = Parts.of(chain([[1, 0], [3, 1], [0, 0]], [5, 20, 7], [0, 0, 0]))
    by_hand = [bm25(1, 2, 5), bm25(3, 2, 20) + bm25(1, 1, 20), 0.0]
    assert parts.values["text"].tolist() == pytest.approx(by_hand, rel=_TOLERANCE)
    # A text of average length with each word once.
    assert parts.whole == pytest.approx(bm25(1, 2, 10) + bm25(1, 1, 10), rel=_TOLERANCE)


def test_in_context_a_memory_and_its_neighbours_are_one_text() -> None:
    parts = Parts.of(chain([[1], [0], [0]], [4, 6, 8], [0, 0, 0]))
    # Contexts have 2, 3 and 2 texts; ends of a chain are measured as the mean of them.
    average = 10 * 7 / 3
    by_hand = [bm25(1, 1, 10, average), bm25(1, 1, 18, average), 0.0]
    assert parts.values["text_context"].tolist() == pytest.approx(by_hand, rel=_TOLERANCE)
    far = [bm25(1, 1, 18, 30)] * 3
    assert parts.values["text_far_context"].tolist() == pytest.approx(far, rel=_TOLERANCE)


def test_meaning_is_smoothed_over_neighbours_and_less_at_the_ends() -> None:
    parts = Parts.of(chain([[0]] * 3, [1] * 3, [0.9, 0.0, 0.3]))
    by_hand = [0.9 / 1.4, (0.4 * 0.9 + 0.4 * 0.3) / 1.8, 0.3 / 1.4]
    assert parts.values["vector_context"].tolist() == pytest.approx(by_hand, rel=_TOLERANCE)
    assert parts.values["vector"].tolist() == pytest.approx([0.9, 0.0, 0.3])


def test_alone_a_memory_is_its_own_context_and_its_parts_count_more() -> None:
    parts = Parts.of(chain([[2]], [12], [0.5], is_chain=False))
    assert parts.closeness.tolist() == [0.0]
    assert parts.values["vector_context"].tolist() == [0.5]
    assert parts.values["text_context"].tolist() == parts.values["text"].tolist()
    assert parts.values["text_far_context"].tolist() == [0]
    shares = Scale.of(parts).shares(parts, Weights(1, 0, 0, 0, 0, 0))
    assert shares["vector"].tolist() == pytest.approx([1.8 * 0.5])


def test_no_vector_is_no_meaning_and_against_is_none_either() -> None:
    parts = Parts.of(chain([[0]] * 2, [1] * 2, [math.nan, -0.7]))
    assert parts.values["vector"].tolist() == [0, 0]
    assert parts.values["vector_context"].tolist() == [0, 0]


def test_words_count_in_shares_of_the_greatest_or_of_enough() -> None:
    weights = Weights(0, 0, 1, 0, 0, 0)
    many = Parts.of(chain([[1, 1], [1, 0]], [5, 5], [0, 0], is_chain=False))
    most, less = Scale.of(many).shares(many, weights)["text"].tolist()
    assert most == pytest.approx(1.8)
    told = many.values["text"]
    assert less == pytest.approx(1.8 * told[1] / told[0], rel=_TOLERANCE)
    # Only the commonest of three words stands anywhere: that is not all there could be.
    few = chain([[1, 0, 0]], [10], [0], is_chain=False)
    parts = Parts.of(few)
    expected = 1.8 * float(parts.values["text"][0]) / (0.6 * parts.whole)
    assert Scale.of(parts).shares(parts, weights)["text"].tolist() == pytest.approx([expected])
    assert expected < 1.8


def test_holders_above_all_documents_leave_words_without_weight_but_never_against() -> None:
    odd = chain([[1], [1]], [5, 5], [0, 0])
    values = Parts.of(
        Evidence(
            odd.keys, 2, odd.counts, odd.lengths, odd.cosines, odd.is_named, odd.is_turn,
            odd.before, odd.after,
            holders=np.array([9], np.float32), documents=0, words=0.0,
        )
    ).values  # fmt: skip
    assert all(value >= 0 for value in values["text"].tolist())


def test_a_question_without_words_and_a_store_without_memories() -> None:
    wordless = Parts.of(chain([[], []], [3, 0], [0.5, 0.1]))
    assert wordless.values["text"].tolist() == [0, 0]
    assert wordless.whole == 0
    nothing = Parts.of(chain([], [], []))
    shares = Scale.of(nothing).shares(nothing, WEIGHTS)
    assert all(len(share) == 0 for share in shares.values())


def test_equal_memories_have_equal_scores_wherever_they_stand() -> None:
    chance = np.random.default_rng(1)
    counts = chance.integers(0, 4, (97, 11)).tolist()
    counts[5] = counts[40] = counts[96]
    evidence = chain(counts, [9] * 97, [0.25] * 97, is_chain=False)
    text = Parts.of(evidence).values["text"].tolist()
    assert text[5] == text[40] == text[96]


def test_a_requests_weights_are_factors() -> None:
    half = WEIGHTS.of(0.5, 2)
    assert (half.vector, half.vector_context) == (0.5, 0.25)
    assert half.text == 2 * WEIGHTS.text
    assert half.text_context == 2 * WEIGHTS.text_context
    assert half.text_far_context == 2 * WEIGHTS.text_far_context
    assert (half.named, half.phrase, half.time) == (
        WEIGHTS.named, WEIGHTS.phrase, WEIGHTS.time,
    )  # fmt: skip


@settings(max_examples=examples(50))
@given(st.lists(st.tuples(st.integers(0, 9), st.floats(-1, 1)), min_size=1, max_size=12))
def test_shares_are_never_negative_and_never_beyond_their_weights(
    rows: list[tuple[int, float]],
) -> None:
    evidence = chain([[tf] for tf, _ in rows], [10] * len(rows), [cos for _, cos in rows])
    parts = Parts.of(evidence)
    for name, share in Scale.of(parts).shares(parts, WEIGHTS).items():
        assert share.min() >= 0
        assert share.max() <= 1.8 * getattr(WEIGHTS, name) * (1 + 1e-6)


def test_parts_of_two_agents_are_those_of_one() -> None:
    one = chain([[1], [2]], [4, 6], [0.2, 0.4])
    joined = Parts.of(join([one, one]))
    assert joined.values["vector"].tolist() == pytest.approx([0.2, 0.4, 0.2, 0.4])
    # Twice the documents, twice the holders: nearly the same idf.
    alone = bm25(1, 4, 4, 10, 20)
    assert joined.values["text"].tolist()[0] == pytest.approx(alone, rel=_TOLERANCE)


def test_a_section_stands_mostly_on_its_own_and_a_turn_on_its_context() -> None:
    turns = chain([[0], [3]], [10, 10], [0.2, 0.6])
    sections = replace(turns, is_turn=np.zeros(2, np.bool_))
    scores = {}
    for name, evidence in (("turn", turns), ("section", sections)):
        parts = Parts.of(evidence)
        shares = Scale.of(parts).shares(parts, WEIGHTS)
        scores[name] = sum(share[0] for share in shares.values())
        assert parts.closeness.tolist() == [1.0 if name == "turn" else 0.25] * 2
    # The first text holds no word of the question: what it has of words is its neighbour's.
    assert scores["turn"] > scores["section"]
