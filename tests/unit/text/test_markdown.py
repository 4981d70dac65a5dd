"""Parsing notes: sections and their headings, lines, times, links and parts."""

from datetime import date
from datetime import time as clock_time

import pytest

from service.text.markdown import Document, Section, parse_markdown
from service.text.tokens import estimate_tokens


def _outline(document: Document) -> list[tuple[tuple[str, ...], str]]:
    return [(section.heading_path, section.content) for section in document.sections]


def _only(text: str) -> Section:
    (section,) = parse_markdown(text).sections
    return section


def test_preamble_and_sections_with_their_paths() -> None:
    document = parse_markdown(
        "before\n\n# Project\n\nabout\n\n## GPU\n\ncard\n\n### Driver\n\n550\n\n"
        "## Disk\nfull\n# Next\nx"
    )
    assert document.title == "Project"
    assert _outline(document) == [
        ((), "before"),
        (("Project",), "about"),
        (("Project", "GPU"), "card"),
        (("Project", "GPU", "Driver"), "550"),
        (("Project", "Disk"), "full"),
        (("Next",), "x"),
    ]
    assert [section.level for section in document.sections] == [0, 1, 2, 3, 2, 1]
    assert [section.title for section in document.sections[:3]] == ["Project", "Project", "GPU"]


def test_a_picture_in_the_text_is_no_words_and_moves_no_line() -> None:
    bytes_of_it = "iVBORw0KGgo" * 5000
    text = f"# A\n\n![x](data:image/png;base64,{bytes_of_it})\n\nThe harbour.\n\n## B\n\nb\n"
    first, second = parse_markdown(text).sections
    assert first.content == "![x](data:image/png;base64,\u2026)\n\nThe harbour."
    assert (first.line_start, first.line_end, second.line_start) == (1, 5, 7)
    for kept in ("data:text/plain;base64,aGFyYm91cg==", "x;base64," + "a" * 300):
        assert _only(f"# A\n\n{kept}\n").content == kept


def test_a_file_of_one_title_is_one_section() -> None:
    assert _only("# Title\n\nSome text.\n\n```\ncode\n```\n") == Section(
        heading_path=("Title",),
        level=1,
        title="Title",
        content="Some text.\n\n```\ncode\n```",
        line_start=1,
        line_end=7,
    )


def test_lines_are_those_of_the_original() -> None:
    document = parse_markdown(
        "---\ntitle: T\n---\n\npre\n\n\n## A\n\n\none\ntwo\n\n\n## B\nthree\n\n"
    )
    assert [(s.line_start, s.line_end) for s in document.sections] == [(5, 5), (8, 12), (15, 16)]


@pytest.mark.parametrize(
    "inner",
    [
        "```\n## no\n```",
        "~~~~ md\n## no\n~~~\n# no\n~~~~",
        "<!--\n## no\n-->",
        "> ## no",
        "- item\n\n  ## no",
        "1. # no",
        "    ## no",
        "#### no",
        "##no",
        "\\## no",
        "##",
        "<pre>\n## no\n</pre>",
    ],
)
def test_what_looks_like_a_heading_and_is_none(inner: str) -> None:
    document = parse_markdown(f"## Yes\n\n{inner}\n\nend")
    assert _outline(document) == [(("Yes",), f"{inner}\n\nend".strip("\n"))]


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("## Title ##", "Title"),
        ("   ##   Title", "Title"),
        ("Title\n-----", "Title"),
        ("Over two\nlines\n---", "Over two lines"),
        ("## `code` and **bold** and [link](http://x)", "code and bold and link"),
        ("## List<String> \\_init\\_ a &amp; b", "List<String> _init_ a & b"),
        ("## [[people/kit|Kit]] joins [[Acme]]", "Kit joins Acme"),
        ("## 자바 스크립트의 핵심 개념", "자바 스크립트의 핵심 개념"),
        ("## 1. 사용법 (v2.3.1)", "1. 사용법 (v2.3.1)"),
    ],
)
def test_titles_are_plain_text(heading: str, title: str) -> None:
    section = _only(f"{heading}\ntext")
    assert section.title == title
    assert section.heading_path == (title,)
    assert section.content == "text"
    assert section.line_end == heading.count("\n") + 2


