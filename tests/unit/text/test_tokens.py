"""The estimate of tokens: what it counts, and the properties cutting relies on."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.text.tokens import estimate_tokens, tokens_in_bytes


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("   \n\t", 0),
        ("a short note", 3),
        ("configuration", 3),  # thirteen letters: three begun sixes
        ("src/app.py:12", 7),
        ("한국어 메모", 5),
        ("東京に行った。", 7),
        ("snake_case", 3),
        ("x" * 600, 100),
    ],
)
def test_counts(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@settings(deadline=None)
@given(st.text())
def test_is_never_above_the_number_of_characters(text: str) -> None:
    assert estimate_tokens(text) <= len(text)


@settings(deadline=None)
@given(st.lists(st.text()))
def test_sums_over_lines(lines: list[str]) -> None:
    assert estimate_tokens("\n".join(lines)) == sum(map(estimate_tokens, lines))


def test_bytes_alone_give_an_estimate_that_is_rounded_down() -> None:
    assert [tokens_in_bytes(size) for size in (0, 3, 4, 11, 4000)] == [0, 0, 1, 2, 1000]
