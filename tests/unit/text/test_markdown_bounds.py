"""Parsing any text: nothing raised, nothing lost, lines in order, work in bounds."""

import gc
import re
import time
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from service.text.blocks import MOST_STEPS, read_blocks
from service.text.markdown import parse_markdown
from tests.effort import amount

LENGTH = amount("hostile text") / 100
# What takes longer grows faster than the text.
MOST_SECONDS = 20 * LENGTH


def many(number: int) -> int:
    """Return how often to repeat what the soak repeats so often."""
    return int(number * LENGTH)


_PATHOLOGICAL = {
    "empty headings": "#\n" * many(100_000),
    "headings": "## a\n" * many(20_000),
    "quotes": ">" * many(50_000),
    "quotes of words": "> " * many(50_000) + "x",
    "brackets": "[" * many(50_000),
    "links": "[[" * many(50_000) + "]]" * many(50_000),
    "links in one paragraph": "see [[a]] and #tag. " * many(20_000),
    "many links in one paragraph": " ".join(f"[[a{n}]]." for n in range(many(20_000))),
    "lists": "- " * many(50_000) + "x",
    "list items": "- a\n" * many(10_000),
    "ever deeper items": "".join(" " * n + "- a\n" for n in range(many(1_000))),
    "backticks": " ".join("`" * n for n in range(1, many(600))),
    "open comments": "<!--\n" * many(50_000),
    "open tags": "<a\n" * many(10_000),
    "pipes": "|" * many(50_000) + "\n" + "|-" * many(50_000),
    "table": "| a | b |\n|---|---|\n" + "| a | b |\n" * many(5_000),
    "emphasis in a heading": "## " + "*a_" * many(160),
    "one paragraph": "a\n" * many(20_000),
    "one word": "a" * many(1_000_000),
    "one line": "word " * many(200_000),
    "no space": "한" * many(100_000),
    "no space, sentences": "한다. " * many(50_000),
    "quotation marks": "\"'“a. " * many(20_000),
    "fences": "```\n" * many(50_000),
    "blank lines": "\n" * many(500_000),
    "tabs": "\t" * many(100_000) + "x",
    "front matter": "---\n" + f"a: {'b' * 96}\n" * many(10_000) + "---\n",
    "aliases": "---\na: &a [x]\n"
    + "".join(f"b{n}: &b{n} [*a, *a]\n" for n in range(many(500)))
    + "---\n",
    "control characters": "\x00" * many(200_000) + "\x1b[" * many(100_000),
}


@pytest.mark.soak
@pytest.mark.parametrize("text", _PATHOLOGICAL.values(), ids=_PATHOLOGICAL)
def test_hostile_text_takes_bounded_time(text: str) -> None:
    started = time.thread_time()
    document = parse_markdown(text)
    assert time.thread_time() - started < MOST_SECONDS
    words = re.findall(r"\w+", text)
    assert bool(document.sections) == bool(words)


@pytest.mark.soak
def test_a_megabyte_takes_seconds() -> None:
    day = (
        "## 14:30 Work\n\n"
        + "We tried the new driver and it was slow again. " * 8
        + "\n\n- one\n- two\n\n"
    )
    days = many(1_000_000) // len(day)
    text = "# Log\n\n" + day * days
    started = time.thread_time()
    document = parse_markdown(text, max_sections=days)
    assert time.thread_time() - started < MOST_SECONDS
    assert document.warnings == ()
    assert len(document.sections) == days
    assert document.sections[-1].ordinal == len(document.sections) - 1


_WORD = st.text(alphabet="abcdefgh한국어é", min_size=1, max_size=8)
_LINE = st.lists(_WORD, min_size=1, max_size=8).map(" ".join)
_ELEMENT = st.one_of(
    _LINE.map(lambda line: ("text", [line])),
    st.lists(_LINE, min_size=2, max_size=4).map(lambda lines: ("text", lines)),
    st.lists(_LINE, min_size=1, max_size=3).map(lambda ls: ("text", [f"- {line}" for line in ls])),
    _LINE.map(lambda line: ("text", ["```", f"## {line}", "", line, "```"])),
    _LINE.map(lambda line: ("text", [f"> # {line}", f"> {line}"])),
    _LINE.map(lambda line: ("text", [f"#### {line}"])),
    st.tuples(st.integers(1, 3), _LINE).map(
        lambda pair: ("heading", ["#" * pair[0] + " " + pair[1]])
    ),
    _LINE.map(lambda line: ("heading", [line, "==="])),
)


@given(st.lists(_ELEMENT, max_size=15), st.sampled_from(["\n", "\r\n", "\r"]))
def test_every_line_is_in_the_section_of_its_heading(
    elements: list[tuple[str, list[str]]], line_end: str
) -> None:
    lines = [line for _, element in elements for line in (*element, "")]
    sections = parse_markdown(line_end.join(lines), 100_000).sections
    number = 0
    for kind, element in elements:
        for line in element if kind == "text" else []:
            number += 1
            holders = [s for s in sections if s.line_start <= number <= s.line_end]
            assert len(holders) == 1 or not line
            assert all(line in section.content.split("\n") for section in holders)
        number += 1 if kind == "text" else len(element) + 1
    for section in sections:
        assert lines[section.line_end - 1]
        assert lines[section.line_start - 1]


_ANY_TEXT = st.text(alphabet=st.characters(codec=None))
_MARKS = st.text(alphabet="#-*>`~[]|:<!=+\\ \n\r\tab.1한\x00\u2028\ufeff", max_size=200)


