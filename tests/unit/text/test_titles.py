"""Titles: what fits stays, what is too long is cut at a word and kept whole in the text."""

import unicodedata
from datetime import UTC, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from service.memories.screening import Pushed
from service.memories.storing import draft_of
from service.records import Memory
from service.text.titles import (
    cut_title,
    fit_title,
    headings_above,
    headings_of,
    in_one_line,
    is_beside,
    is_too_long,
    title_of,
    title_warnings,
)
from service.text.words import index_words

AT = datetime(2026, 2, 13, tzinfo=UTC)
ACCENT = "\u0301"
ACCENTED = f"e{ACCENT}"
WORDS = " ".join(["harbour"] * 40)
PARTS = st.sampled_from(
    ["harbour", "한국어", "東京都", "e\u0301", "👨\u200d👩\u200d👧", "👍🏽", "GPU-7"]
)
TITLES = st.one_of(
    st.text(max_size=500),
    st.lists(PARTS, min_size=20, max_size=200).map(" ".join),
    st.lists(PARTS, min_size=50, max_size=200).map("".join),
)


@pytest.mark.parametrize("title", ["", "Ferry", "x" * 200, f"  {'x' * 200}\n"])
def test_a_title_that_fits_stays(title: str) -> None:
    assert fit_title(title, "text") == (title.strip(), "text")
    assert (is_too_long(title), title_warnings(title)) == (False, [])


@pytest.mark.parametrize(
    ("title", "cut"),
    [
        (WORDS, f"{' '.join(['harbour'] * 25)}…"),
        ("x" * 201, f"{'x' * 199}…"),
        ("x" * 199 + " y", f"{'x' * 199}…"),
        ("x" * 198 + " yz", f"{'x' * 198}…"),
        ("short " + "x" * 300, f"short {'x' * 193}…"),
        ("가나" * 150, f"{'가나' * 99}가…"),
        (ACCENTED * 120, f"{ACCENTED * 99}…"),
        ("x" * 196 + "👨\u200d👩\u200d👧 and more", f"{'x' * 196}…"),
        ("x" * 198 + "👍🏽 and more", f"{'x' * 198}…"),
        (f"a{ACCENT * 400}", f"a{ACCENT * 198}…"),
    ],
)
def test_a_title_is_cut_where_a_reader_expects_it(title: str, cut: str) -> None:
    assert cut_title(title) == cut


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("It is shut.", f"{WORDS}\n\nIt is shut."),
        (WORDS, WORDS),
        (f"{WORDS}\nIt is shut.", f"{WORDS}\nIt is shut."),
        (f"## {WORDS}\n\nIt is shut.", f"## {WORDS}\n\nIt is shut."),
        (f"{WORDS}master is away.", f"{WORDS}\n\n{WORDS}master is away."),
    ],
)
def test_the_whole_title_begins_the_text_once(text: str, kept: str) -> None:
    assert fit_title(WORDS, text)[1] == kept


@settings(max_examples=300)
@given(title=TITLES, text=st.text(max_size=30).filter(str.strip))
@example(title=WORDS, text=WORDS[:-1])
def test_any_title_is_short_when_stored_and_found_by_all_its_words(title: str, text: str) -> None:
    draft = draft_of(Pushed(text, title=title))
    assert len(draft.title) <= 200
    assert not title_warnings(draft.title)
    assert bool(title_warnings(title)) == (draft.title != title.strip()) == is_too_long(title)
    assert set(index_words(title).split()) <= set(index_words(draft.text).split())
    assert set(index_words(text).split()) <= set(index_words(draft.text).split())
    again = draft_of(Pushed(draft.content, title=title))
    assert (again.title, again.content) == (draft.title, draft.content)


@given(TITLES.filter(is_too_long))
def test_a_cut_title_is_a_beginning_and_splits_no_letter(title: str) -> None:
    cut = cut_title(title.strip())
    assert cut[-1] == "…"
    rest = title.strip().removeprefix(cut[:-1])
    assert rest != title.strip()
    assert not unicodedata.combining(rest[0])
    assert "\u200d" not in (rest[0], cut[-2])


