"""Fenced code: what opens and closes it, and the text around it."""

import pytest

from service.text.fences import closes_fence, fence_of, outside_fences


@pytest.mark.parametrize(
    ("line", "fence"),
    [("```", "```"), ("   ~~~~ python", "~~~~"), ("    ```", ""), ("``", ""), ("a ```", "")],
)
def test_a_fence_opens_behind_three_blanks_at_most(line: str, fence: str) -> None:
    assert fence_of(line) == fence


@pytest.mark.parametrize(
    ("line", "fence", "closes"),
    [
        ("```", "```", True), (" ````  ", "```", True), ("```", "````", False),
        ("``` python", "```", False), ("~~~", "```", False), ("", "```", False),
    ],
)  # fmt: skip
def test_a_fence_is_closed_by_as_many_of_its_marks(line: str, fence: str, *, closes: bool) -> None:
    assert closes_fence(line, fence) is closes


def test_only_what_is_outside_of_fences_stays() -> None:
    text = "before\n```\ncode\n~~~\n```\nbetween\n~~~\n```\n~~~\nafter\n```\nopen"
    assert outside_fences(text).split("\n") == [
        "before", "", "", "", "", "between", "", "", "", "after", "", "",
    ]  # fmt: skip
