"""Drafts: what a parsed document becomes, which keys it gets and which names it gives."""

import re
from dataclasses import replace
from datetime import UTC, date, datetime, time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.drafts import drafts as module
from service.drafts.drafts import (
    Cutting,
    DocumentText,
    Draft,
    document_drafts,
)
from service.drafts.ids import digest
from service.drafts.named import names_in
from service.names.names import declared_name
from service.records import Source
from service.text.markdown import Document, Section, parse_markdown
from service.text.titles import text_of

_AT = datetime(2026, 2, 13, 9, 5, tzinfo=UTC)
_SCHEMA = Path(module.__file__).parents[2] / "schema.surql"


def _section(*path: str, content: str = "text", ordinal: int = 0, part: int = 0) -> Section:
    title = path[-1] if path else ""
    return Section(path, len(path), title, content, 3, 5, ordinal=ordinal, part=part)


def _draft(text: DocumentText, parsed: Document) -> Draft:
    (draft,) = document_drafts(text, parsed, {})
    return draft


_TEXT = DocumentText("notes/gpu.md", "# GPU\n\ntext", modified_at=_AT)
_PARSED = Document("GPU", sections=(_section("GPU"),))


def test_a_section_becomes_a_draft() -> None:
    draft = _draft(replace(_TEXT, agent="kit", scope="lab"), _PARSED)
    assert (draft.agent, draft.scope, draft.title, draft.content) == ("kit", "lab", "GPU", "text")
    assert (draft.kind, draft.type, draft.source_kind) == ("note", "semantic", "document")
    assert draft.source == Source("notes/gpu.md", 3, 5)
    assert draft.heading_path == ("GPU",)


def test_sections_keep_the_order_of_their_lines() -> None:
    parsed = Document(sections=tuple(_section("A", name) for name in "zyx"))
    found = document_drafts(_TEXT, parsed, {})
    assert [(draft.title, draft.position) for draft in found] == [("z", 0), ("y", 1), ("x", 2)]


def test_a_title_is_never_missing_and_never_endless() -> None:
    assert _draft(_TEXT, Document("Of the file", sections=(_section(),))).title == "Of the file"
    assert _draft(_TEXT, Document(sections=(_section(),))).title == "gpu"
    assert len(_draft(_TEXT, Document(sections=(_section("x" * 900),))).title) == 200


def test_text_before_the_first_heading_stands_below_the_title() -> None:
    assert _draft(_TEXT, Document("T", sections=(_section(),))).heading_path == ("T",)
    assert _draft(_TEXT, Document(sections=(_section(),))).heading_path == ()


@pytest.mark.parametrize(
    "uri",
    ["a/README.md", "a/SKILL.md", "USER.md", "memory/2026-02-13.md", "2026-02-13-x.md", "a b.c"],
)
def test_a_file_whose_name_says_nothing_alone_is_called_by_its_path(uri: str) -> None:
    assert _draft(replace(_TEXT, uri=uri), Document(sections=(_section(),))).title == uri


def test_links_lead_to_a_file_without_a_title_by_its_name() -> None:
    text = "Packages of [[Rust]].\n\n## Profiles\n\nrelease and dev"
    document = replace(_TEXT, uri="vault/Cargo Manifest.md", text=text)
    above, below = document_drafts(document, parse_markdown(text), {})
    slugs = [{name.slug for name in names_in(one)} for one in (above, below)]
    assert slugs == [{"rust", "cargo_manifest"}, {"profiles", "cargo_manifest"}]
    assert (above.title, above.subject, above.heading_path) == (
        "Cargo Manifest", "cargo_manifest", ()
    )  # fmt: skip
    assert (below.title, below.heading_path) == ("Profiles", ("Profiles",))


def test_links_lead_to_a_file_by_its_name_whatever_its_title_is() -> None:
    text = "# Atomic notes\n\nOne thought each."
    document = replace(_TEXT, uri="zettel/202405101245 Small notes.md", text=text)
    draft = _draft(document, parse_markdown(text))
    slugs = [name.slug for name in names_in(draft)]
    assert (draft.title, slugs) == ("Atomic notes", ["202405101245_small_notes", "atomic_notes"])
    [link] = parse_markdown("See [[202405101245 Small notes]].").sections[0].links
    assert declared_name(link, "link") in names_in(draft)


