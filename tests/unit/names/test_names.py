"""Names: which headings and words name something, and which are grammar, calendar or clock."""

import time
import unicodedata
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.names.names import Name, declared_name, heading_name
from service.names.proper_nouns import proper_names
from service.names.slugs import key_of, slug_of, tokens_of


def _proper(text: str) -> set[str]:
    return {name.name for name in proper_names(text).values()}


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("hardware constraints", "hardware_constraints"),
        ("RTX 5070 Ti", "rtx_5070_ti"),
        ("GPUs", "gpu"),
        ("St. Louis", "st_louis"),
        ("Café-Übergabe", "cafe_ubergabe"),
        ("src/app.py", "src_app_py"),
        ("그래픽 카드", "그래픽_카드"),
        ("Straße", "strasse"),
        ("दिल्ली मेट्रो", "दिल्ली_मेट्रो"),
        ("مُحَمَّد", "محمد"),
        ("ใช้Docker", "ใช้_docker"),
        ("The Lion King", "lion_king"),
        ("The Wire", "the_wire"),
        ("RTX카드", "rtx_카드"),
        ("FN-88", "fn_88"),
        ("C++", "c++"),
        ("C#", "c#"),
        ("Ｃ＃", "c#"),
        ("Objective-C++", "objective_c++"),
        ("C/C++", "c_c++"),
        ("C++17", "c++_17"),
        ("C++ 언어", "c++_언어"),
        ("C#으로", "c#_으로"),
        ("VC++", "vc"),
        ("C+++ C## C#part a+b", "c_c_c_part_a_b"),
        ("한 C+++ C## C#part a+b", "한_c_c_c_part_a_b"),
    ],
)
def test_slugs(name: str, slug: str) -> None:
    assert slug_of(name) == slug


@given(st.text())
def test_a_slug_is_its_own_slug(text: str) -> None:
    assert slug_of(slug_of(text)) == slug_of(text)


@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("14:30 Deploy fixed", "Deploy fixed"),
        ("9:05 - VRAM full", "VRAM full"),
        ("[14:30:15] – Server crash", "Server crash"),
        ("2:30 PM standup", "standup"),
        ("14：30 서버 장애", "서버 장애"),
        ("Driver rollback (again)", "Driver rollback"),
        ("`app.py` rewrite", "app.py rewrite"),
        ("GPU", "GPU"),
        ("C++", "C++"),
        ("F#", "F#"),
        ("v2", "v2"),
        ("서버", "서버"),
        ("Notes on Redis", "Notes on Redis"),
    ],
)
def test_headings_that_name_something(heading: str, name: str) -> None:
    found = heading_name(heading)
    assert found is not None
    assert (found.name, found.slug, found.kind) == (name, slug_of(name), "heading")


@pytest.mark.parametrize(
    "heading",
    [
        "", "   ", "---", "14:30", "9:05 AM", "Notes", "NOTES", "Next steps", "2026-02-13",
        "13.2.2026", "2026-02-13 Deployment", "Friday, February 13", "2026", "A", "Why?",
        "(draft)", "rush", "Log 14:30", "We decided to move everything to one box",
    ],
)  # fmt: skip
def test_headings_that_tell_nothing(heading: str) -> None:
    assert heading_name(heading) is None


def test_a_title_may_be_longer_than_a_heading() -> None:
    long = "List of mayors of Little Rock, Arkansas"
    assert heading_name(long) is None
    title = heading_name(long, "title")
    assert title is not None
    assert title.slug == "list_of_mayors_of_little_rock_arkansas"


@pytest.mark.parametrize(
    ("name", "is_cased"),
    [("Redis", True), ("SurrealDB", False), ("VRAM", False), ("Redis box", False), ("E12", False)],
)
def test_only_a_plain_capitalised_word_is_cased(name: str, is_cased: bool) -> None:
    heading = heading_name(name)
    assert heading is not None
    assert heading.is_cased is is_cased


def test_a_declared_name_is_taken_as_given() -> None:
    assert declared_name("  home\n server ", "tag") == Name("home_server", "home server", "tag")
    assert declared_name("go") == Name("go", "go", "declared")
    assert declared_name("C#") == Name("c#", "C#", "declared")
    assert declared_name("가") == Name("가", "가", "declared")


