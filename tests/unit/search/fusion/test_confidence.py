"""Certainty: numbers become a chance, more of any is no less sure, and they are those by hand."""

import math
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.index.evidence import Corpus, Evidence
from service.index.resident.values import VALUES
from service.search.fusion import confidence
from service.search.fusion.confidence import (
    Certainty,
    certainty_of,
    certainty_of_ranks,
    margin_of,
)
from service.search.fusion.rrf import Fused
from service.search.fusion.scoring import SignalValues

_COSINE = st.floats(-1, 1)
_SHARE = st.floats(0, 1)
_SPEAKER = st.none() | st.floats(-1, 1)


def evidence(counts: list[list[int]], cosines: list[float] | None = None) -> Evidence:
    """Return evidence of memories without neighbours; every word is as telling as the others."""
    table = np.array(counts, np.float32)
    size, words = table.shape
    alone = np.full((size, 1), -1, np.int32)
    return Evidence(
        keys=tuple(f"m{row}" for row in range(size)),
        within=(size, size, size),
        before=alone,
        after=alone,
        values={
            **{name: np.zeros(size, np.float32) for name in VALUES},
            "votes": np.zeros((size, 2), np.int32),
            "counts": table,
            "named_words": np.zeros_like(table, np.bool_),
            "mentioned_words": np.zeros_like(table, np.bool_),
            "lengths": np.full(size, 10, np.float32),
            "cosines": np.array(cosines or [np.nan] * size, np.float32),
        },
        corpus=Corpus(
            np.full(words, 2, np.float32),
            np.zeros(words, np.float32),
            np.ones(words, np.bool_),
            10,
            100.0,
        ),
    )


def conversation(counts: list[list[int]], speaks: list[bool]) -> Evidence:
    """Return evidence of turns; the question's first word is the name of some turns' speaker."""
    turns = evidence(counts)
    named = np.array(speaks)
    words = np.zeros_like(turns.values["counts"], np.bool_)
    words[named, 0] = True
    values = {**turns.values, "is_turn": np.ones(len(counts), np.bool_)}
    return replace(turns, values={**values, "is_named": named, "named_words": words})


def told(found: Evidence, first: list[int] | None = None) -> Certainty:
    """Return the certainty of an answer that has these rows, or all in their order."""
    rows = range(len(found.keys)) if first is None else first
    scores = [1 / (place + 1) for place in range(len(rows))]
    return certainty_of(SignalValues.of(found), rows, scores)


@given(st.none() | _COSINE, _SHARE, _SHARE, _SPEAKER)
def test_confidence_is_a_chance(
    cosine: float | None, coverage: float, margin: float, speaker: float | None
) -> None:
    assert 0 <= Certainty(cosine, coverage, margin, speaker).confidence <= 1


@given(st.none() | _COSINE, _SHARE, _SHARE, _SPEAKER, _SHARE)
def test_more_of_any_number_is_no_less_sure(
    cosine: float | None, coverage: float, margin: float, speaker: float | None, more: float
) -> None:
    here = Certainty(cosine, coverage, margin, speaker)
    for name, number in asdict(here).items():
        if number is not None:
            assert replace(here, **{name: number + more}).confidence >= here.confidence, name


def test_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confidence, "_WITH_VECTOR", (6.0, 5.0, 3.0, 0.0, -5.0))
    monkeypatch.setattr(confidence, "_BY_WORDS", (0.0, 6.0, 3.0, 0.0, -4.0))
    monkeypatch.setattr(confidence, "_OF_SPEAKER", (0.0, 3.0, 1.0, 0.5, -1.5))
    by_hand = {
        Certainty(0.5, 0.8, 0.2): 3 + 4 + 0.6 - 5,
        Certainty(None, 0.8, 0.2): 4.8 + 0.6 - 4,
        # Where the question names who speaks, meaning tells nothing.
        Certainty(0.5, 0.8, 0.2, -0.4): 2.4 + 0.2 - 0.2 - 1.5,
        Certainty(None, 0.8, 0.2, 0.0): 2.4 + 0.2 - 1.5,
    }
    for certainty, total in by_hand.items():
        assert certainty.confidence == round(1 / (1 + math.exp(-total)), 4), certainty


@pytest.mark.parametrize(
    ("scores", "margin"),
    [
        ([2.0, 1.5, 1.5, 1.2, 1.0, 0.0], 0.5),
        ([1.0, 1.0, 1.0, 1.0, 1.0], 0.0),
        # The others may have no score at all.
        ([1.0, 0.0, 0.0, 0.0, 0.0], 1.0),
        # Too few to tell, or nothing to take a share of: the usual one.
        ([], 0.2), ([3.0], 0.2), ([3.0, 2.0, 1.0, 0.5], 0.2), ([0.0] * 5, 0.2),
    ],
)  # fmt: skip
def test_the_margin_is_how_far_the_fifth_falls_behind(scores: list[float], margin: float) -> None:
    assert margin_of(scores) == margin


def test_coverage_is_of_the_best_of_the_first_five() -> None:
    found = evidence([[1, 0, 0, 0], [1, 3, 0, 0], *[[0, 0, 0, 1]] * 3, [1, 1, 1, 1]])
    assert told(found).coverage == pytest.approx(0.5)
    assert told(found, [5, 0, 1]).coverage == 1
    assert told(found, []).coverage == 0
    assert told(found).speaker is None