@pytest.mark.parametrize(
    ("file", "is_cased"),
    [("release", True), ("Config", True), ("GPU", False), ("how we ship", False), ("v2", False)],
)
def test_a_plain_word_that_names_a_file_needs_its_capital(file: str, is_cased: bool) -> None:
    document = replace(_TEXT, uri=f"vault/{file}.md")
    for text in ("# Anything else\n\ntext", "text"):
        name = names_in(_draft(document, parse_markdown(text)))[0]
        assert (name.name, name.is_cased) == (file, is_cased)


def test_links_lead_to_a_file_of_which_the_front_matter_tells_the_title() -> None:
    text = "---\ntitle: Atomic notes\n---\nOne thought each."
    draft = _draft(replace(_TEXT, uri="zettel/Small (short) notes.md"), parse_markdown(text))
    assert [name.slug for name in names_in(draft)] == ["small_short_notes", "atomic_notes"]


def test_a_link_with_the_folder_of_a_person_leads_to_the_file() -> None:
    [linking] = document_drafts(_TEXT, parse_markdown("With [[people/Anna Berg]]."), {})
    document = replace(_TEXT, uri="vault/people/Anna Berg.md")
    person = _draft(document, parse_markdown("# The harbour master"))
    for draft in (linking, person):
        assert "anna_berg" in {name.slug for name in names_in(draft)}


def test_a_short_common_word_that_names_a_file_links_nothing() -> None:
    document = replace(_TEXT, uri="vault/Box.md")
    draft = _draft(document, parse_markdown("## Boxing a value\n\ntext"))
    assert [name.slug for name in names_in(draft)] == ["boxing_a_value"]


@pytest.mark.parametrize("uri", ["skills/pdf/SKILL.md", "USER.md"])
def test_a_name_that_programs_prescribe_links_nothing(uri: str) -> None:
    draft = _draft(replace(_TEXT, uri=uri), parse_markdown("## Filling forms\n\ntext"))
    assert [name.slug for name in names_in(draft)] == ["filling_forms"]
    named = _draft(replace(_TEXT, uri="vault/GPU.md"), parse_markdown("## Filling forms\n\ntext"))
    assert "gpu" in [name.slug for name in names_in(named)]


def test_a_title_in_front_matter_stands_above_all_sections_of_a_text_without_an_h1() -> None:
    text = "---\ntitle: Project Heron\n---\nscanner\n\n## Risks\n\n### Battery\n\nNovember"
    drafts = document_drafts(_TEXT, parse_markdown(text), {})
    paths = [("Project Heron",), ("Project Heron", "Risks", "Battery")]
    assert [one.heading_path for one in drafts] == paths
    assert "Heron" in drafts[-1].text


@pytest.mark.parametrize("heading", ["# Heron, the scanner", "## Project Heron"])
def test_a_title_in_front_matter_is_not_put_above_one_in_the_text(heading: str) -> None:
    text = f"---\ntitle: Project Heron\n---\n{heading}\n\ntext"
    assert _draft(_TEXT, parse_markdown(text)).heading_path == (heading.strip("# "),)


def test_a_text_without_a_title_is_found_by_the_name_of_its_file() -> None:
    text = "before\n\n## Options\n\n### Strict\n\ntext"
    document = DocumentText("rules/no-floating-promises.md", text)
    before, strict = document_drafts(document, parse_markdown(text), {})
    assert (before.title, before.search_headings) == ("no-floating-promises", ())
    assert strict.search_headings == ("no-floating-promises",)
    assert strict.searched_text == "Options › Strict › no-floating-promises\ntext"
    assert strict.text == "Options › Strict\ntext"
    # No name and no hash counts it: a renamed file says the same.
    assert strict.content_hash == replace(strict, search_headings=()).content_hash
    assert [name.name for name in names_in(replace(strict, concepts=()))] == ["Options", "Strict"]