def test_a_heading_too_long_to_be_one_is_text() -> None:
    line = "# " + "word " * 200
    assert _outline(parse_markdown(f"{line}\n\nmore", 1_000)) == [((), f"{line}\n\nmore")]


def test_equal_titles_are_kept_apart() -> None:
    document = parse_markdown("# D\n## Notes\na\n### X\nb\n## Notes\nc\n### X\nd\n# E\n## Notes\ne")
    assert [(s.heading_path[-1], s.ordinal, s.content) for s in document.sections] == [
        ("Notes", 0, "a"),
        ("X", 0, "b"),
        ("Notes", 1, "c"),
        ("X", 1, "d"),
        ("Notes", 0, "e"),
    ]


def test_a_heading_above_other_headings_only_is_in_their_paths_only() -> None:
    assert _outline(parse_markdown("# Day\n\n---\n\n## Morning\n\nwork")) == [
        (("Day", "Morning"), "work")
    ]


def test_a_heading_with_nothing_below_is_kept() -> None:
    assert _outline(parse_markdown("# Log\n\n## 14:30 Deployed v2\n\n## 15:00 Done\n\nok")) == [
        (("Log", "14:30 Deployed v2"), ""),
        (("Log", "15:00 Done"), "ok"),
    ]
    assert _only("# Buy milk").content == ""
    assert (_only("\n# Buy milk\n").line_start, _only("\n# Buy milk\n").line_end) == (2, 2)


@pytest.mark.parametrize(
    "text", ["", "\n\n \t\n", "\ufeff", "---\ntitle: T\n---\n", "***\n\n---", "\x00"]
)
def test_nothing_to_keep_gives_no_sections(text: str) -> None:
    assert parse_markdown(text).sections == ()


def test_front_matter_becomes_fields_and_no_text() -> None:
    document = parse_markdown(
        "---\ntitle: Choice\ntags: [db]\ndate: 2026-02-13\nkind: decision\nscope: lab\n"
        "aliases: [PG]\nconcepts: [Postgres]\n---\nWe chose Postgres.\n# Why\nIt is known."
    )
    assert document.title == "Choice"
    assert (document.tags, document.kind, document.scope) == (("db",), "decision", "lab")
    assert (document.aliases, document.concepts) == (("PG",), ("Postgres",))
    assert document.date == date(2026, 2, 13)
    assert _outline(document) == [((), "We chose Postgres."), (("Why",), "It is known.")]
    assert document.sections[0].title == "Choice"
    assert document.warnings == ()


def test_broken_front_matter_is_text_and_no_heading() -> None:
    document = parse_markdown("---\ntitle: [broken\nnote: keep me\n---\nbody")
    assert _outline(document) == [((), "---\ntitle: [broken\nnote: keep me\n---\nbody")]
    assert document.sections[0].line_start == 1
    assert len(document.warnings) == 1


def test_text_between_two_rules_is_text() -> None:
    document = parse_markdown("---\n\nHello there\n\n## A\n\nx\n\n---\n\n## B\n\ny")
    assert [section.title for section in document.sections] == ["", "A", "B"]


@pytest.mark.parametrize(
    ("heading", "clock"),
    [
        ("14:30", clock_time(14, 30)),
        ("14:30 Chose X", clock_time(14, 30)),
        ("14:30:05 - deploy", clock_time(14, 30, 5)),
        ("[09:05] x", clock_time(9, 5)),
        ("9:05: x", clock_time(9, 5)),
        ("14:30-15:00 meeting", clock_time(14, 30)),
        ("14:30–15:00", clock_time(14, 30)),
        ("**14:30** x", clock_time(14, 30)),
        ("2:30 PM x", clock_time(14, 30)),
        ("12:15 a.m.", clock_time(0, 15)),
        ("10:30 AMD card", clock_time(10, 30)),
        ("14：30 회의", clock_time(14, 30)),
        ("25:00 x", None),
        ("12:60", None),
        ("12:345", None),
        ("16:9 screens", None),
        ("Meeting at 14:30", None),
        ("v14:30", None),
    ],
)
def test_clock_of_a_heading(heading: str, clock: clock_time | None) -> None:
    assert _only(f"## {heading}\n\ntext").clock == clock


