"""Front matter in YAML and TOML, the fields it gives, and what is refused."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.text.front_matter import FrontMatter, read_date_line, read_front_matter

_SEOUL = dt.timezone(dt.timedelta(hours=9))


def _read(yaml: str) -> FrontMatter:
    preface = read_front_matter(["---", *yaml.splitlines(), "---", "body"])
    assert preface.line_count == len(yaml.splitlines()) + 2
    return preface.front_matter


def test_reads_every_field() -> None:
    front = _read(
        "Title: 'Chose: Postgres'\n"
        "tags: [gpu, '#driver', gpu, home server]\n"
        "date: 2026-02-13\nkind: Decision\nscope: lab\n"
        "concepts:\n- GPU\n- RTX 5070 Ti\naliases: [the big one]\nunknown: {a: 1}"
    )
    assert front == FrontMatter(
        title="Chose: Postgres",
        tags=("gpu", "driver", "home server"),
        date=dt.date(2026, 2, 13),
        kind="decision",
        scope="lab",
        concepts=("GPU", "RTX 5070 Ti"),
        aliases=("the big one",),
    )


@pytest.mark.parametrize(
    "old", ["[SECRET:github-token] (revoked)", "[SECRET:jwt]", "- [SECRET:jwt], x"]
)
def test_the_mask_of_a_secret_is_a_word(old: str) -> None:
    front = _read(f"old:\n {old}\nscope: lab\ntags: [a, b]\ntitle: [SECRET:api-key] of the lab")
    assert front == FrontMatter(title="[SECRET:api-key] of the lab", tags=("a", "b"), scope="lab")


@pytest.mark.parametrize(
    ("written", "tags"),
    [
        ("gpu driver", ("gpu", "driver")),
        ("gpu, home server", ("gpu", "home server")),
        ("'#gpu'", ("gpu",)),
        ("[2024, no, 1.10, null, '']", ("2024", "no", "1.10")),
        ("{a: b}", ()),
        ("", ()),
    ],
)
def test_tags_are_a_list_or_a_string_and_stay_words(written: str, tags: tuple[str, ...]) -> None:
    assert _read(f"tags: {written}").tags == tags


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("2026-02-13", dt.date(2026, 2, 13)),
        ("2026/2/3", dt.date(2026, 2, 3)),
        ("20260213", dt.date(2026, 2, 13)),
        ("'2026-02-13'", dt.date(2026, 2, 13)),
        ("2026-02-13 9:05", dt.datetime(2026, 2, 13, 9, 5)),  # noqa: DTZ001
        ("2026-02-13T09:05:07Z", dt.datetime(2026, 2, 13, 9, 5, 7, tzinfo=dt.UTC)),
        ("2026-02-13 09:05:07.25 +09:00", dt.datetime(2026, 2, 13, 9, 5, 7, tzinfo=_SEOUL)),
        ("2026-02-13T09:05-0330",
         dt.datetime(2026, 2, 13, 9, 5, tzinfo=dt.timezone(-dt.timedelta(hours=3, minutes=30)))),
    ],
)  # fmt: skip
def test_dates(written: str, date: dt.date) -> None:
    assert _read(f"date: {written}").date == date


@pytest.mark.parametrize(
    "written", ["2026-13-40", "next Tuesday", "2026-02-13 25:00", "0001-01-01", "202621", "1-2-3"]
)
def test_an_impossible_date_is_told_and_spoils_nothing_else(written: str) -> None:
    preface = read_front_matter(["---", f"date: {written}", "title: T", "---"])
    assert preface.front_matter == FrontMatter(title="T")
    assert len(preface.warnings) == 1
    assert written in preface.warnings[0]


@pytest.mark.parametrize(
    ("line", "date"),
    [
        ("Date: 2024-05-28", dt.date(2024, 5, 28)), ("* Date: 2024/5/28", dt.date(2024, 5, 28)),
        ("**Date**: 2025-12-18", dt.date(2025, 12, 18)),
        ("> **Date:** 2025-12-18 09:30  ", dt.datetime(2025, 12, 18, 9, 30)),  # noqa: DTZ001
        ("Date: May 28, 2024", dt.date(2024, 5, 28)),
        ("**Date:** [[2024-05-28]]", dt.date(2024, 5, 28)),
        ("Date: 2024-05-28 (Tue)", dt.date(2024, 5, 28)),
        ("Date: 2024-05-28 16:00-17:00", dt.date(2024, 5, 28)),
        ("Date: 28.05.2024, 16:00 Uhr", dt.date(2024, 5, 28)),
        ("Date: 2024-05-28 10:00 AM", dt.date(2024, 5, 28)),
        ("Date: 2024-05-28 10:00 CEST", dt.date(2024, 5, 28)),
        ("Date: May 28, 2024 was too late", None), ("Date: to be agreed", None),
        ("Date: the 28th", None), ("Date: 2024-13-45", None), ("Update: 2024-05-28", None),
        ("Date: 2024-05-28 was too late", None), ("Date: 0001-01-01", None),
    ],
)  # fmt: skip
def test_a_line_below_the_title_tells_the_date(line: str, date: dt.date | None) -> None:
    assert read_date_line(["# 7. Use a queue", "", line]) == date
    assert read_date_line(["text"] * 12 + [line]) is None


@pytest.mark.parametrize(
    "text",
    [
        "# How notes begin\n\n```yaml\ndate: 2024-05-28\n```",
        "# Log\n\n## Monday\nDate: 2024-05-28\n\n## Tuesday\nDate: 2024-05-29",
    ],
)
def test_a_date_in_code_or_of_one_section_is_not_that_of_the_note(text: str) -> None:
    assert read_date_line(text.split("\n")) is None


def test_one_tag_and_one_alias_may_be_called_so() -> None:
    front = read_front_matter(
        ["---", "tag: gpu", "alias: [the box]", "created_at: 2026-02-01", "---"]
    )
    known = FrontMatter(tags=("gpu",), aliases=("the box",), date=dt.date(2026, 2, 1))
    assert front.front_matter == known


def test_created_stands_in_for_an_unreadable_date() -> None:
    preface = read_front_matter(["---", "date: soon", "created: 2026-02-13", "---"])
    assert preface.front_matter.date == dt.date(2026, 2, 13)
    assert len(preface.warnings) == 1


@pytest.mark.parametrize(
    "title",
    [
        "Fix: login redirects after OAuth", "@How to Take Notes", "`gpu`: it's hot", "%percent: 5",
        "[WIP] the login", '"Quoted" and more', "'No' is: no", "{a} of b", "{{title}}", "> than",
        "| and a pipe", "**bold**", "*One* star: two", "&amp; all", "[SECRET:jwt] [x]: y",
    ],
)  # fmt: skip
def test_a_plain_value_that_is_no_yaml_is_as_it_is_written(title: str) -> None:
    front = _read(f"title: {title}\ntags:\n- Book\n- gpu\ndate: 2024-10-05\nlist: [a, b]")
    assert front == FrontMatter(title=title, tags=("Book", "gpu"), date=dt.date(2024, 10, 5))


def test_tabs_are_blanks() -> None:
    front = _read("title:\tTabbed\ntags:\n\t- a\n\t- b\ndate:\t2024-10-05")
    assert front == FrontMatter(title="Tabbed", tags=("a", "b"), date=dt.date(2024, 10, 5))


def test_what_is_no_yaml_may_stand_in_a_list_or_below_another_field() -> None:
    front = _read("author:\n  name: M\n  twitter: @m\naliases:\n  - @home\ntitle: T")
    assert front == FrontMatter(title="T", aliases=("@home",))


def test_lists_beside_a_value_that_is_no_yaml_stay_lists() -> None:
    front = _read("title: [WIP] x\ntags: [a,\n  b]\naliases: ['c', d]\nmore:\n- k: v\n  l: w")
    assert front == FrontMatter(title="[WIP] x", tags=("a", "b"), aliases=("c", "d"))


def test_a_remark_beside_a_value_that_is_no_yaml_stays_one() -> None:
    front = _read("title: Fix: issue #12\ntags: a b # of mine\ndate: 2024-10-05  # not sure")
    assert front == FrontMatter(title="Fix: issue #12", tags=("a", "b"), date=dt.date(2024, 10, 5))


def test_a_value_that_is_no_yaml_is_not_read_over_several_lines() -> None:
    preface = read_front_matter(["---", "title: T", "about: a: b", "  and c", "---"])
    assert (preface.front_matter, preface.line_count) == (FrontMatter(title="T"), 0)
    assert [told.split("; ") for told in preface.warnings] == [
        ["front matter kept as text: mapping values are not allowed here, line 3",
         "read of it: title"],
    ]  # fmt: skip


def test_an_unknown_kind_is_told() -> None:
    preface = read_front_matter(["---", "kind: meeting", "---"])
    assert preface.front_matter.kind is None
    assert "'meeting'" in preface.warnings[0]


def test_toml() -> None:
    text = '+++\ntitle = "T"\ndate = 2026-02-13T09:05:00+09:00\ntags = ["a", "b"]\n+++\nbody'
    preface = read_front_matter(text.split("\n"))
    assert preface.line_count == 5
    assert preface.front_matter.title == "T"
    assert preface.front_matter.tags == ("a", "b")
    assert preface.front_matter.date == dt.datetime(2026, 2, 13, 9, 5, tzinfo=_SEOUL)


@pytest.mark.parametrize(
    ("block", "tags"),
    [
        ('title = "T"\n[taxonomies]\ntags = ["a", "b"]\ncategories = ["c"]', ("a", "b")),
        ('tags = ["own"]\n[taxonomies]\ntags = ["a"]', ("own",)),
        ('taxonomies = "a"', ()),
        ("[taxonomies]\ntags = 7\ntitle = 'no title'", ()),
    ],
)
def test_the_tags_of_a_page_of_zola(block: str, tags: tuple[str, ...]) -> None:
    read = read_front_matter(["+++", *block.split("\n"), "+++", "body"])
    assert (read.front_matter.tags, read.warnings) == (tags, ())
    assert read.front_matter.title in {"T", ""}


@pytest.mark.parametrize(
    "text", ["", "text", " ---\na: b\n---", "---\na: b", "----\na: b\n----", "\n---\na: b\n---"]
)
def test_no_front_matter(text: str) -> None:
    preface = read_front_matter(text.split("\n"))
    assert (preface.line_count, preface.warnings) == (0, ())


def test_empty_front_matter_is_none_to_keep() -> None:
    assert read_front_matter(["---", "---", "x"]).line_count == 2
    assert read_front_matter(["---", "# only a remark", "...", "x"]).line_count == 3


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ("title: [a", "line 2"),
        ("a: b: c", "line 2"),
        ("Mina: she said: no\nKit: @home", "line 2"),
        ("a: &x 1\nb: *x", "aliases"),
        ("a: &a [*a]", "aliases"),
        ("a: &a [1]\nb: {<<: [*a, *a]}", "aliases"),
        ("[" * 5_000 + "]" * 5_000, "nested"),
        ('a: "\\U11111111"', "escape"),
        ("a: !!python/object/apply:os.system [ls]\nb: [", "line"),
        ("a: " + "x" * 20_000, "20003 characters"),
        ("- a\n- b", "not a mapping"),
        ("just text", "not a mapping"),
    ],
)
def test_what_cannot_be_read_stays_text_and_says_why(block: str, reason: str) -> None:
    preface = read_front_matter(["---", *block.split("\n"), "---", "body"])
    assert preface.line_count == 0
    assert preface.front_matter == FrontMatter()
    assert reason in preface.warnings[0]


def test_a_tag_of_yaml_constructs_nothing() -> None:
    assert _read("title: !!python/name:os.system\ntags: !!set {a, b}") == FrontMatter()


@pytest.mark.parametrize("block", ["a = ", "a = 1\na = 2", "a = " + "[" * 5_000, "a = 9" * 3_000])
def test_broken_toml_stays_text(block: str) -> None:
    preface = read_front_matter(["+++", block, "+++"])
    assert preface.line_count == 0
    assert len(preface.warnings) == 1


def test_escapes_cannot_bring_in_what_no_text_may_hold() -> None:
    front = _read('title: "a\\0b\\ud800c\\nd"\ntags: ["x\\u0007"]')
    assert front.title == "ab\ufffdc d"
    assert front.tags == ("x",)


def test_names_are_bounded() -> None:
    preface = read_front_matter(["---", f"tags: [{', '.join(f't{n}' for n in range(500))}]", "---"])
    assert len(preface.front_matter.tags) == 100
    assert "500 tags" in preface.warnings[0]


_YAML = st.lists(
    st.one_of(
        st.text(alphabet="ab:-[]{}&*!|>'\"#%@,?\\ \t~<=0123456789xuU", max_size=30),
        st.sampled_from(["title: x", "tags:", "- a", "date: 2026-01-01", "  k: |", "---", "..."]),
    ),
    max_size=8,
)


@given(_YAML, st.sampled_from(["---", "+++"]))
def test_anything_between_fences_is_read_or_kept(block: list[str], fence: str) -> None:
    lines = [fence, *block, fence, "body"]
    preface = read_front_matter(lines)
    assert 0 <= preface.line_count <= len(lines) - 1
    assert preface.line_count == 0 or lines[preface.line_count - 1].rstrip() in {
        "---",
        "...",
        "+++",
    }