@given(st.one_of(_ANY_TEXT, _MARKS), st.integers(-1, 40), st.integers(-1, 20))
@example("---\n: \n---", 10, 0)
@example("# \x1b[0m", 1, 0)
def test_any_text_parses_into_ordered_sections(text: str, limit: int, overlap: int) -> None:
    document = parse_markdown(text, limit, overlap)
    assert document == parse_markdown(text, limit, overlap)
    line_count = len(re.split(r"\r\n|\r|\n", text))
    line = 1
    for section in document.sections:
        assert line <= section.line_start <= section.line_end <= line_count
        line = section.line_start
        assert 0 <= section.part < section.parts
        assert len(section.heading_path) <= 3
        section.content.encode()
    keys = [(section.heading_path, section.ordinal, section.part) for section in document.sections]
    assert len(keys) == len(set(keys))


@given(_MARKS, st.integers(1, 40))
def test_no_word_is_lost(text: str, limit: int) -> None:
    shown = " ".join(
        f"{' '.join(section.heading_path)} {section.content}"
        for section in parse_markdown(text, limit, 0).sections
    )
    if not text.startswith(("---", "+++", "\ufeff")):
        for letter in "ab1한":
            assert shown.count(letter) >= min(1, text.count(letter))


# Twice the text may take twice the time, and half of that again for the machine's moods.
_MOST_GROWTH = 2.5
_REPEATS = 3
# What takes less measures the machine.
_LEAST_SECONDS = 0.005
# Whole documents by a number of characters; each held a parser for minutes, or is its brother.
_GROWING: dict[str, Callable[[int], str]] = {
    "headings": lambda n: "# a\n" * (n // 4),
    "headings of brackets": lambda n: ("## " + "![" * 240 + "\n") * (n // 484),
    "a row of many cells": lambda n: f"{'|a' * (n // 4)}|\n{'|-' * (n // 4)}|\n",
    "rows of many cells": lambda n: f"{'|a' * 1000}|\n{'|-' * 1000}|\n" + "|\n" * (n // 50),
    "lazy lines below quotes": lambda n: ">" * 40 + "x\n" + "y\n" * (n // 20),
    "deep quotes": lambda n: ("> " * 30 + "x\n") * (n // 62),
    "list items": lambda n: "- a\n" * (n // 4),
    "lists in quotes": lambda n: "> - > - > - a\n" * (n // 14),
    "a fence in a list": lambda n: "- ```\n" + "  a:1:1\n" * (n // 8),
    "definitions": lambda n: "".join(f"[r{i}]: http://x/{i}\n" for i in range(n // 20)),
    "links": lambda n: "".join(f"[[l{i}]] " for i in range(n // 10)),
    "lines of no-break spaces": lambda n: "mail\n" + "\u00a0\n" * (n // 2),
    "one line": lambda n: "word " * (n // 5),
    "html": lambda n: "<div>\n\n" * (n // 7),
    "comments": lambda n: "<!--\n" * (n // 5),
    "backticks": lambda n: "`" * (n // 2) + " " + "` " * (n // 4),
}


def _seconds(text: str) -> float:
    gc.disable()  # it comes in steps, so that one of the two texts may pay for both
    try:
        started = time.thread_time()
        parse_markdown(text, 200)
        return time.thread_time() - started
    finally:
        gc.enable()


def _is_in_proportion(make: Callable[[int], str], length: int) -> bool:
    """Say whether twice the text takes about twice the time: the fastest of some runs of each."""
    once = min(_seconds(make(length)) for _ in range(_REPEATS))
    most, text = _MOST_GROWTH * max(once, _LEAST_SECONDS), make(2 * length)
    # The first that is fast enough tells as much as the fastest.
    return any(_seconds(text) <= most for _ in range(_REPEATS))


@pytest.mark.parametrize("make", _GROWING.values(), ids=_GROWING)
def test_time_grows_with_the_text(make: Callable[[int], str]) -> None:
    # On a machine that others use, too, one of three measurements tells the law.
    assert any(_is_in_proportion(make, many(100_000)) for _ in range(3))


def test_sections_past_the_bound_are_left_out_and_told() -> None:
    document = parse_markdown("# a\n\none\n\n# b\n\ntwo\n\n# c\n\nthree\n", max_sections=2)
    assert [section.title for section in document.sections] == ["a", "b"]
    [warning] = document.warnings
    assert warning.startswith("line 9: more than 2 sections (MEMORY_MAX_DOCUMENT_SECTIONS)")
    assert parse_markdown("# a\n\n# b\n", max_sections=2).warnings == ()


def test_too_much_structure_is_plain_text_and_told() -> None:
    first = "# Before\n\nwords\n\n" + "a line of words\n\n" * 5_000
    dense = ("> " * 15 + "x\n\n") * (MOST_STEPS // 15)
    text = first + dense + "\n# Behind\n\nlast words\n"
    document = parse_markdown(text, 200, 0, max_sections=10_000)
    [warning] = document.warnings
    told = re.match(rf"line (\d+): .* \({MOST_STEPS:,} steps\)", warning)
    assert told
    assert int(told[1]) > 5_000
    assert {section.title for section in document.sections} == {"Before"}
    shown = "\n".join(section.content for section in document.sections)
    assert shown.count("> x") == MOST_STEPS // 15
    assert "# Behind\n\nlast words" in shown


def test_a_megabyte_of_notes_is_far_below_the_bound() -> None:
    note = "## Work\n\n" + "".join(
        f"- item {n} with its words, as people write\n  - and some more of them below it\n"
        for n in range(9)
    )
    lines = (note * (1_000_000 // len(note))).split("\n")
    assert read_blocks(lines).plain_from is None


def test_a_heading_of_many_marks_is_kept_as_written() -> None:
    title = "![" * 100
    assert parse_markdown(f"# {title}\n\ntext").sections[0].title == title
    assert parse_markdown("# *a* `b` **c**\n\ntext").sections[0].title == "a b c"
