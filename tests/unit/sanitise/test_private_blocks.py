"""Private blocks: none of their words is left, and lines stay where they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from service.errors import TextRefused
from service.sanitise.private_blocks import without_private
from service.sanitise.sanitiser import Sanitiser


@pytest.mark.parametrize(
    ("text", "expected", "count"),
    [
        ("a <private>b</private> c", "a  c", 1),
        ("a <PRIVATE>b\nc\n</Private> d", "a \n\n d", 1),
        ("<private>a</private>b<private>c</private>", "b", 2),
        ("<private>a<private>b</private>c</private>d", "d", 1),
        ("<private>a <private>b</private> c", "<private>a  c", 1),
        ("vector<private> of a", "vector<private> of a", 0),
        ("a </private> b", "a </private> b", 0),
        ("a </private> <private>b</private>", "a </private> ", 1),
    ],
)
def test_blocks_are_left_out(text: str, expected: str, count: int) -> None:
    assert without_private(text) == (expected, count)


@given(some.lists(some.sampled_from(["<private>", "</private>", "x", "\n", " "]), max_size=30))
def test_lines_stay_and_nothing_of_a_block_does(parts: list[str]) -> None:
    text = "".join(parts)
    left, count = without_private(text)
    assert left.count("\n") == text.count("\n")
    assert without_private(left)[1] == 0
    assert (left == text) == (count == 0)


def test_every_field_is_looked_at_and_a_private_text_is_refused() -> None:
    sanitiser = Sanitiser()
    fields = {"text": "a <private>b</private>", "title": "<private>c</private> d"}
    screened = sanitiser.screen(fields, "agent")
    assert screened.texts == {"text": "a ", "title": " d"}
    assert screened.warnings == (
        "text: 1 private block left out", "title: 1 private block left out",
    )  # fmt: skip
    with pytest.raises(TextRefused, match="private throughout"):
        sanitiser.screen({"text": " <private>all</private>\n"}, "owner")
