"""Snippets that show the words, packing that keeps the budget, confidence between 0 and 1."""

import time
import unicodedata
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.records import Memory
from service.search.packing import pack
from service.text.snippets import SNIPPET_CHARACTERS, snippet_of
from service.text.tokens import estimate_prompt_tokens
from service.text.words import query_words

_AT = datetime(2026, 2, 13, tzinfo=UTC)
_FILLING = "nothing to see here, move along. " * 30
_PROSE = st.lists(
    st.sampled_from(["blue", "bunny", "Übergabe", "서버를", "src/app.py", "the", "fill", "x" * 90]),
    max_size=120,
).map(" ".join)


def _memory(content: str, title: str = "", key: str = "m", path: tuple[str, ...] = ()) -> Memory:
    return Memory(key, "main", "note", "semantic", title, content, _AT, _AT, _AT, heading_path=path)


@pytest.mark.parametrize(
    ("place", "question"),
    [
        ("the code phrase is blue bunny", "code phrase"),
        ("look at SRC/App.py again", "src/app.py"),
        ("die Übergabe an Zoë", "Übergabe Zoë"),
        ("die U\u0308bergabe an Zoe", "Übergabe"),
        ("서버를 다시 시작했습니다", "서버를"),
        ("我喜欢猫和狗", "喜欢猫"),
        ("ﬁle not found", "file"),
    ],
)
def test_a_snippet_shows_the_words(place: str, question: str) -> None:
    snippet = snippet_of(f"{_FILLING}{place} {_FILLING}", question)
    assert snippet_of(place, "") in snippet
    assert snippet.startswith("… ")
    assert snippet.endswith(" …")


def test_a_short_text_is_its_own_snippet() -> None:
    assert snippet_of("# Blue\n\n  bunny\n", "red") == "# Blue bunny"


def test_without_any_of_the_words_it_is_the_beginning() -> None:
    snippet = snippet_of(_FILLING, "quantum chromodynamics")
    assert snippet == _FILLING[:SNIPPET_CHARACTERS].rpartition(" ")[0] + " …"
    assert snippet_of(_FILLING, "???") == snippet


def test_different_words_count_more_than_one_repeated() -> None:
    repeated = "bunny " * 30
    content = f"{repeated}{_FILLING}the blue bunny is the code phrase. {_FILLING}"
    assert "the blue bunny is the code phrase" in snippet_of(content, "blue bunny code phrase")


def test_words_too_far_apart_to_show_together_are_not_counted_together() -> None:
    far = f"blue {'x ' * 103}bunny"
    snippet = snippet_of(f"{_FILLING}{far} {_FILLING}a blue bunny {_FILLING}", "blue bunny")
    assert "a blue bunny" in snippet


def test_decomposed_hangul_is_shown_composed() -> None:
    content = unicodedata.normalize("NFD", f"{_FILLING}서버를 다시 시작 {_FILLING}")
    assert "서버를 다시" in snippet_of(content, "서버를")


def test_the_end_of_a_text_is_shown_in_full() -> None:
    snippet = snippet_of(f"{_FILLING}blue bunny", "blue bunny")
    assert snippet.endswith("blue bunny")
    assert len(snippet) > SNIPPET_CHARACTERS - len("nothing")


def test_no_number_is_cut_into_another_one() -> None:
    snippet = snippet_of("1234567 " * 60 + "blue bunny " + "1234567 " * 60, "blue bunny")
    assert set(snippet.strip("… ").split()) == {"1234567", "blue", "bunny"}


@given(_PROSE, st.sampled_from(["blue bunny", "Übergabe", "서버를", "app.py", "the fill", ""]))
def test_a_snippet_is_short_and_holds_a_word_if_there_is_one(content: str, question: str) -> None:
    snippet = snippet_of(content, question)
    assert len(snippet) <= SNIPPET_CHARACTERS + len("…  …")
    assert snippet.strip("… ") in content
    asked = set(query_words(question).split())
    if asked & set(query_words(content).split()):
        assert asked & set(query_words(snippet).split())


@given(st.text(min_size=200), st.text())
def test_any_text_gives_a_snippet(content: str, question: str) -> None:
    assert len(snippet_of(content, question)) <= SNIPPET_CHARACTERS + len("…  …")


@pytest.mark.parametrize("word", ["ab ", "äb ", "가 "])
def test_a_long_text_full_of_the_words_takes_linear_work(word: str) -> None:
    started = time.process_time()
    snippet_of(word * (200_000 // len(word)), f"{word} {word}{word}")
    # 0.3 s when written; the square of the length would be minutes.
    assert time.process_time() - started < 5


def test_what_does_not_fit_is_passed_over() -> None:
    memories = [_memory("a" * 40, key="1"), _memory("b" * 400, key="2"), _memory("c" * 40, key="3")]
    assert [memory.id for memory in pack(memories, 20)] == ["1", "3"]
    assert [memory.id for memory in pack(memories, 19)] == ["1"]
    assert [memory.id for memory in pack(memories, 9)] == []
    assert [memory.id for memory in pack(memories, 120)] == ["1", "2", "3"]


def test_titles_count() -> None:
    assert pack([_memory("a" * 40, title="t" * 40)], 19) == []


@given(st.lists(st.integers(0, 80)), st.integers(0, 60))
def test_a_pack_keeps_order_and_budget(sizes: list[int], budget: int) -> None:
    memories = [_memory("a" * size, key=f"{n:03}") for n, size in enumerate(sizes)]
    taken = pack(memories, budget)
    assert sum(estimate_prompt_tokens(memory.content) for memory in taken) <= budget
    assert [memory for memory in memories if memory in taken] == taken
    if sum(estimate_prompt_tokens(memory.content) for memory in memories) <= budget:
        assert taken == memories