def test_deeper_headings_inherit_the_clock_and_later_ones_do_not() -> None:
    document = parse_markdown("## 14:30 A\na\n### B\nb\n### 14:45 C\nc\n### D\nd\n## E\ne")
    half, later = clock_time(14, 30), clock_time(14, 45)
    assert [section.clock for section in document.sections] == [half, half, later, half, None]


def test_links_and_tags_outside_code() -> None:
    section = _only(
        "## On [[Kit]] #people\n\n"
        "See [[GPU|the card]] and [[Notes#Plan]], [[GPU]] #lab `[[a]] #b`\n\n"
        "```\n[[no]] #no\n```\n\n- deep [[Item]]\n\n| [[Cell]] |\n|---|\n\n<!-- [[no]] -->"
    )
    assert section.links == ("Kit", "GPU", "Notes", "Item", "Cell")
    assert section.tags == ("people", "lab")


def test_links_of_a_cut_section_belong_to_their_part() -> None:
    words = "some words that fill the part up to its end. " * 4
    document = parse_markdown(f"## [[All]]\n\n{words}[[One]].\n\n{words}[[Two]].\n\n{words}", 50)
    assert len(document.sections) == 3
    assert [section.links for section in document.sections] == [
        ("All", "One"),
        ("All", "Two"),
        ("All",),
    ]


def test_links_of_a_cut_paragraph_belong_to_their_piece() -> None:
    words = "A sentence of some seven words stands here. "
    document = parse_markdown(f"[[One]] {words * 14} [[Two]] #tag", 90, 0)
    assert [section.links for section in document.sections] == [("One",), ("Two",)]
    assert [section.tags for section in document.sections] == [(), ("tag",)]


def test_what_a_cut_leaves_without_a_word_is_no_part() -> None:
    row, rule = f"| {'word ' * 30}|", f"|{'-' * 400}|"
    table = "\n".join([rule, *[row] * 4, rule])
    parts = parse_markdown(f"# T\n\n## Long\n\n{table}\n\n---\n", 60, 0).sections
    assert len(parts) > 1
    assert [part.part for part in parts] == list(range(len(parts)))
    assert all("word" in part.content for part in parts)
    [alone] = parse_markdown("# T\n\n---\n").sections
    assert (alone.title, alone.content) == ("T", "")


def test_parts_of_a_long_section() -> None:
    paragraphs = [f"Paragraph {n}. " + "word " * 40 for n in range(10)]
    document = parse_markdown("# T\n\n## Long\n\n" + "\n\n".join(paragraphs), 120)
    parts = document.sections
    assert [part.part for part in parts] == list(range(len(parts)))
    assert {part.parts for part in parts} == {len(parts)} == {5}
    assert {part.ordinal for part in parts} == {0}
    assert {part.heading_path for part in parts} == {("T", "Long")}
    assert [(part.line_start, part.line_end) for part in parts[:2]] == [(3, 7), (9, 11)]
    assert all(estimate_tokens(part.content) <= 120 for part in parts)


def test_hangul_is_cut_by_its_sentences() -> None:
    sentence = "자바스크립트에서는 함수도 객체로 취급한다. "
    parts = parse_markdown("# 함수\n\n" + sentence * 60, 100, 30).sections
    assert len(parts) > 10
    assert all(part.content.endswith("다.") for part in parts)
    assert all(part.content.startswith("자바") for part in parts)


def test_line_ends_byte_order_mark_and_controls_change_nothing_else() -> None:
    text = "---\ntitle: T\n---\npre\n\n## A\n\none\x00\n\n```\n## x\n```\n"
    plain = parse_markdown(text.replace("\x00", ""))
    for other in (text.replace("\n", "\r\n"), text.replace("\n", "\r"), "\ufeff" + text):
        document = parse_markdown(other)
        assert document.sections == plain.sections
        assert document.warnings == ("1 control characters removed",)


@pytest.mark.parametrize(
    ("text", "is_open"),
    [
        ("# A\n```\nx", True),
        ("```", True),
        ("````\nx\n```", True),
        ("```\nx\n~~~", True),
        ("```\nx\n```", False),
        ("~~~\nx\n~~~~\n\n", False),
        ("text", False),
    ],
)
def test_a_fence_never_closed_is_told(text: str, *, is_open: bool) -> None:
    assert bool(parse_markdown(text).warnings) == is_open
