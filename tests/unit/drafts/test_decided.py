"""Decisions in documents: which sections tell one, and what stands around it."""

import pytest

from service.drafts.decided import told_sections
from service.text.markdown import parse_markdown

_NYGARD = """# 3. Use Postgres

Date: 2026-02-12

## Status

{}

## Context

Two services write at once.

## Decision

We use Postgres.

## Consequences

It has to be backed up.
"""
_MADR = """---
status: {}
date: 2026-02-12
---
# Svelte for the front end

## Considered Options

* React
* Svelte

## Decision Outcome

Svelte, because it is small.

### Consequences

* Good, because pages are small.
"""


def _told(text: str, uri: str = "docs/adr/0003.md") -> list[str]:
    """Return the titles of the sections that are decisions."""
    found = told_sections(parse_markdown(text), uri, None, {})
    return [one.section.title for one in found if one.kind == "decision"]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (_NYGARD.format("Accepted"), "3. Use Postgres"),
        (_NYGARD.format("Proposed 2026-01-02\n\nAccepted 2026-02-12"), "3. Use Postgres"),
        (_NYGARD.format("Accepted\n\nSupersedes [1. Use SQLite](0001.md)"), "3. Use Postgres"),
        (_MADR.format("accepted"), "Svelte for the front end"),
        (_MADR.format("{of the team}"), "Svelte for the front end"),
        ("# Postgres\n\n## Kontext\n\nZwei.\n\n## Entscheidung\n\nWir nehmen es.", "Postgres"),
        ("# Postgres\n\n## Contexto\n\nDos.\n\n## 2. Decisión\n\nLo usamos.", "Postgres"),
        ("# Postgres\n\n## Context\n\nTwo.\n\n## Decision\n\n### For orders\n\nIt.", "For orders"),
        ("# Postgres\n\n## 상태\n\n승인됨\n\n## 결정\n\n그것을 쓴다.", "Postgres"),
        ("# Postgres\n\n状态：已采纳\n\n## 决定\n\n使用它。", "Postgres"),
        ("---\ntitle: Postgres\n---\n## Context\n\nTwo.\n\n## Decision\n\nIt.", "Postgres"),
        ("# Postgres\n\nWe use it. Status: rejected is what SQLite was.", "Postgres"),
    ],
)
def test_of_a_record_the_decision_is_what_stands_under_that_heading(text: str, title: str) -> None:
    assert _told(text) == [title]


@pytest.mark.parametrize(
    "text",
    [
        *(
            _NYGARD.format(f"{word} by [4. Use both](0004.md)")
            for word in ("Superseded", "Replaced")
        ),
        _NYGARD.format("Accepted\n\nSuperceded by [4. Use both](0004.md)"),
        *map(
            _NYGARD.format, ("proposed", "**Rejected**", "- Deprecated since 2026-03-01", "Ersetzt")
        ),
        *map(_MADR.format, ("superseded by ADR-0004", "rejected", '"proposed"')),
        "# Postgres\n\n* Status: superseded by [4](0004.md)\n\nWe use it.",
        "# Postgres\n\n**Estado:** rechazada\n\n## Decisión\n\nLo usamos.",
        "# Postgres\n\n## 상태\n\n대체됨 (0004)\n\n## 결정\n\n그것을 쓴다.",
        "# Postgres\n\n상태: 제안\n\n## 결정\n\n그것을 쓴다.",
        "# Postgres\n\n状态：已废弃\n\n## 决定\n\n使用它。",
    ],
)
def test_what_is_not_decided_or_not_any_more_is_no_decision(text: str) -> None:
    assert _told(text) == []
    assert {one.kind for one in told_sections(parse_markdown(text), "x.md", "decision", {})} == {
        "decision"
    }


def _outdated(text: str, uri: str = "docs/adr/0003.md") -> list[tuple[str, bool]]:
    """Return the title of each section, and whether it is told not to hold any more."""
    found = told_sections(parse_markdown(text), uri, None, {})
    return [(one.section.title, one.is_outdated) for one in found]


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("Status: ❌ Rejected", "rejected"),
        ("**Status**: ~~Accepted~~ Superseded by ADR-5", "superseded"),
        ("Status: `superseded`", "superseded"),
        ("Status: [Superseded](5.md)", "superseded"),
        ("Status: Accepted, superseded by ADR-5", "superseded"),
        ("## Status\n\n🔴 Deprecated", "deprecated"),
        ("## Status\n\nAccepted. Replaced by [5](5.md).", "replaced"),
        ("## Status: Superseded", "superseded"),
    ],
)
def test_a_status_is_read_however_it_is_dressed(line: str, word: str) -> None:
    told = dict(_outdated(f"# 3. Use Postgres\n\n{line}\n\n## Decision\n\nWe use it."))
    assert told[f"3. Use Postgres ({word})"]


