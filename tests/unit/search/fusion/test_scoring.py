"""The default fusion's signals and their shares, by numbers worked out by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.index.evidence import Corpus, Evidence, Question, join
from service.index.resident.values import VALUES
from service.search.fusion.scoring import Scale, Scores, SignalValues
from service.search.signals.features import REACH
from service.search.signals.registry import BONUSES, SIGNALS, WEIGHTS, weights_of
from tests.effort import examples

_TOLERANCE = 1e-5


def corpus_of(holders: list[int], documents: int = 10, words: float = 100.0) -> Corpus:
    """Return what is known of words that so many memories hold."""
    frequencies = np.array(holders, np.float32)
    is_word = np.ones(len(holders), np.bool_)
    return Corpus(frequencies, np.zeros_like(frequencies), is_word, documents, words)


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
        keys=tuple(f"m{row}" for row in range(size)),
        within=(size, size, size),
        before=ways[0],
        after=ways[1],
        values={
            **{name: np.zeros(size, np.float32) for name in VALUES},
            "votes": np.zeros((size, 2), np.int32),
            "counts": table,
            "named_words": np.zeros_like(table, np.bool_),
            "mentioned_words": np.zeros_like(table, np.bool_),
            "lengths": np.array(lengths, np.float32),
            "cosines": np.array(cosines, np.float32),
            "is_turn": np.full(size, is_chain),
        },
        corpus=corpus_of((table > 0).sum(axis=0).tolist()),
    )


def only(name: str) -> dict[str, float]:
    """Return weights by which one signal counts, 1, and no other."""
    return dict.fromkeys(WEIGHTS, 0.0) | {name: 1.0}


def bm25(tf: float, holders: int, length: float, average: float = 10.0, size: int = 10) -> float:
    """Return one word's share, as the formula is written."""
    if not tf:
        return 0.0
    idf = math.log(1 + (size - holders + 0.5) / (holders + 0.5))
    damped = 1 + math.log(tf)
    return idf * damped * 2.2 / (damped + 1.2 * (0.25 + 0.75 * length / average))


def test_words_are_bm25() -> None:
    values = SignalValues.of(chain([[1, 0], [3, 1], [0, 0]], [5, 20, 7], [0, 0, 0]))
    by_hand = [bm25(1, 2, 5), bm25(3, 2, 20) + bm25(1, 1, 20), 0.0]
    assert values.by_signal["text"].tolist() == pytest.approx(by_hand, rel=_TOLERANCE)
    # A text of average length with each word once.
    assert values.features.whole == pytest.approx(bm25(1, 2, 10) + bm25(1, 1, 10), rel=_TOLERANCE)


def test_in_context_a_memory_and_its_neighbours_are_one_text() -> None:
    values = SignalValues.of(chain([[1], [0], [0]], [4, 6, 8], [0, 0, 0]))
    # Contexts have 2, 3 and 2 texts; ends of a chain are measured as the mean of them.
    average = 10 * 7 / 3
    by_hand = [bm25(1, 1, 10, average), bm25(1, 1, 18, average), 0.0]
    assert values.by_signal["text_context"].tolist() == pytest.approx(by_hand, rel=_TOLERANCE)
    far = [bm25(1, 1, 18, 30)] * 3
    assert values.by_signal["text_far_context"].tolist() == pytest.approx(far, rel=_TOLERANCE)


def test_meaning_is_smoothed_over_neighbours_and_less_at_the_ends() -> None:
    values = SignalValues.of(chain([[0]] * 3, [1] * 3, [0.9, 0.0, 0.3]))
    by_hand = [0.9 / 1.4, (0.4 * 0.9 + 0.4 * 0.3) / 1.8, 0.3 / 1.4]
    assert values.by_signal["vector_context"].tolist() == pytest.approx(by_hand, rel=_TOLERANCE)
    assert values.by_signal["vector"].tolist() == pytest.approx([0.9, 0.0, 0.3])


def test_alone_a_memory_is_its_own_context_and_its_parts_count_more() -> None:
    values = SignalValues.of(chain([[2]], [12], [0.5], is_chain=False))
    assert values.features.closeness.tolist() == [0.0]
    assert values.by_signal["vector_context"].tolist() == [0.5]
    assert values.by_signal["text_context"].tolist() == values.by_signal["text"].tolist()
    assert values.by_signal["text_far_context"].tolist() == [0]
    shares = Scale.of(values).shares(values, only("vector"))
    assert shares["vector"].tolist() == pytest.approx([1.8 * 0.5])