def test_a_word_that_no_memory_holds_is_not_covered() -> None:
    found = evidence([[1, 0], [1, 0]])
    unheard = replace(found, corpus=replace(found.corpus, document_frequencies=np.array([2, 0])))
    idf = [math.log(1 + (10 - holders + 0.5) / (holders + 0.5)) for holders in (2, 0)]
    assert told(unheard).coverage == pytest.approx(idf[0] / sum(idf), rel=1e-5)
    assert told(unheard).confidence < told(evidence([[1], [1]])).confidence


def test_a_word_that_tells_hardly_anything_is_covered_all_the_same() -> None:
    found = evidence([[1], [1]])
    everywhere = replace(found.corpus, document_frequencies=np.full(1, 10, np.float32))
    assert told(replace(found, corpus=everywhere)).coverage == 1


def test_a_question_that_tells_little_is_covered_as_far_as_something_is_near() -> None:
    """What holds "fix this" need not answer it; what is told of "gpu" is near to it as well."""
    idf = [math.log(1 + (10 - holders + 0.5) / (holders + 0.5)) for holders in (1, 2)]
    by_words = idf[1] / (1.8 * idf[0])
    for cosine, enough in ((0.1, by_words), (-0.9, by_words), (0.33, (0.33 / 0.37) ** 2), (0.5, 1)):
        found = evidence([[1], [0]], [cosine, -1.0])
        assert told(found).coverage == pytest.approx(enough, rel=1e-5), cosine
    assert told(evidence([[1] * 3], [0.1])).coverage == 1, "three words tell enough"
    assert told(evidence([[1]])).coverage == 1, "without a vector words are all there is"


def test_what_the_question_names_is_covered_however_little_it_tells() -> None:
    found = evidence([[1], [1]], [0.1, 0.1])
    named = replace(found, values={**found.values, "is_named": np.array([0, 1], np.float32)})
    assert told(named).coverage == 1
    assert told(named, [0]).coverage < 1, "the one that is named is not among the first"


def test_a_question_without_words_covers_nothing() -> None:
    assert told(evidence([[], []])).coverage == 0


def test_cosine_is_the_greatest_of_all_candidates_or_none() -> None:
    assert told(evidence([[1]] * 6, [0.1, 0.2, 0.1, 0.1, 0.1, 0.75])).cosine == 0.75
    assert told(evidence([[1]] * 2)).cosine is None


def test_neighbours_and_what_the_graph_led_to_are_no_candidates() -> None:
    found = evidence([[1, 0], [1, 0], [1, 1]], [0.1, 0.4, 0.9])
    alone = ("counts", "lengths", "cosines")
    values = {name: rows if name in alone else rows[:2] for name, rows in found.values.items()}
    said = told(replace(found, within=(2, 3, 3), values=values))
    assert said.cosine == pytest.approx(0.4)
    assert said.coverage == 0.5
    assert certainty_of(SignalValues.of(found), [3, 0], [1.0, 0.5]).coverage == 0.5


def test_what_another_said_is_no_evidence_of_a_named_speaker() -> None:
    """Both turns hold her name and the picture; one is hers, and the other is about her."""
    hers = conversation([[1, 1, 1], [1, 0, 0]], [True, False])
    others = conversation([[1, 0, 0], [1, 1, 1]], [True, False])
    assert (told(hers).coverage, told(hers).speaker) == (1, 1)
    assert (told(others).coverage, told(others).speaker) == (0, -1)
    assert told(hers).confidence > told(others).confidence


def test_the_speakers_turn_is_one_of_the_first_five_and_others_are_any_candidate() -> None:
    turns = [[1, 1, 0], *[[0, 0, 1]] * 4, [1, 1, 1], [0, 1, 1]]
    speaks = [True, *[False] * 4, True, False]
    said = told(conversation(turns, speaks))
    assert said.coverage == pytest.approx(0.5)
    assert said.speaker == pytest.approx(-0.5)


def test_what_nobody_says_is_not_held_against_a_speaker() -> None:
    found = conversation([[1, 1, 0], [0, 1, 1]], [True, False])
    section = {**found.values, "is_turn": np.array([True, False])}
    assert told(replace(found, values=section)).speaker == pytest.approx(0.5)
    assert told(found).speaker == pytest.approx(-0.5)


def test_a_name_alone_is_covered_by_the_name() -> None:
    assert told(conversation([[1], [0]], [True, False])) == Certainty(None, 1, 0.2, None)


def test_a_name_that_is_nobodys_turn_is_a_word_like_others() -> None:
    section = conversation([[1, 0], [0, 1]], [True, False])
    values = {**section.values, "is_turn": np.zeros(2, np.bool_)}
    assert told(replace(section, values=values)) == Certainty(None, 0.5, 0.2, None)


def test_by_rank_the_hits_are_as_sure_as_their_scores_would_be() -> None:
    found = evidence([[1, 1], *[[0, 1]] * 5], [0.9, 0.5, 0.1, 0.1, 0.1, 0.1])
    ranks = [Fused(key, 1.0, {}) for key in found.keys]
    said = certainty_of_ranks(found, ranks)
    assert said is not None
    assert said.cosine == pytest.approx(0.9)
    assert said.coverage == 1
    assert said.margin > 0.2, "equal ranks have no margin, their scores have one"
    turned = evidence([*[[0, 1]] * 5, [1, 1]], [0.1, 0.1, 0.1, 0.1, 0.5, 0.9])
    again = certainty_of_ranks(turned, ranks)
    assert again is not None
    assert again.margin == pytest.approx(said.margin), "of scores in their order, not of ranks"
    assert certainty_of_ranks(replace(found, within=(0, 0, 0)), []) is None