@pytest.mark.parametrize(
    ("uri", "text"),
    [
        ("rules/no-floating-promises.md", "# Promises\n\n## Options\n\ntext"),
        ("rules/no-floating-promises.md", "---\ntitle: Promises\n---\n## Options\n\ntext"),
        ("rules/README.md", "## Options\n\ntext"),
        ("journal/2026-02-13.md", "## Options\n\ntext"),
    ],
)
def test_a_titled_text_or_a_name_that_tells_nothing_is_not_found_by_it(uri: str, text: str) -> None:
    assert _draft(DocumentText(uri, text), parse_markdown(text)).search_headings == ()


def test_a_part_is_found_by_the_deeper_headings_above_it() -> None:
    text = "## Options\n\n#### max-width\n\n" + "\n\n".join(["word " * 40] * 3)
    document = DocumentText("prettier.md", text)
    drafts = document_drafts(document, parse_markdown(text, 60), {})
    assert [one.search_headings for one in drafts] == [
        ("prettier",), ("prettier", "max-width"), ("prettier", "max-width"),
    ]  # fmt: skip
    assert "max-width" not in drafts[1].text
    assert drafts[1].row()["search_headings"] == ["prettier", "max-width"]
    assert replace(drafts[1], search_headings=()).row()["search_headings"] is None


def test_a_titles_change_leaves_the_keys_of_sections() -> None:
    one, other = (
        _draft(_TEXT, parse_markdown(f"---\ntitle: {title}\n---\n## Risks\n\ntext"))
        for title in ("Project Heron", "Heron")
    )
    assert one.id == other.id


@pytest.mark.parametrize(
    ("asked", "said", "uri", "kind"),
    [
        ("fact", "decision", "memory/2026-02-13.md", "fact"),
        (None, "decision", "memory/2026-02-13.md", "decision"),
        (None, "meeting", "memory/2026-02-13.md", "daily_log"),
        (None, None, "talks/a.md", "observation"),
        (None, None, "other/a.md", "note"),
    ],
)
def test_kind_from_caller_then_front_matter_then_place(
    asked: str | None, said: str | None, uri: str, kind: str
) -> None:
    parsed = replace(_PARSED, kind=said)
    text = replace(_TEXT, kind=asked, uri=uri)
    (draft,) = document_drafts(text, parsed, {"talks/**": "observation"})
    assert draft.kind == kind


def test_a_callers_place_goes_before_the_built_in_table() -> None:
    text = replace(_TEXT, uri="decisions.md")
    (draft,) = document_drafts(text, _PARSED, {"decisions.md": "fact"})
    assert draft.kind == "fact"


def test_scope_of_the_caller_goes_before_the_front_matter() -> None:
    parsed = replace(_PARSED, scope="written")
    assert _draft(_TEXT, parsed).scope == "written"
    assert _draft(replace(_TEXT, scope="asked"), parsed).scope == "asked"


def test_time_from_caller_then_front_matter_then_name_then_file() -> None:
    dated = replace(_PARSED, date=date(2026, 1, 2))
    asked = datetime(2025, 5, 5, tzinfo=UTC)
    named = replace(_TEXT, uri="memory/2026-03-04.md")
    moments = [
        _draft(replace(_TEXT, occurred_at=asked), dated),
        _draft(named, dated),
        _draft(named, _PARSED),
        _draft(_TEXT, _PARSED),
    ]
    assert [(d.occurred_at, d.is_dated) for d in moments] == [
        (asked, True),
        (datetime(2026, 1, 2, tzinfo=UTC), True),
        (datetime(2026, 3, 4, tzinfo=UTC), True),
        (_AT, False),
    ]


@pytest.mark.parametrize(
    ("uri", "line", "moment"),
    [
        ("adr/0007-queue.md", "2024-05-28", "2024-05-28T00:00"),
        ("memory/2026-03-04.md", "2024-05-28", "2026-03-04T00:00"),
        ("meetings/2026-03-04-kit.md", "2026-03-04 09:30", "2026-03-04T09:30"),
        ("meetings/2026-03-04-1400.md", "2026-03-04", "2026-03-04T14:00"),
    ],
)
def test_a_line_that_tells_a_date_only_says_more_than_the_name(
    uri: str, line: str, moment: str
) -> None:
    draft = _draft(replace(_TEXT, uri=uri), parse_markdown(f"# Kit\n\n- Date: {line}\n- paid"))
    assert (draft.occurred_at.isoformat()[:16], draft.is_dated) == (moment, True)