def test_a_given_title_is_the_title() -> None:
    assert title_of("Gateway", "# Another\n\nText.") == "Gateway"


def test_without_one_the_first_line_with_text_is_its_title() -> None:
    assert title_of("", "\n \n## **Fixed the gateway**\n\nIt works.") == "Fixed the gateway"
    assert title_of("", "- `ls` works") == "ls works"
    assert title_of("", "**Must** keep *port* 18443: see `log`") == "Must keep port 18443: see log"
    assert title_of("", "SELECT * FROM x, y * 2**10, a**b**") == "SELECT * FROM x, y * 2**10, a**b"
    assert title_of("", "Learn C#") == "Learn C#"
    assert title_of("", "> Use Vec<String>") == "Use Vec<String>"
    assert title_of("", "--dry-run is broken") == "--dry-run is broken"
    assert title_of("", "---\nText.") == ""
    assert title_of("", " \n") == ""


def test_a_long_line_is_cut_at_80_characters() -> None:
    assert title_of("", "x" * 80) == "x" * 80
    assert title_of("", "x" * 81) == "x" * 79 + "…"
    assert title_of("", "word " * 40) == " ".join(["word"] * 16) + "…"


@pytest.mark.parametrize(
    "text",
    [
        "The gateway is restarted by hand, as its clock forgets the zone after each power cut.",
        "**Must** keep port 18443 open.\nFor the crane.",
        "- `make` failed: see `log`",
        "## **Fixed**\n\nIt works.",
    ],
)
def test_a_title_that_is_made_of_the_text_is_not_read_twice(text: str) -> None:
    assert not is_beside(title_of("", text), text)
    assert in_one_line([""], text) == " ".join(text.split())


def test_a_title_is_told_where_the_text_does_not_begin_with_it() -> None:
    assert in_one_line(["Crane"], "It is\nred.") == "Crane: It is red."
    assert in_one_line(["Crane"], "# Crane\n\nIt is red.") == "# Crane It is red."
    assert in_one_line(["Harbour", "Crane"], "It is red.") == "Harbour › Crane: It is red."
    assert in_one_line(["Harbour", "Crane"], "Crane 7") == "Harbour: Crane 7"
    assert in_one_line(["x" * 190, "Quay", "Crane"], "Red.") == "Quay › Crane: Red."
    assert in_one_line(["Harbour", "x" * 400], "Red.") == f"{'x' * 400}: Red."
    assert in_one_line(["Crane"], "") == "Crane"
    cut, text = fit_title("word " * 60, "It is red.")
    assert in_one_line([cut], text) == " ".join(text.split())


@pytest.mark.parametrize(
    ("path", "title", "besides", "told"),
    [
        (["Options"], "Options", [], ("Options",)),
        (["Options"], "Options", ["no-foo", "width"], ("no-foo", "Options", "width")),
        (["Rules", "Options"], "Options", ["width"], ("Rules", "Options", "width")),
        # A record is called by the heading above its "Decision", and one that fell says so.
        (["Nomad", "Decision"], "Nomad", [], ("Nomad",)),
        (["Nomad", "Decision"], "Nomad (superseded)", [], ("Nomad (superseded)",)),
        (["Nomad", "Why"], "Why (rejected)", [], ("Nomad", "Why (rejected)")),
        ([], "", [], ()),
    ],
)
def test_headings_are_told_from_the_outermost_on_each_once(
    path: list[str], title: str, besides: list[str], told: tuple[str, ...]
) -> None:
    assert headings_of(path, title, besides, "no-foo") == told
    memory = Memory.from_row(
        {
            "id": "m", "agent": "main", "content": "", "title": title, "heading_path": path,
            "search_headings": besides, "source": {"uri": "rules/no-foo.md"}, "kind": "note",
            "type": "semantic", "occurred_at": AT, "created_at": AT, "updated_at": AT,
        }
    )  # fmt: skip
    assert headings_above(memory) == told
