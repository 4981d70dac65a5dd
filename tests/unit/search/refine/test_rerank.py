"""The reranker's word beside the fused order, worked by hand."""

import math
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.records import Memory
from service.search.fusion.ranked import Ranked
from service.search.fusion.rrf import Fused, SignalHit
from service.search.refine.rerank import blended, clipped, document_of, is_found_by_graph
from service.text.tokens import estimate_prompt_tokens

_AT = datetime(2026, 2, 13, 12, tzinfo=UTC)


def _hit(key: str, **ranks: int) -> Ranked:
    memory = Memory(key, "main", "note", "semantic", "", key, _AT, _AT, _AT)
    return Ranked(memory, Fused(key, 1.0, {n: SignalHit(r, 0.5) for n, r in ranks.items()}))


def _ids(hits: list[Ranked]) -> str:
    return "".join(hit.memory.id for hit in hits)


def _hits(keys: str) -> list[Ranked]:
    return [_hit(key, text=place) for place, key in enumerate(keys, 1)]


def test_by_hand() -> None:
    # Places are worth 0.4, 0.22, 0.04. The last needs more than 0.6 of probability ahead.
    assert _ids(blended(_hits("abc"), [0.0, 0.0, 0.59])) == "abc"[0] + "cb"
    assert _ids(blended(_hits("abc"), [0.0, 0.0, 0.61])) == "cab"
    assert _ids(blended(_hits("abc"), [0.2, 0.4, 0.4])) == "abc"
    assert _ids(blended(_hits("abc"), [0.0, 0.5, 0.4])) == "bac"


def test_a_reranker_that_is_sure_of_nothing_changes_nothing() -> None:
    assert _ids(blended(_hits("abcde"), [0.001, 0.003, 0.002, 0.009, 0.02])) == "abcde"
    assert _ids(blended(_hits("abcde"), [0.5] * 5)) == "abcde"


def test_logits_become_probabilities() -> None:
    assert _ids(blended(_hits("abc"), [-11.0, -10.9, 7.7])) == "cab"
    assert _ids(blended(_hits("abc"), [-11.0, -10.9, -9.0])) == "abc"
    assert _ids(blended(_hits("ab"), [-1e300, 1e300])) == "ba"
    # Of 0.5 and 0.88, and with one among them that could be a probability, of 0.62 and 1.
    assert _ids(blended(_hits("ab"), [0.0, 2.0])) == "ab"
    assert _ids(blended(_hits("ab"), [0.5, 30.0])) == "ab"


def test_the_reranker_is_one_more_signal() -> None:
    told = {hit.memory.id: hit.fused.signals for hit in blended(_hits("abc"), [0.1, 0.9, 0.5])}
    assert told["b"] == {"text": SignalHit(2, 0.5), "rerank": SignalHit(1, 0.9)}
    assert {key: signals["rerank"].rank for key, signals in told.items()} == {
        "a": 3, "b": 1, "c": 2,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("ranks", "found"),
    [
        ({"graph": 7}, True),
        ({"graph": 2, "text": 3, "vector": 9}, True),
        ({"graph": 1, "text": 1}, False),
        ({"graph": 4, "text": 2}, False),
        ({"text": 1}, False),
        ({}, False),
    ],
)
def test_what_the_graph_found(ranks: dict[str, int], found: bool) -> None:
    assert is_found_by_graph(_hit("a", **ranks).fused) is found


def test_what_the_graph_found_keeps_its_place() -> None:
    hits = [_hit("a", text=1), _hit("g", graph=2), _hit("c", text=2), _hit("h", graph=3, vector=9)]
    assert _ids(blended(hits, [0.0, 0.0, 1.0, 0.0])) == "cgah"
    assert _ids(blended(hits, [0.0, 1.0, 0.1, 1.0])) == "agch"


@given(st.lists(st.tuples(st.floats(-50, 50), st.booleans()), max_size=12))
def test_none_is_lost_or_doubled_and_graph_hits_stay(told: list[tuple[float, bool]]) -> None:
    hits = [
        _hit(str(place), **({"graph": 1} if by_graph else {"text": place + 1}))
        for place, (_, by_graph) in enumerate(told)
    ]
    after = [hit.memory.id for hit in blended(hits, [score for score, _ in told])]
    assert sorted(after, key=int) == [hit.memory.id for hit in hits]
    assert all(after[place] == str(place) for place, (_, stays) in enumerate(told) if stays)


def test_a_document_has_its_day_its_headings_and_its_text() -> None:
    memory = Memory(
        "m", "main", "note", "semantic", "VRAM", "It is full.", _AT, _AT, _AT,
        heading_path=("Driver", "VRAM"),
    )  # fmt: skip
    assert document_of(memory) == "2026-02-13 Driver / VRAM\nIt is full."
    assert document_of(replace(memory, title="")) == document_of(memory)


@pytest.mark.parametrize("letter", ["a", "백", "中", "aa백 "])
def test_long_texts_are_cut_to_what_a_cross_encoder_reads(letter: str) -> None:
    cut = clipped(letter * 5000)
    assert estimate_prompt_tokens(cut) <= 400
    assert math.isclose(estimate_prompt_tokens(cut), 400, rel_tol=0.03)
    assert clipped("short") == "short"
    assert len(clipped(f"A{' ' * 5000}")) == 1600, "blanks are hardly any tokens"


@given(st.text(max_size=3000))
def test_a_cut_text_is_the_beginning(text: str) -> None:
    assert text.startswith(clipped(text))