def test_a_headings_clock_is_the_time_of_day() -> None:
    section = replace(_section("14:30 Deploy"), clock=time(14, 30))
    draft = _draft(replace(_TEXT, uri="memory/2026-03-04.md"), Document(sections=(section,)))
    assert draft.occurred_at == datetime(2026, 3, 4, 14, 30, tzinfo=UTC)


def test_a_headings_date_is_the_day_and_the_nearest_counts() -> None:
    text = replace(_TEXT, uri="decisions.md")
    above = ("2026-02-12 Models", "Chose Qwen3")
    draft = _draft(text, Document(sections=(_section(*above),)))
    assert (draft.occurred_at.isoformat()[:10], draft.is_dated) == ("2026-02-12", True)
    nearer = _draft(text, Document(sections=(_section("2026-02-12 Models", "2026-02-14"),)))
    assert nearer.occurred_at.isoformat()[:10] == "2026-02-14"


def test_a_date_at_the_end_of_a_heading_is_not_its_day() -> None:
    log = replace(_TEXT, uri="memory/2026-02-13.md")
    draft = _draft(log, Document(sections=(_section("Lease valid until 2031-12-31"),)))
    assert draft.occurred_at.isoformat()[:10] == "2026-02-13"
    tracker = replace(_TEXT, uri="retro/Tracker-2026-04-05.md")
    draft = _draft(tracker, Document(sections=(_section("Items"),)))
    assert (draft.occurred_at.isoformat()[:10], draft.is_dated) == ("2026-04-05", True)


def test_tags_and_links_are_joined_each_once() -> None:
    section = replace(_section("A"), tags=("b", "c"), links=("Kit", "GPU"))
    parsed = Document(
        tags=("a", "b"), concepts=("GPU", "VRAM"), aliases=("the card",), sections=(section,)
    )
    draft = _draft(_TEXT, parsed)
    assert draft.tags == ("a", "b", "c")
    assert draft.concepts == ("Kit", "GPU", "VRAM", "the card")


def test_daily_logs_of_a_folder_are_one_chain_and_other_documents_their_own() -> None:
    chains = [
        _draft(replace(_TEXT, uri=uri), _PARSED).chain
        for uri in ("x/2026-02-13.md", "x/2026-02-14.md", "y/2026-02-13.md", "a.md", "b.md")
    ]
    assert chains[0] == chains[1]
    assert len(set(chains)) == 4


def test_a_key_depends_on_the_place_alone() -> None:
    key = _draft(_TEXT, _PARSED).id
    same = replace(_PARSED, tags=("x",), sections=(_section("GPU", content="other"),))
    assert _draft(replace(_TEXT, text="other", scope="lab"), same).id == key
    others = [
        _draft(replace(_TEXT, agent="kit"), _PARSED).id,
        _draft(replace(_TEXT, uri="b.md"), _PARSED).id,
        _draft(_TEXT, Document(sections=(_section("VRAM"),))).id,
        _draft(_TEXT, Document(sections=(_section("GPU", "GPU"),))).id,
        _draft(_TEXT, Document(sections=(_section("GPU", ordinal=1),))).id,
        _draft(_TEXT, Document(sections=(_section("GPU", part=1),))).id,
    ]
    assert len({key, *others}) == 7


def test_the_text_hash_changes_with_all_that_reading_again_could_change() -> None:
    known = _TEXT.text_hash(Cutting())
    assert replace(_TEXT, modified_at=None, folder="x").text_hash(Cutting()) == known
    changed = [
        _TEXT.text_hash(Cutting(section_tokens=300)),
        _TEXT.text_hash(Cutting(max_sections=9)),
        replace(_TEXT, text="other").text_hash(Cutting()),
        replace(_TEXT, scope="lab").text_hash(Cutting()),
        replace(_TEXT, kind="fact").text_hash(Cutting()),
        replace(_TEXT, occurred_at=_AT).text_hash(Cutting()),
    ]
    assert len({known, *changed}) == 7


