"""Words are found wherever they stand, and no others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.sanitise.word_finder import WordFinder

WORDS = st.text("abc ", min_size=1, max_size=5)


@given(st.lists(WORDS), st.text("abc ", max_size=30))
def test_those_are_found_that_stand_in_the_text(words: list[str], text: str) -> None:
    assert WordFinder(words).words_in(text) == {word for word in words if word in text}


@pytest.mark.parametrize("text", ["", "a", "ab"])
def test_the_shortest_texts_hold_the_shortest_words(text: str) -> None:
    assert WordFinder(["a", "ab", "abc"]).words_in(text) == {
        word for word in ("a", "ab") if word in text
    }
