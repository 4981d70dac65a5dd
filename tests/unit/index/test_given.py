"""Which concepts of one name are looked for beyond the words: those that a memory lacks."""

import numpy as np

from service.index.evidence import Question
from service.index.given import are_looked_up, given
from service.records import Concept

POD, NODE = (Concept(("main", slug), slug, 2) for slug in ("pod_count", "node"))


def test_a_concept_is_given_where_one_of_its_words_is_lacking() -> None:
    named = {POD: frozenset({0, 2}), NODE: frozenset({1})}
    counts = np.array([[1, 0, 0], [3, 1, 1]], np.float32)
    assert given(named, {POD: counts, NODE: counts[1:]}) == {POD: frozenset({0, 2})}
    assert given(named, {POD: counts[1:], NODE: counts}) == {NODE: frozenset({1})}
    assert given(named, {POD: counts[:0], NODE: counts[:0]}) == {}


def test_of_a_pasted_text_no_concept_is_looked_up() -> None:
    assert are_looked_up(Question.read("which pods are on this node", None))
    pasted = " ".join(f"word{number}" for number in range(100))
    assert not are_looked_up(Question.read(pasted, None))