def test_a_short_turn_counts_less_whatever_speaks_for_it_and_a_short_note_does_not() -> None:
    lengths = [0, 1, 12, 40, 400]
    turns = SignalValues.of(chain([[0]] * 5, lengths, [0.5] * 5))
    by_hand = [1 - 0.5 * (1 - math.log1p(min(n, 40)) / math.log(41)) for n in lengths]
    shares = Scale.of(turns).shares(turns, only("vector"))["vector"].tolist()
    assert shares == pytest.approx([0.5 * each for each in by_hand], rel=_TOLERANCE)
    assert by_hand[0] == 0.5
    notes = SignalValues.of(chain([[0]] * 5, lengths, [0.5] * 5, is_chain=False))
    assert notes.features.brevity.tolist() == [0] * 5


def test_no_vector_is_no_meaning_and_against_is_none_either() -> None:
    values = SignalValues.of(chain([[0]] * 2, [1] * 2, [math.nan, -0.7]))
    assert values.by_signal["vector"].tolist() == [0, 0]
    assert values.by_signal["vector_context"].tolist() == [0, 0]


def test_the_nearest_counts_in_full_and_what_is_less_near_much_less() -> None:
    values = SignalValues.of(chain([[0]] * 4, [1] * 4, [0.8, 0.6, 0.4, -0.8], is_chain=False))
    shares = Scale.of(values).shares(values, only("nearest"))["nearest"].tolist()
    full = 1.8
    assert shares == pytest.approx([full, full * 0.75**4, full * 0.5**4, 0], rel=_TOLERANCE)


def test_where_even_the_nearest_is_far_it_counts_little() -> None:
    values = SignalValues.of(chain([[0]] * 2, [1] * 2, [0.3, math.nan], is_chain=False))
    shares = Scale.of(values).shares(values, only("nearest"))["nearest"].tolist()
    assert shares == pytest.approx([1.8 * (0.3 / 0.5) ** 4, 0], rel=_TOLERANCE)


def test_words_count_in_shares_of_the_greatest_or_of_enough() -> None:
    weights = only("text")
    many = SignalValues.of(chain([[1, 1], [1, 0]], [5, 5], [0, 0], is_chain=False))
    most, less = Scale.of(many).shares(many, weights)["text"].tolist()
    assert most == pytest.approx(1.8)
    told = many.by_signal["text"]
    assert less == pytest.approx(1.8 * told[1] / told[0], rel=_TOLERANCE)
    # Only the commonest of three words stands anywhere: that is not all there could be.
    few = chain([[1, 0, 0]], [10], [0], is_chain=False)
    values = SignalValues.of(few)
    expected = 1.8 * float(values.by_signal["text"][0]) / (0.6 * values.features.whole)
    assert Scale.of(values).shares(values, weights)["text"].tolist() == pytest.approx([expected])
    assert expected < 1.8


def test_frequencies_above_all_documents_leave_words_without_weight_but_never_against() -> None:
    odd = chain([[1], [1]], [5, 5], [0, 0])
    corpus = corpus_of([9], documents=0, words=0.0)
    values = SignalValues.of(replace(odd, corpus=corpus))
    assert all(value >= 0 for value in values.by_signal["text"].tolist())


def test_a_question_without_words_and_a_store_without_memories() -> None:
    wordless = SignalValues.of(chain([[], []], [3, 0], [0.5, 0.1]))
    assert wordless.by_signal["text"].tolist() == [0, 0]
    assert wordless.features.whole == 0
    nothing = SignalValues.of(chain([], [], []))
    shares = Scale.of(nothing).shares(nothing, WEIGHTS)
    assert all(len(share) == 0 for share in shares.values())


def test_equal_memories_have_equal_scores_wherever_they_stand() -> None:
    chance = np.random.default_rng(1)
    counts = chance.integers(0, 4, (97, 11)).tolist()
    counts[5] = counts[40] = counts[96]
    evidence = chain(counts, [9] * 97, [0.25] * 97, is_chain=False)
    text = SignalValues.of(evidence).by_signal["text"].tolist()
    assert text[5] == text[40] == text[96]