def test_digests_keep_their_parts_apart() -> None:
    assert re.fullmatch(r"[0-9a-f]{32}", digest("a"))
    assert len({digest("ab"), digest("a", "b"), digest("", "ab"), digest("b", "a")}) == 4
    assert digest("\ud800") != digest("?")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a\x1fb",), ("a", "b")),
        (("a\x1f", "b"), ("a", "\x1fb")),
        (("ref", "main", "push\x1fx", "y"), ("ref", "main", "push", "x\x1fy")),
        (("\x1f", "1:a"), ("\x1f1:a", "")),
        (("1:\x1f2:ab", "c"), ("\x1f", "ab", "c")),
    ],
)
def test_parts_that_hold_the_separator_are_kept_apart_too(
    one: tuple[str, ...], other: tuple[str, ...]
) -> None:
    assert digest(*one) != digest(*other)


@given(*[st.lists(st.text("a\x1f", max_size=2), min_size=1, max_size=3)] * 2)
def test_only_equal_parts_have_equal_digests(one: list[str], other: list[str]) -> None:
    assert (digest(*one) == digest(*other)) == (one == other)


def test_digests_are_those_of_the_stores_there_are() -> None:
    assert digest("ref", "main", "push", "r-1") == "7a5779ab8bf26a9b7550cf1997959344"
    sections = [_section("A", "B", ordinal=1), _section()]
    drafts = document_drafts(_TEXT, Document("GPU", sections=tuple(sections)), {})
    assert [draft.id for draft in drafts] == [
        "a1dc0dcb13c99b68950a5ab54cda2f41",
        "439c7ee20dc5f2dc49168028ff50899f",
    ]


def test_sections_whose_headings_hold_the_separator_have_keys_of_their_own() -> None:
    paths = [("a\x1eb",), ("a", "b"), ("", "a", "b"), ("a\x1e", "b"), ("a", "\x1eb")]
    parsed = Document("GPU", sections=tuple(_section(*path) for path in paths))
    assert len({draft.id for draft in document_drafts(_TEXT, parsed, {})}) == len(paths)


def test_the_searched_text_names_each_heading_once() -> None:
    assert text_of(("Kit", "GPU"), "GPU", "It works.") == "Kit › GPU\nIt works."
    assert text_of((), "Title", "It works.") == "Title\nIt works."
    assert text_of((), "", "It works.") == "It works."


def test_equal_texts_have_equal_hashes() -> None:
    draft = _draft(_TEXT, _PARSED)
    assert replace(draft, tags=("x",), position=9).content_hash == draft.content_hash
    assert replace(draft, content="other").content_hash != draft.content_hash
    assert replace(draft, title="other").content_hash != draft.content_hash


def test_a_row_fits_the_table() -> None:
    row = replace(_draft(_TEXT, _PARSED), tags=("a",)).row()
    fields = re.findall(
        r"DEFINE FIELD (?:IF NOT EXISTS|OVERWRITE) (\w+) ON memory\b", _SCHEMA.read_text()
    )
    assert set(row) <= set(fields)
    assert row["source"] == {"uri": "notes/gpu.md", "line_start": 3, "line_end": 5, "ref": None}
    assert (row["tags"], row["heading_path"]) == (["a"], ["GPU"])
    assert "id" not in row


def test_names_given_on_purpose() -> None:
    draft = replace(
        _draft(_TEXT, _PARSED),
        title="Driver rollback",
        heading_path=("Home server", "Notes", "Driver rollback"),
        tags=("gpu", "x"),
        concepts=("Kit Harlan",),
    )
    assert [(name.name, name.kind) for name in names_in(draft)] == [
        ("gpu", "tag"),
        ("Kit Harlan", "link"),
        ("Home server", "title"),
        ("Driver rollback", "heading"),
    ]


def test_a_pushed_title_is_a_name_and_each_name_comes_once() -> None:
    draft = replace(_draft(_TEXT, _PARSED), title="Hardware", heading_path=(), tags=("hardware",))
    assert [name.slug for name in names_in(draft)] == ["hardware"]
