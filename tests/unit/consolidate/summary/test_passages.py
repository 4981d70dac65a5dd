"""What a text says piece by piece, for every block that markdown knows and texts that are none."""

from time import thread_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.consolidate.summary.passages import Passage, read_passages


def _texts(text: str) -> list[str]:
    return [passage.text for passage in read_passages(text)]


@pytest.mark.parametrize(
    ("text", "passages"),
    [
        ("One. Two goes\r\non. Three", ["One.", "Two goes on.", "Three"]),
        ("- one. And more.\n- two\n  goes on", ["one. And more.", "two goes on"]),
        ("1. one\n2) two\n10. ten", ["one", "two", "ten"]),
        ("- a\n  - b\n    - c\n\n  more of a\n- d", ["a", "b", "c", "more of a", "d"]),
        ("- - deep\n+ plus\n* star", ["deep", "plus", "star"]),
        ("- 2026-01-01: x", ["2026-01-01: x"]),
        ("- [ ] open\n- [x] done\n- [X] Done", ["[ ] open", "[x] done", "[X] Done"]),
        ("> quoted a\n> goes on. B.\n> - in\n>   quote", ["quoted a goes on.", "B.", "in quote"]),
        ("| a | b |\n|--:|---|\n| 1 | x.py |\n| | |", ["a | b", "1 | x.py"]),
        ("#### Deep *heading*\n\nText.", ["Deep *heading*", "Text."]),
        ("a\n\n---\n\n***\n\n- \n- [ ]\n\n…", ["a"]),
        ("<!-- hidden -->\n\n<div>\n</div>\n\n<p>seen</p>", ["<p>seen</p>"]),
        ("09:15 a\n10:20 went\nand on\n✅ ended", ["09:15 a", "10:20 went and on", "✅ ended"]),
        ("User: hi there\nMin Soo: well\nend.", ["User: hi there", "Min Soo: well end."]),
        ("One line  \nanother\\\nthird", ["One line", "another", "third"]),
        ("🎉🎉", ["🎉🎉"]),
        ("서버를 재시작했다. 끝.", ["서버를 재시작했다.", "끝."]),
        ("", []),
        (" \n\t\n", []),
    ],
)  # fmt: skip
def test_a_text_comes_in_passages(text: str, passages: list[str]) -> None:
    assert _texts(text) == passages


@pytest.mark.parametrize(
    ("text", "is_done"),
    [
        ("- [x] sent", True),
        ("- [ ] not sent", False),
        ("✅ deployed", True),
        ("- 🚀 v2 is out", True),
        ("09:15 ✅ deployed", True),
        ("deployed ✅", False),
        ("[x](https://example.com)", False),
    ],
)
def test_what_is_done(text: str, *, is_done: bool) -> None:
    assert [passage.is_done for passage in read_passages(text)] == [is_done]


def test_code_keeps_its_lines_and_its_fence() -> None:
    text = "```py\nif a:\n    b = 1\n\nc = 2\n```"
    assert read_passages(text) == [Passage(text, is_code=True)]
    assert _texts("~~~\nnever closed") == ["~~~\nnever closed\n~~~"]
    assert _texts("    a\n      b") == ["```\na\n  b\n```"]
    assert _texts("    a\n    ```\n    b") == ["````\na\n```\nb\n````"]
    assert _texts("- item\n\n  ```sh\n  ls -l\n  ```") == ["item", "```sh\nls -l\n```"]
    assert _texts("> ```sh\n> ls -l\n> ```") == ["```sh\nls -l\n```"]
    assert _texts("```\na\n```js") == ["```\na\n```js\n```"]
    assert _texts("```\n```") == []


def test_long_code_is_cut_into_six_lines_each() -> None:
    lines = [f"line {number}" for number in range(8)]
    first, second = "\n".join(lines[:6]), "\n".join(lines[6:])
    code = "\n".join(["```text", *lines, "```"])
    assert _texts(code) == [f"```text\n{first}\n```", f"```text\n{second}\n```"]


def test_what_a_passage_stands_under() -> None:
    text = "Intro.\n\nWe met. Decisions:\n\n- one\n- two\n\nAfter.\n\n#### Open\n\n- Why:\n  - so"
    assert [(passage.text, passage.label) for passage in read_passages(text, "Title")] == [
        ("Intro.", "Title"),
        ("We met.", "Title"),
        ("Decisions:", "Title"),
        ("one", "Decisions:"),
        ("two", "Decisions:"),
        ("After.", "Title"),
        ("Open", "Title"),
        ("Why:", "Open"),
        ("so", "Why:"),
    ]


def test_what_is_too_long_is_cut_at_blanks() -> None:
    found = _texts("word " * 1_000)
    assert {len(text) <= 1_000 for text in found} == {True}
    assert " ".join(found).split() == ["word"] * 1_000
    assert [len(text) for text in _texts("x" * 2_500)] == [1_000, 1_000, 500]
    item = "- " + "A sentence of an item. " * 60
    assert _texts(item) == ["A sentence of an item."] * 60


@given(st.text(alphabet="aZ.1 \n\t-*#>|`~=\\[]x:가。", max_size=60))
def test_every_passage_stands_in_its_text(text: str) -> None:
    marks = str.maketrans("", "", ">-*`~|1.)+ \t\n\\")
    for passage in read_passages(text):
        assert passage.text.translate(marks) in text.translate(marks)
        assert passage.is_code or " ".join(passage.text.split()) == passage.text


@given(st.text(alphabet="aZ.1) \n\t-#>:가\xa0", max_size=40))
def test_paragraphs_are_the_same_without_the_parser(text: str) -> None:
    assert _texts(text) == _texts(f"{text}\n\n***")  # a rule is no passage, but asks the parser


def test_a_long_text_takes_time_in_proportion() -> None:
    for text in ("- item of five words\n" * 5_000, "  > " * 5_000, "x " * 100_000, "[[`" * 50_000):
        assert len(read_passages(text)) <= 5_000


def test_lines_of_other_blanks_take_no_time() -> None:
    began = thread_time()
    assert [one.text for one in read_passages("mail\n" + "\u00a0\n" * 9_000)] == ["mail"]
    assert thread_time() - began < 1
