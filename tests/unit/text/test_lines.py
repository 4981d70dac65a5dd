"""Which lines of a text go with the sections that may not be shown."""

import pytest

from service.text.lines import LineRange, Placed, blanked, hidden, lines_of
from service.text.markdown import parse_markdown

TEXT = """---
title: Front
---
before

# Top

## Bare

### Deep

deep

### Deeper

deeper

## Next

next

# Other

## Last

last

## Left behind
"""
# Each with its lines: before 4, deep 10-12, deeper 14-16, next 18-20, last 24-26.
BEFORE, DEEP, DEEPER, NEXT, LAST = range(5)
EVERY = (BEFORE, DEEP, DEEPER, NEXT, LAST)


def places(*gone: int) -> list[Placed]:
    every = parse_markdown(TEXT, max_sections=len(EVERY)).sections
    return [
        Placed(one.line_start, one.line_end, one.heading_path, place not in gone)
        for place, one in enumerate(every)
    ]


@pytest.mark.parametrize(
    ("gone", "lines"),
    [
        ((), ()),
        ((BEFORE,), ((4, 4),)),
        # A heading without text of its own goes with all that stand below it, and with no fewer.
        ((DEEP,), ((10, 12),)),
        ((DEEPER,), ((14, 16),)),
        ((DEEP, DEEPER), ((6, 12), (14, 16))),
        ((DEEPER, NEXT), ((14, 16), (18, 20))),
        ((LAST,), ((22, 26),)),
        # The front matter, and what is behind the last one and no section, go with all.
        (EVERY, ((1, 4), (6, 12), (14, 16), (18, 20), (22, 26), (28, 28))),
    ],
)
def test_what_goes_with_a_section(gone: tuple[int, ...], lines: tuple[LineRange, ...]) -> None:
    assert hidden(TEXT, places(*gone)) == lines


def test_of_a_text_without_sections_nothing_goes() -> None:
    assert hidden("---\ntitle: Front\n---\n", []) == ()


@pytest.mark.parametrize("text", ["# A\n\nred", "# A\n\nred\n", "# A\r\n\r\nred", "red", ""])
def test_a_text_has_as_many_lines_when_they_are_empty(text: str) -> None:
    count = len(lines_of(text))
    assert lines_of(blanked(text, [(1, count)])) == [""] * count
    assert blanked(blanked(text, [(1, count)]), [(1, count)]) == blanked(text, [(1, count)])