def test_the_best_come_first_of_equal_ones_the_newest_then_by_id() -> None:
    scores = Scores("xdxbca")
    scores.numbers, scores.moments = [1, 3, 4, 5], [7, 7, 1, 5]
    assert [scores.names[place] for place in scores.best([1.0, 1.0, 2.0, 1.0], 9)] == list("cbda")
    assert [scores.names[place] for place in scores.best([1.0, 1.0, 2.0, 1.0], 2)] == list("cb")


def test_a_requests_weights_are_factors() -> None:
    weights = weights_of({"vector": 0.5, "text": 2, "graph": 9}, Question.read("memory", None))
    factors = {name: weight / WEIGHTS[name] for name, weight in weights.items()}
    assert {factors[name] for name in ("vector", "vector_context", "nearest")} == {0.5}
    assert {factors[name] for name in ("text", "text_context", "text_far_context")} == {2}
    assert factors["coverage"] == 2
    assert {factors[name] for name in ("named", "speaker")} == {1}


def alone(counts: list[list[int]], named: list[list[int]], holders: list[int]) -> SignalValues:
    """Return what signals make of notes of one length; `named` words are those of their titles."""
    evidence = chain(counts, [10] * len(counts), [0.0] * len(counts), is_chain=False)
    values = {
        **evidence.values,
        "is_turn": np.zeros(len(counts), np.bool_),
        "is_named": np.array([any(words) for words in named]),
        "named_words": np.array(named, np.bool_),
    }
    corpus = corpus_of(holders)
    return SignalValues.of(replace(evidence, values=values, corpus=corpus))


def with_plain(values: SignalValues, plain: list[bool]) -> SignalValues:
    """Return the same of a question of which these words are plain."""
    evidence = values.features.evidence
    corpus = replace(evidence.corpus, plain=np.array(plain))
    return SignalValues.of(replace(evidence, corpus=corpus))


def idf(holders: int, size: int = 10) -> float:
    """Return what a word tells, as the formula is written."""
    return math.log(1 + (size - holders + 0.5) / (holders + 0.5))


def test_coverage_is_what_is_held_of_all_that_the_words_tell() -> None:
    # The third word stands nowhere. As a part of a token of code it tells nothing of any of them.
    every = alone([[1, 2, 0], [0, 4, 0], [7, 0, 0], [0, 0, 0]], [[0, 0, 0]] * 4, [8, 1, 0])
    values = with_plain(every, [True, True, False])
    rare, common = (idf(n) / (idf(8) + idf(1)) for n in (1, 8))
    assert values.features.coverage.tolist() == pytest.approx([1, rare, common, 0], rel=_TOLERANCE)
    assert rare**8 > 0.001 > common**8
    expected = pytest.approx([1, rare**8, 0, 0], rel=_TOLERANCE)
    assert values.by_signal["coverage"].tolist() == expected
    # As a word it tells as much as one that a memory alone could hold, and each lacks it.
    both, rare, common = (idf(8) + idf(1), idf(1), idf(8))
    by_hand = [told / (both + idf(0)) for told in (both, rare, common, 0)]
    assert every.features.coverage.tolist() == pytest.approx(by_hand, rel=_TOLERANCE)
    for one in (values, every):
        assert one.features.holds_all.tolist() == [True, False, False, False]


def test_who_mentions_a_concept_by_another_name_holds_the_words_of_its_name() -> None:
    # Of "minsu database migration" the last two name a concept that three memories mention.
    values = alone([[1, 0, 0], [1, 0, 0], [0, 0, 0]], [[0, 0, 0]] * 3, [4, 0, 0])
    third = pytest.approx(idf(4) / (idf(4) + 2 * idf(0)), rel=_TOLERANCE)
    assert values.features.coverage.tolist() == [third, third, 0]
    evidence = values.features.evidence
    mentioned = np.array([[0, 0, 0], [0, 1, 1], [0, 1, 1]], np.bool_)
    values = SignalValues.of(
        replace(
            evidence,
            values={**evidence.values, "mentioned_words": mentioned},
            corpus=replace(evidence.corpus, mentions=np.array([0, 3, 3], np.float32)),
        )
    )
    whole = idf(4) + 2 * idf(3)
    by_hand = [idf(4) / whole, 1, 2 * idf(3) / whole]
    assert values.features.coverage.tolist() == pytest.approx(by_hand, rel=_TOLERANCE)
    assert values.features.holds_all.tolist() == [False, True, False]


