"""Words for the full-text index: what is indexed of a text is what a question can find."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.text.words import (
    STOP_WORDS,
    fold,
    index_words,
    memory_words,
    plain_words,
    query_words,
    quoted_phrases,
)

_PIECE = st.text("abcxyzABCXYZ0123456789v", min_size=2, max_size=8)
_JOINT = st.sampled_from("./:@#+-_")
_HANGUL = st.text(st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3), min_size=2)
_HAN = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), min_size=2)


@st.composite
def _tokens(draw: st.DrawFn) -> str:
    pieces = draw(st.lists(_PIECE, min_size=1, max_size=5))
    return pieces[0] + "".join(draw(_JOINT) + piece for piece in pieces[1:])


def _indexed(text: str) -> set[str]:
    return set(index_words(text).split())


def _asked(text: str) -> set[str]:
    return set(query_words(text).split())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("RTX", "rtx"),
        ("E1234", "e1234 1234"),
        ("src/app.py", "src/app.py app.py src app py"),
        ("v2.3.1", "v2.3.1 v2 2.3.1"),
        ("app-2.3.1", "app-2.3.1 app 2.3.1"),
        ("lib/v2.3.1", "lib/v2.3.1 v2.3.1 lib v2 2.3.1"),
        ("git://github.com/kit", "git://github.com/kit kit git github.com github com"),
        ("HTTPServer", "httpserver http server"),
        ("RTX5070Ti", "rtx5070ti rtx 5070 ti"),
        ("max_retries", "max_retries max retries"),
        ("__init__", "__init__ init"),
        ("C++", "c++ c"),
        ("C# and F#, i++;", "c# c and f# f i++ i"),
        ("C/C++", "c/c++ c++ c"),
        ("-std=C++17", "std c++17 17 c++ c"),
        ("Objective-C++", "objective-c++ objective c++ c"),
        ("C++로 C#을", "c++ c 로 c# c 을"),
        ("C+++ C## a+b c#part VC++", "c c a+b c#part part vc"),
        ("한 C+++ C## VC++", "한 c c vc"),
        ("GPUs", "gpu"),
        ("GPUs/CPUs", "gpus/cpus cpus gpus gpu cpu"),
        ("5 GB", "5 gb"),
        ("Plain words, once more.", "plain words once more"),
    ],
)  # fmt: skip
def test_code_stands_whole_and_in_parts(text: str, words: str) -> None:
    assert index_words(text).split() == words.split()


@given(
    _tokens(),
    st.sampled_from(["", "see ", "in (", "`", "**", '"', "x = "]),
    st.sampled_from(["", ".", ", then", ")", "`", "**", ": it failed", "'s", "?\n"]),
)
def test_every_part_of_a_code_token_finds_it(token: str, before: str, after: str) -> None:
    pieces = re.split(r"[./:@#+\-_]", token)
    dotted = re.split(r"[/:@#+\-_]", token)
    indexed = _indexed(before + token + after)
    for part in (token, token.rsplit("/", 1)[-1], *pieces, *dotted):
        assert _asked(part) <= indexed


@pytest.mark.parametrize("part", ["src/app.py", "app.py", "src", "app", "py"])
@pytest.mark.parametrize("text", ["_src/app.py_", "__src/app.py__", "*src/app.py*", "`src/app.py`"])
def test_emphasis_does_not_hide_a_path(text: str, part: str) -> None:
    assert _asked(part) <= _indexed(text)


@pytest.mark.parametrize("text", ["JR's code", "JR\u2019s code", "JR'S code", "with JR."])
def test_possessives_match_their_owner(text: str) -> None:
    assert _asked("JR") <= _indexed(text)
    assert "s" not in _indexed(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("서버를", "서버 버를"),
        ("메모리 누수", "메모 모리 누수"),
        ("我喜欢猫", "我喜 喜欢 欢猫"),
        ("サーバー", "サー ーバ バー"),
        ("猫", "猫"),
        ("GPU가 느림", "gpu 가 느림"),
    ],
)
def test_east_asian_runs_become_bigrams(text: str, words: str) -> None:
    assert index_words(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("हिन्दी में खोज", "हिन्दी में खोज"),
        ("हिन्दी-भाषा नोट्स.md", "हिन्दी-भाषा हिन्दी भाषा नोट्स.md नोट्स md"),
        ("தமிழ், বাংলা", "தமிழ் বাংলা"),
        ("مُحَمَّد في القاهرة", "محمد في القاهرة"),
        ("שָׁלוֹם", "שלום"),
        ("བོད་སྐད", "བོད སྐད"),
        ("ข้าวผัด", "ข้า าว วผั ผัด"),
        ("ใช้Docker5", "ใช้ docker5 docker"),
        ("ພາສາລາວ", "ພາ າສ ສາ າລ ລາ າວ"),
        ("ខ្មែរ មែរ", "ខ្មែ មែរ មែរ"),
        ("မြန်မာ", "မြန် န်မာ"),
        ("ร้าน 10 เดือน", "ร้า าน 10 เดื ดือ อน"),
    ],
)
def test_marks_are_parts_of_words(text: str, words: str) -> None:
    assert index_words(text) == words


@given(st.text(alphabet="กขคงจฉชดตถทนบปผพมยรลวสหอาเแโ", min_size=2, max_size=12), st.data())
def test_every_part_of_a_thai_run_finds_it(run: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(run) - 2))
    end = data.draw(st.integers(start + 2, len(run)))
    assert _asked(run[start:end]) <= _indexed(run)


def test_words_without_capitals_are_plain() -> None:
    assert plain_words("القاهرة हिन्दी שלום") == {"القاهرة", "हिन्दी", "שלום"}
    assert plain_words("ข้าวผัด 東京 서울 हिन्दी_भाषा") == frozenset()


@given(st.one_of(_HANGUL, _HAN), st.data())
def test_every_part_of_an_east_asian_run_finds_it(run: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(run) - 2))
    end = data.draw(st.integers(start + 2, len(run)))
    assert _asked(run[start:end]) <= _indexed(run)


@given(_HANGUL)
def test_decomposed_hangul_is_the_same_word(run: str) -> None:
    assert index_words(unicodedata.normalize("NFD", run)) == index_words(run)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("Übergabe im Café", "ubergabe im cafe"),
        ("ＲＴＸ ５０７０", "rtx 5070"),
        ("ﬁle", "file"),
        ("FN\u201188 FN\u201088", "fn-88 fn 88 fn-88 fn 88"),
        ("ёлка замо\u0301к", "елка замок"),
    ],
)
def test_spellings_are_folded(written: str, words: str) -> None:
    assert index_words(written) == words


def test_stop_words_are_indexed_but_not_asked_for() -> None:
    assert query_words("What is the VRAM of my card?") == "vram card"
    assert index_words("the VRAM") == "the vram"


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Why doesn't the gateway start?", "gateway start"),
        ("what wouldn\u2019t it take", "take"), ("It dont start", "start"),
        ("Who won it?", "won"), ("Has Don the key?", "don key"), ("Don't!", "don"),
        ("an independent garment", "independent garment"),
    ],
)  # fmt: skip
def test_what_is_denied_is_asked_for_without_the_rest_of_a_verb(question: str, words: str) -> None:
    assert query_words(question) == words


@pytest.mark.parametrize(
    "question",
    [
        'where is "blue harbour"', "where is “blue harbour”?", "wo ist „blue harbour“?",
        "wo ist »blue harbour«?", "où est « blue harbour » ?", "「blue harbour」はどこ",
        "『blue harbour』", 'an open « and "blue harbour"', "„blue harbour” po polsku",
    ],
)  # fmt: skip
def test_quotation_marks_of_many_languages_hold_phrases(question: str) -> None:
    assert quoted_phrases(question) == ["blue harbour"]


def test_each_quote_is_a_phrase() -> None:
    assert quoted_phrases("»one« und »two«, «three» et «four» „five“ “six”") == [
        "one", "two", "three", "four", "five",
    ]  # fmt: skip


def test_a_question_of_stop_words_alone_keeps_them() -> None:
    assert query_words("Who are you?") == "who are you"


def test_each_word_is_asked_for_once() -> None:
    assert query_words("GPU gpu GPUs") == "gpu"


def test_hashes_are_left_out_and_their_neighbours_kept() -> None:
    for long in ("a" * 101, "A" * 101, "1" * 101):
        assert index_words(f"key {long} stored") == "key stored"
        assert index_words(f"{long}/app.py").split()[-3:] == ["app.py", "app", "py"]
    assert index_words("a" * 100) == "a" * 100


def test_a_pasted_text_asks_for_its_first_words() -> None:
    many = [f"word{n}" for n in range(1000)]
    asked = query_words(" ".join(many)).split()
    assert asked[:2] == ["word0", "word"]
    assert len(asked) == 48


@pytest.mark.parametrize("text", ["", " \n\t", "...", "_", "___", "-- ** ##", "\u0301", "🐇"])
def test_marks_alone_are_no_words(text: str) -> None:
    assert index_words(text) == ""
    assert query_words(text) == ""


@given(
    st.text(st.one_of(st.characters(), st.sampled_from("a.B/_-1'\u2019s \u0301\u0130ßΣ가中\ud800")))
)
def test_any_text_gives_clean_words(text: str) -> None:
    indexed, asked = index_words(text), query_words(text)
    assert indexed == " ".join(indexed.split())
    assert all(len(word) <= 100 for word in indexed.split())
    assert asked == " ".join(dict.fromkeys(asked.split()))
    assert _asked(text) <= _indexed(text)
    telling = _indexed(text) - STOP_WORDS
    assert not telling or not _asked(text) & STOP_WORDS


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("cells of my spreadsheet", "cells of my spreadsheet"),
        ("Does Ann's GPU überhaupt run?", "does ann gpu uberhaupt run"),
        ("HTTPServer next_ src/app.py a0e75 2023 GPUs", ""),
        ("app in src/app.py", "app in"),
        ("vim 창 나누기 ウィンドウ 窗口", "vim"),
        ("Где файл", "где фаил"),
    ],
)
def test_plain_words_are_whole_tokens_of_letters(text: str, plain: str) -> None:
    assert plain_words(text) == set(plain.split())


@given(st.text())
def test_plain_words_are_words_to_index(text: str) -> None:
    assert {word for word in plain_words(text) if len(word) <= 100} <= _indexed(text)


@pytest.mark.parametrize(
    ("text", "tags", "words"),
    [
        ("Pods crash.", [], "pods crash"),
        ("Pods crash.", ["kubernetes", "pods"], "pods crash \n kubernetes"),
        ("Pods.", ["k8", "on-call", "K8"], "pods \n k8 \n on-call on call"),
        ("", ["home"], "home"),
        ("회의", ["회의록"], "회의 \n 의록"),
    ],
)
def test_a_memory_has_the_words_of_its_tags_that_its_text_lacks(
    text: str, tags: list[str], words: str
) -> None:
    assert memory_words(text, tags) == words
