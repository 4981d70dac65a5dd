"""Wikilinks and inline tags: which marks name something and which are code or markup."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.text.marks import find_tags, find_wikilinks, read_heading_text


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("see [[Project X]] and [[notes/gpu.md]]", ["Project X", "gpu"]),
        ("[[target|label]] [[target#heading]] [[a#b|c]]", ["target", "target", "a"]),
        ("[[a/b/Kit B.MD#c|d]] [[TCP/IP]] [[.md]] [[a/.md]]", ["Kit B", "TCP/IP", ".md", "a/.md"]),
        (
            "[[C#]] [[F#|it]] [[C# in Depth]] [[C++#Old]] [[C##Old]]",
            ["C#", "F#", "C# in Depth", "C++", "C"],
        ),
        ("[[vitamin c#]] [[ABC# d]] [[c#part]]", ["vitamin c#", "ABC", "c"]),
        ("[[ spaced ]] [[한국어 노트]]", ["spaced", "한국어 노트"]),
        ("[[projects/Cargo Basics|Cargo Basics]] [[a/B.md|B]]", ["Cargo Basics", "B"]),
        ("[[projects/Cargo Basics|it]] [[TCP/IP|TCP/IP]]", ["projects/Cargo Basics", "TCP/IP"]),
        ("a cell [[a\\|b]]", ["a"]),
        ("`[[no]]` ``[[no ` no]]`` [[yes]]", ["yes"]),
        ("\\`[[yes]]\\`", ["yes"]),
        ("` [[yes]] no closing tick", ["yes"]),
        ("![[plan.png]] ![[board]] ![[page.md]]", ["board", "page"]),
        ("[[#local]] [[]] [[ ]] [single] [[a\nb]] m[[1,2],[3,4]]", []),
    ],
)
def test_wikilinks(text: str, targets: list[str]) -> None:
    assert find_wikilinks(text) == targets


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("#gpu at the start, #area/home and #to-do.", ["gpu", "area/home", "to-do"]),
        ("#한국어 (see #note) (#not) #next", ["한국어", "note", "next"]),
        ("issue #123, C# and F#, page.html#part, [x](#part), ##two", []),
        ("`#code` #fff #ff00aa #map(&:id) #x", []),
        ("#c++ #C#, #f# #g++x #i+ #c##", ["c++", "C#", "f#"]),
        ("first line\n#second", ["second"]),
        ("#trailing- #slash/", ["trailing", "slash"]),
        ("#हिन्दी #ภาษาไทย, #தமிழ்", ["हिन्दी", "ภาษาไทย", "தமிழ்"]),
    ],
)
def test_tags(text: str, tags: list[str]) -> None:
    assert find_tags(text) == tags


def test_headings_show_labels() -> None:
    assert read_heading_text("Met [[people/kit|Kit]] at [[HQ]]") == "Met Kit at HQ"


def test_runs_of_marks_take_linear_work() -> None:
    assert find_wikilinks("[[" * 100_000) == []
    assert find_wikilinks("".join("`" * n for n in range(1, 500)) * 2 + "[[x" * 50_000) == []
    assert find_tags("#" * 100_000 + " #" * 100_000) == []


@given(st.text(alphabet="[]|#`\\! \nab한"))
def test_any_mix_of_marks_is_read(text: str) -> None:
    for target in find_wikilinks(text):
        assert target == target.strip() != ""
        assert target in text
    assert all(f"#{tag}" in text for tag in find_tags(text))