@pytest.mark.parametrize(
    "name", ["", "  ", "?!", "x", "the", "C", "C+", "x" * 121, "가" * 121, "one two " * 7]
)
def test_a_declared_name_that_cannot_be_matched_is_none(name: str) -> None:
    assert declared_name(name) is None


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("We met Kit Harlan in Little Rock.", {"Kit Harlan", "Little Rock"}),
        ("it needs the RTX 5070 Ti or more", {"RTX 5070 Ti"}),
        ("the error E1234 came from SurrealDB", {"E1234", "SurrealDB"}),
        ("a Redis cache", {"Redis"}),
        ("The Redis cache", {"Redis"}),
        ("the Bank of England said", {"Bank of England"}),
        ("read the Lord of the Rings", {"Lord of the Rings"}),
        ("ask Juan de la Cruz", {"Juan de la Cruz"}),
        ("so said J. K. Rowling", {"J K Rowling"}),
        ("then Dr. Harlan came by St. Louis", {"Harlan", "St Louis"}),
        ("In 2019 Microsoft bought it", {"Microsoft"}),
        ("the café Zürich", {"Zürich"}),
        ("ask Kit\n\nHarlan then", {"Kit"}),
        ("| see Kit | Harlan |", {"Kit"}),
        ("bring GPUs", {"GPUs"}),
        ("by First National Pictures", {"First National Pictures"}),
        ("FN-88 ends, as does B-317", {"FN-88", "B-317"}),
        ("Osprey-2 fails", {"Osprey-2"}),
        ("the Osprey v2.3.1 fails", {"Osprey"}),
        ("Mail for Northmoor Dairy", {"Northmoor Dairy"}),
        ("the Office for National Statistics", {"Office for National Statistics"}),
        ('the host "Tern" is up', {"Tern"}),
        ("read `src/app.py:12` and `hasPending`", {"src/app.py", "hasPending"}),
        ("It is in C++ and C# or `G++`", {"C++", "C#", "G++"}),
        ("C++17 is there", {"C++"}),
        ("Osprey를 재시작", {"Osprey"}),
        ("어제 김민수 팀장이 왔다", {"김민수"}),
        ("请看《红楼梦》", {"红楼梦"}),
    ],
)
def test_proper_nouns(text: str, names: set[str]) -> None:
    assert _proper(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "Moving on, nothing else. Redis",
        "On Monday in February. Today.",
        "However, it works. Yes! TODO",
        "the 3rd run took 100ms and 24h",
        "in 2026, at 14:30",
        "I and a B",
        "plain words only",
        "the loop counts i++, as `j++` does, for grade C+",
        'so "Yes" is "ok"',
        "README.md and index.js, at 2026-02-14T10:00:00Z",
        "see https://github.com/JohnSmith/Repo, commit 3fa9c1d",
        "the token is [SECRET:github-token], a login [SECRET:password]",
        "Push to production",
        "a State of mind, the state of affairs",
        "he was First in class, the Second",
        "",
    ],
)
def test_words_that_grammar_or_calendar_capitalise_are_no_names(text: str) -> None:
    assert _proper(text) == set()


@pytest.mark.parametrize(
    "text",
    [
        "see `Kit Harlan` there",
        "text\n```\nuse Kit Harlan\n```\nmore",
        "text\n~~~sh\nuse Kit Harlan\n~~~",
        "text\n````\n```\nuse Kit Harlan\n```\n````",
        "text\n```\n```python\nuse Kit Harlan\n``` \t",
        "text\n```\nuse Kit Harlan, never closed",
        "- list:\n  ```\n  use Kit Harlan\n  ```",
    ],
)
def test_code_names_nothing(text: str) -> None:
    assert _proper(text) == set()


def test_prose_between_code_does() -> None:
    assert _proper("```\na\n```\nask Kit\n~~~\nb ```\n~~~\nand Harlan") == {"Kit", "Harlan"}


def test_the_first_spelling_gives_the_name() -> None:
    assert proper_names("use VRAM, then Vram, then vram")["vram"].name == "VRAM"


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_name_keeps_its_accents_and_is_looked_up_without_them(
    form: Literal["NFC", "NFD"],
) -> None:
    text = "Did Jürgen Müller meet Lucía de la Peña in Lübeck? See `de/Küche.md` and Straße.md."
    found = proper_names(unicodedata.normalize(form, text))
    assert {slug: name.name for slug, name in found.items()} == {
        "jurgen_muller": "Jürgen Müller",
        "lucia_de_la_pena": "Lucía de la Peña",
        "lubeck": "Lübeck",
        "de_kuche_md": "de/Küche.md",
        "strasse_md": "Straße.md",
    }


def test_a_list_of_everything_is_no_name() -> None:
    assert _proper("x " + "Kit " * 7) == set()


@pytest.mark.parametrize("piece", ["```x\n", "`", "A of ", "Dr. ", "\n \n", "Aa ", "(", "for "])
def test_long_texts_take_linear_work(piece: str) -> None:
    started = time.process_time()
    proper_names(piece * (200_000 // len(piece)))
    # 0.3 s when written; the square of the length would be minutes.
    assert time.process_time() - started < 5


def test_a_table_of_identifiers_takes_linear_work_and_is_bounded() -> None:
    started = time.process_time()
    found = proper_names(" ".join(f"FN-{number}" for number in range(40_000)))
    assert time.process_time() - started < 5
    assert len(found) == 64


@given(st.text(st.one_of(st.characters(), st.sampled_from("aAbB1. \n`~-'\u0130ß가中"))))
def test_any_text_gives_names_that_it_holds(text: str) -> None:
    every = key_of(tokens_of(text))
    for slug, name in proper_names(text).items():
        assert slug == name.slug == slug_of(name.name)
        assert slug in every
    for kind in ("heading", "title"):
        heading = heading_name(text, kind)
        assert heading is None or heading.slug == slug_of(heading.name)