def test_a_name_counts_by_what_its_words_tell_beyond_coverage() -> None:
    counts, named = [[1, 0], [0, 1], [1, 1], [1, 1]], [[1, 0], [0, 1], [1, 0], [0, 0]]
    values = alone(counts, named, [6, 2])
    common, rare = (idf(n) / (idf(6) + idf(2)) for n in (6, 2))
    assert common**8 < 0.001  # which counts as none
    by_hand = [common, rare - rare**8, common, 0]
    assert values.by_signal["named"].tolist() == pytest.approx(by_hand, rel=_TOLERANCE)
    assert values.by_signal["speaker"].tolist() == [0, 0, 0, 0]


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 9))
@settings(max_examples=examples(50), deadline=None)
def test_no_title_lifts_a_memory_above_one_that_holds_every_word(
    first: int, second: int, third: int
) -> None:
    values = alone([[1, 1, 1], [1, 1, 0]], [[0, 0, 0], [1, 1, 0]], [first, second, third])
    shares = Scale.of(values).shares(values, WEIGHTS)
    whole, titled = (
        sum(float(shares[name][row]) for name in ("coverage", "named")) for row in (0, 1)
    )
    assert whole >= titled


def test_who_speaks_in_a_turn_is_named_and_a_turn_has_no_title() -> None:
    turns = chain([[1], [1]], [5, 5], [0, 0])
    named = {"is_named": np.array([True, False]), "named_words": np.array([[True], [False]])}
    values = SignalValues.of(replace(turns, values={**turns.values, **named}))
    assert values.by_signal["speaker"].tolist() == [1, 0]
    assert values.by_signal["named"].tolist() == [0, 0]


def test_words_of_hangul_and_han_count_seven_times_as_much() -> None:
    for text, factor in (("memory", 1), ("기억", 7), ("기억 memory", 4)):
        weights = weights_of({"vector": 1, "text": 1}, Question.read(text, None))
        assert weights["text_context"] == pytest.approx(factor * WEIGHTS["text_context"])
        assert weights["vector"] == WEIGHTS["vector"]


@settings(max_examples=examples(50))
@given(st.lists(st.tuples(st.integers(0, 9), st.floats(-1, 1)), min_size=1, max_size=12))
def test_shares_are_never_negative_and_never_beyond_their_weights(
    rows: list[tuple[int, float]],
) -> None:
    evidence = chain([[tf] for tf, _ in rows], [10] * len(rows), [cos for _, cos in rows])
    values = SignalValues.of(evidence)
    for name, share in Scale.of(values).shares(values, WEIGHTS).items():
        assert share.min() >= 0
        assert share.max() <= 1.8 * WEIGHTS[name] * (1 + 1e-6)


def test_values_of_two_agents_are_those_of_one() -> None:
    one = chain([[1], [2]], [4, 6], [0.2, 0.4])
    joined = SignalValues.of(join([one, one]))
    assert joined.by_signal["vector"].tolist() == pytest.approx([0.2, 0.4, 0.2, 0.4])
    # Twice the documents, twice the holders: nearly the same idf.
    alone = bm25(1, 4, 4, 10, 20)
    assert joined.by_signal["text"].tolist()[0] == pytest.approx(alone, rel=_TOLERANCE)


def test_a_section_stands_mostly_on_its_own_and_a_turn_on_its_context() -> None:
    turns = chain([[0], [3]], [10, 10], [0.2, 0.6])
    sections = replace(turns, values={**turns.values, "is_turn": np.zeros(2, np.bool_)})
    scores = {}
    for name, evidence in (("turn", turns), ("section", sections)):
        values = SignalValues.of(evidence)
        shares = Scale.of(values).shares(values, WEIGHTS)
        scores[name] = sum(share[0] for share in shares.values())
        assert values.features.closeness.tolist() == [1.0 if name == "turn" else 0.25] * 2
    # The first text holds no word of the question: what it has of words is its neighbour's.
    assert scores["turn"] > scores["section"]


def test_every_signal_has_a_name_of_its_own() -> None:
    names = [*(signal.name for signal in SIGNALS), *(bonus.name for bonus in BONUSES)]
    assert len({*names, "graph", "rerank"}) == len(names) + 2
