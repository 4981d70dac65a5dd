"""Headings amid a section, those of tables too: which of them each of its parts stands below."""

import pytest

from service.text.markdown import parse_markdown

_WORDS = "word " * 30


def _deeper(text: str, max_tokens: int = 60) -> list[tuple[str, tuple[str, ...]]]:
    """Return the first line of each part, and the deeper headings that it stands below."""
    sections = parse_markdown(text, max_tokens).sections
    return [(one.content.split("\n")[0].strip(), one.deeper_headings) for one in sections]


def _paragraphs(*names: str) -> str:
    return "\n\n".join(f"{name} {_WORDS}" for name in names)


def test_a_part_behind_the_first_stands_below_the_heading_of_the_first() -> None:
    text = f"# T\n\n## Options\n\n#### `max-width`\n\n{_paragraphs('One', 'Two', 'Three')}"
    assert [(first.split()[0], deeper) for first, deeper in _deeper(text)] == [
        ("####", ()),
        ("Two", ("max-width",)),
        ("Three", ("max-width",)),
    ]


def test_a_heading_ends_what_stands_below_those_as_deep() -> None:
    below = "\n\n".join(
        f"{'#' * level} {name}\n\n{_paragraphs(name.lower(), name.lower() + '2')}"
        for level, name in [(4, "A"), (5, "B"), (6, "C"), (5, "D"), (4, "E")]
    )
    found = dict(_deeper(f"# T\n\n## S\n\n{below}"))
    told = {first.split()[0]: deeper for first, deeper in found.items() if first[0] != "#"}
    assert told == {
        "a2": ("A",),
        "b2": ("A", "B"),
        "c2": ("A", "B", "C"),
        "d2": ("A", "D"),
        "e2": ("E",),
    }
    # A part that begins with a heading has it in its text, and stands below those above it alone.
    assert [found[f"{'#' * n} {name}"] for n, name in [(4, "A"), (5, "B"), (6, "C"), (5, "D")]] == [
        (),
        ("A",),
        ("A", "B"),
        ("A",),
    ]


def test_no_cut_moves_by_a_heading_and_none_reaches_the_next_section() -> None:
    text = f"# T\n\n## S\n\n#### Option\n\n{_paragraphs('One', 'Two')}\n\n## Next\n\nWords."
    sections = parse_markdown(text, 60).sections
    assert [one.content for one in sections] == [
        f"#### Option\n\nOne {_WORDS}".strip(),
        f"Two {_WORDS}".strip(),
        "Words.",
    ]
    assert sections[-1].deeper_headings == ()


def test_headings_in_lists_quotes_and_fences_stand_above_nothing() -> None:
    amid = "> #### Quoted\n\n- #### Listed\n\n```\n#### Fenced\n```"
    text = f"# T\n\n## S\n\n{amid}\n\n{_paragraphs('One', 'Two')}"
    assert {deeper for _, deeper in _deeper(text)} == {()}


def test_what_is_no_title_is_passed_over() -> None:
    text = f"# T\n\n## S\n\n#### {'x' * 600}\n\n{_paragraphs('One', 'Two')}"
    assert _deeper(text)[-1][1] == ()


def _rows(name: str) -> str:
    return "\n".join(
        f"| {name}{number} of some more words | {8000 + number} |" for number in range(9)
    )


def test_rows_behind_a_cut_stand_below_the_header_of_their_table() -> None:
    ports = f"| **Name** | `Port` | |\n|---|---:|---|\n{_rows('a')}"
    ages = f"| Who | Age |\n|-|-|\n{_rows('b')}"
    told = _deeper(f"# T\n\n#### Ports\n\n{ports}\n\nBetween.\n\n{ages}\n\nAfter {_WORDS}")
    assert told == [
        ("#### Ports", ()),
        ("| a0 of some more words | 8000 |", ("Ports", "Name | Port")),
        ("| a3 of some more words | 8003 |", ("Ports", "Name | Port")),
        ("| Who | Age |", ("Ports",)),
        ("| b2 of some more words | 8002 |", ("Ports", "Who | Age")),
        ("| b5 of some more words | 8005 |", ("Ports", "Who | Age")),
        (f"After {_WORDS}".strip(), ("Ports",)),
    ]


def test_a_table_in_a_list_or_a_quote_has_a_header_too() -> None:
    table = f"| Name | Port |\n|---|---|\n{_rows('a')}"
    listed, quoted = table.replace("\n", "\n  "), table.replace("\n", "\n> ")
    for text in (f"- {listed}", f"> {quoted}"):
        first, *others = (deeper for _, deeper in _deeper(text))
        assert first == ()
        assert {*others} == {("Name | Port",)}


@pytest.mark.parametrize(
    ("header", "told"),
    [
        ("|  | Port | Owner |", "– | Port | Owner"),
        ("| Host | | Owner |", "Host | – | Owner"),
        ("| Host | | |", "Host"),
    ],
)
def test_an_empty_cell_of_a_header_keeps_its_place(header: str, told: str) -> None:
    assert _deeper(f"{header}\n|---|---|---|\n{_rows('a')}")[-1][1] == (told,)


def test_a_header_that_says_nothing_stands_above_nothing() -> None:
    for header in ("| | |", f"| {'x' * 300} | {'y' * 300} |"):
        told = _deeper(f"{header}\n|---|---|\n{_rows('a')}")
        assert len(told) > 1
        assert told[-1][1] == ()