@pytest.mark.parametrize(
    "line",
    ["Status: ✅ Accepted", "Status: Accepted, supersedes ADR-1", "## Status: Accepted",
     "Status: Accepted. What was superseded by it stays in Git."],
)  # fmt: skip
def test_a_status_that_holds_is_not_taken_for_an_end(line: str) -> None:
    told = _outdated(f"# 3. Use Postgres\n\n{line}\n\n## Decision\n\nWe use it.")
    assert not any(dict(told).values())


@pytest.mark.parametrize("status", ["Superseded by [4. Use both](0004.md)", "Rejected"])
def test_all_of_a_record_that_does_not_hold_says_so_in_its_title(status: str) -> None:
    word = status.split(maxsplit=1)[0].lower()
    told = dict(_outdated(_NYGARD.format(status)))
    assert all(told.values())
    assert {f"3. Use Postgres ({word})", f"Context ({word})"} <= told.keys()


def test_what_is_proposed_is_no_decision_and_not_outdated() -> None:
    told = dict(_outdated(_NYGARD.format("Proposed")))
    assert not any(told.values())
    assert {"3. Use Postgres (proposed)", "Context"} <= told.keys()


def test_of_a_list_only_the_entry_that_does_not_hold_is_outdated() -> None:
    told = _outdated(_LIST.format("What we decided."), "decisions.md")
    assert told == [
        ("Decisions", False),
        ("2026-02-12 Postgres keeps the orders", False),
        ("2026-02-14 Batches of eight (superseded)", True),
    ]


@pytest.mark.parametrize(
    ("front_matter", "titles"),
    [
        ("status: deprecated", ["Gateway (deprecated)", "Retries (deprecated)"]),
        ('status: "Superseded by v2.md"', ["Gateway (superseded)", "Retries (superseded)"]),
        ("status: draft", ["Gateway", "Retries"]),
        ("status: done", ["Gateway", "Retries"]),
        ("tags: [deprecated]", ["Gateway", "Retries"]),
    ],
)
def test_any_document_may_be_outdated_by_its_front_matter(
    front_matter: str, titles: list[str]
) -> None:
    text = f"---\n{front_matter}\n---\n# Gateway\n\nStatus: rejected once.\n\n## Retries\n\nThree."
    is_outdated = titles[0] != "Gateway"
    assert _outdated(text, "notes/gateway.md") == [(title, is_outdated) for title in titles]


_LIST = """# Decisions

{}

## 2026-02-12 Postgres keeps the orders

It takes two writers.

## 2026-02-14 Batches of eight

Status: superseded, they are of four.
"""


@pytest.mark.parametrize("title", ["# Decisions", "---\ntitle: Decisions\n---", ""])
def test_words_in_front_of_a_list_of_decisions_are_none(title: str) -> None:
    text = _LIST.format("Here we write down what we decided.").replace("# Decisions", title)
    assert _told(text, "memory/decisions.md") == ["2026-02-12 Postgres keeps the orders"]


@pytest.mark.parametrize("listed", ["- No Redis.", "* No Redis.", "1. No Redis.", "| No | Redis |"])
def test_a_list_in_front_of_headings_is_one_of_decisions(listed: str) -> None:
    text = _LIST.format(f"What holds:\n\n{listed}")
    assert _told(text, "decisions.md") == ["Decisions", "2026-02-12 Postgres keeps the orders"]


def test_words_that_stand_alone_or_in_a_file_of_their_own_are_the_decision() -> None:
    assert _told("# Decisions\n\nWe use Postgres.", "decisions.md") == ["Decisions"]
    assert _told("We use Postgres.", "decisions.md") == [""]
    own = "# Use Postgres\n\nIt takes two writers.\n\n## Why\n\nTwo services write."
    assert _told(own, "decisions/postgres.md") == ["Use Postgres", "Why"]
    several = "# Use Postgres\n\nIt takes two.\n\n## Why\n\nTwo write.\n\n# No Redis\n\nNone."
    assert _told(several, "decisions.md") == ["Use Postgres", "Why", "No Redis"]


def test_a_list_may_hold_records_beside_other_decisions() -> None:
    text = (
        "# Decisions\n\n## Postgres\n\n### Context\n\nTwo.\n\n### Decision\n\nWe use it.\n\n"
        "## No Redis\n\nNobody needs it.\n\n## SQLite\n\n### Status\n\nSuperseded\n\n"
        "### Decision\n\nWe use it."
    )
    assert _told(text, "decisions.md") == ["Postgres", "No Redis"]


def test_a_place_of_ones_own_that_names_a_file_is_a_list() -> None:
    places = {"entscheidungen.md": "decision", "beschluss-*.md": "decision"}
    text = "# Beschlüsse\n\nHier steht, was gilt.\n\n## Kein Redis\n\nNiemand braucht es."
    for uri, many in [("team/entscheidungen.md", 1), ("beschluss-7.md", 2)]:
        found = told_sections(parse_markdown(text), uri, None, places)
        assert [one.kind for one in found].count("decision") == many
