"""The dictionary: whole tokens, the longest name first, and who owns which spelling."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from service.names.dictionary import Dictionary
from service.names.names import Name, declared_name, heading_name
from service.names.slugs import slug_of, tokens_of

_WORD = st.sampled_from(["go", "goo", "google", "new", "york", "times", "gpu", "서버", "v2"])
_NAME = st.lists(_WORD, min_size=1, max_size=3).map(" ".join)


def _named(name: str) -> Name:
    made = declared_name(name)
    assert made is not None
    return made


def _knowing(*names: str) -> Dictionary:
    dictionary = Dictionary()
    for name in names:
        dictionary.add(_named(name))
    return dictionary


@pytest.mark.parametrize(
    "text", ["google it", "lingo", "ago", "go2 goes", "Mongo-DB", "goo.gl", ""]
)
def test_a_name_inside_a_word_is_no_mention(text: str) -> None:
    assert _knowing("go").mentions(text) == set()


@pytest.mark.parametrize(
    "text", ["go", "we use Go.", "(GO)", "go-routine", "a/go/b", "go's", "to go", "_go_", "`go`"]
)
def test_a_name_as_a_whole_token_is_one(text: str) -> None:
    assert _knowing("go").mentions(text) == {"go"}


def test_the_longest_name_wins() -> None:
    dictionary = _knowing("New York", "New York Times", "Times")
    assert dictionary.mentions("read the New York Times") == {"new_york_times"}
    assert dictionary.mentions("hard times in new york") == {"times", "new_york"}
    assert dictionary.mentions("New York, New York Times") == {"new_york", "new_york_times"}


def test_a_longer_name_that_fails_leaves_room_for_a_shorter() -> None:
    dictionary = _knowing("new york times", "york city")
    assert dictionary.mentions("new york city") == {"york_city"}


@pytest.mark.parametrize(
    "text", ["was new. York is", "so new? York", "new\n\nYork", "| new | York"]
)
def test_no_name_runs_across_the_end_of_a_sentence_or_cell(text: str) -> None:
    assert _knowing("New York").mentions(text) == set()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("New York", "new\nyork"),
        ("New York", "NEW-YORK!"),
        ("St. Louis", "we went to St. Louis."),
        ("J. K. Rowling", "by J. K. Rowling"),
        ("Café Zürich", "the cafe zurich"),
        ("GPUs", "one GPU"),
        ("GPU", "many GPUs"),
        ("그래픽 카드", "새 그래픽 카드 는"),
        ("src/app.py", "see src/app.py:12"),
        ("FN-88", "paid from fn-88."),
        ("Osprey-2", "on Osprey 2"),
        ("re-embed", "to re embed"),
        ("The Lion King", "saw Lion King"),
        ("Lion King", "saw the Lion King"),
        ("Osprey", "Osprey's disk, Osprey’s fan"),
        ("서울", "서울에서 만났다"),
        ("김민수", "어제 김민수씨가 왔다"),
        ("그래픽 카드", "그래픽 카드를 샀다"),
        ("RTX카드", "RTX 카드는"),
        ("C++", "a c++17 compiler"),
        ("C#", "C#으로 썼다"),
        ("F#", "in C#/F#."),
        ("GPU", "GPU를, 在GPU上"),
        ("东京", "我在东京的家"),
        ("東京", "東京に、東京에서"),
        ("アメリカ", "アメリカへ"),
        ("佐々木", "昨日は佐々木さんと"),
        ("เชียงใหม่", "ไปเชียงใหม่พรุ่งนี้"),
        ("दिल्ली मेट्रो", "कल दिल्ली मेट्रो में"),
    ],
)
def test_spellings_that_are_the_same_name(name: str, text: str) -> None:
    assert _knowing(name).mentions(text) == {slug_of(name)}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("서울", "서울대학교"), ("서울", "아서울"), ("지", "지도"), ("パン", "ジャパン"),
        ("京", "东京的"), ("กา", "การบ้าน"), ("दिल", "दिल्ली में"),
        ("เชียงใหม", "ไปเชียงใหม่"), ("The Wire", "a wire"), ("FN-88", "FN-881"),
        ("John Kennedy", "John F. Kennedy"), ("C++", "in C"), ("C#", "C, C++ and C#part"),
    ],
)  # fmt: skip
def test_spellings_that_are_another_name(name: str, text: str) -> None:
    assert _knowing(name).mentions(text) == set()


def test_the_longest_name_wins_inside_a_run_of_han() -> None:
    dictionary = _knowing("北京", "北京大学", "大学")
    assert dictionary.mentions("我在北京大学和北京的大学") == {"北京大学", "北京", "大学"}


def test_an_abbreviation_needs_its_capitals() -> None:
    dictionary = _knowing("Retrieval-Augmented Generation", "rag")
    long = "retrieval_augmented_generation"
    dictionary.abbreviate("rag", long)
    assert dictionary.mentions("RAG") == dictionary.mentions("two RAGs") == {long}
    assert dictionary.mentions("a rag, Rag") == set()
    assert dictionary.abbreviations_of(long) == ("RAG",)
    dictionary.abbreviate("rag", None)
    assert dictionary.mentions("RAG") == set()
    assert dictionary.expansion_of("rag") is None


def test_what_the_user_declares_is_no_abbreviation() -> None:
    dictionary, long = _knowing("Red Apple Gang"), _named("Red Apple Gang")
    dictionary.add(_named("Cloth"), ["RAG"], is_declared=True)
    assert not dictionary.may_abbreviate("rag", long)
    dictionary.remove("cloth")
    assert dictionary.may_abbreviate("rag", long)


def test_a_cased_name_is_matched_with_its_capital_only() -> None:
    dictionary, name = Dictionary(), heading_name("Shadow")
    assert name is not None
    assert name.is_cased
    dictionary.add(name, ["the dark one"])
    assert dictionary.mentions("Shadow fell") == dictionary.mentions("SHADOW") == {"shadow"}
    assert dictionary.mentions("a shadow fell") == set()
    assert dictionary.mentions("The Dark one") == {"shadow"}


def test_aliases_lead_to_the_name() -> None:
    dictionary = Dictionary()
    dictionary.add(_named("RTX 5070 Ti"), ["the big card", "5070", "?!"])
    assert dictionary.mentions("The big card and the 5070") == {"rtx_5070_ti"}
    assert dictionary.resolve(_named("the big card")) == "rtx_5070_ti"
    assert "big_card" in dictionary


def test_an_alias_that_is_a_common_word_needs_its_capitals() -> None:
    dictionary = Dictionary()
    dictionary.add(_named("Information Technology"), ["IT", "us"], is_declared=True)
    assert dictionary.mentions("Turn it off. It works for us.") == set()
    assert dictionary.mentions("ask the IT department") == {"information_technology"}


def test_an_alias_that_any_text_says_needs_the_capital_it_is_written_with() -> None:
    dictionary = Dictionary()
    dictionary.add(_named("Golang"), ["Go", "?!", "Go modules", "rust"], is_declared=True)
    assert dictionary.mentions("Let us go home.") == set()
    for text in ("written in Go", "GO", "go modules", "golang", "Rust"):
        assert dictionary.mentions(text) == {"golang"}, text


def test_an_earlier_owner_keeps_a_spelling() -> None:
    dictionary = _knowing("card")
    dictionary.add(_named("GPU"), ["card", "graphics card"])
    assert dictionary.mentions("card") == {"card"}
    assert dictionary.mentions("graphics card") == {"gpu"}


def test_who_takes_over_owns_the_spelling() -> None:
    dictionary = _knowing("card")
    dictionary.add(_named("GPU"), ["card"], is_declared=True)
    assert dictionary.mentions("card") == {"gpu"}
    assert dictionary.resolve(_named("card")) == "gpu"


def test_taking_over_changes_whether_the_capital_matters() -> None:
    dictionary, name = Dictionary(), heading_name("Shadow")
    assert name is not None
    dictionary.add(name)
    dictionary.add(_named("Shadow"))
    assert dictionary.mentions("shadow") == set()
    dictionary.add(_named("Shadow"), is_declared=True)
    assert dictionary.mentions("shadow") == {"shadow"}


def test_removing_forgets_every_spelling_and_nothing_else() -> None:
    dictionary = _knowing("New York", "York")
    dictionary.add(_named("GPU"), ["card"])
    dictionary.remove("gpu")
    dictionary.remove("new_york")
    dictionary.remove("never there")
    assert dictionary.mentions("GPU card in New York") == {"york"}
    assert dictionary.resolve(_named("card")) is None
    assert "gpu" not in dictionary


def test_what_was_removed_can_come_again() -> None:
    dictionary = _knowing("card")
    dictionary.remove("card")
    dictionary.add(_named("GPU"), ["card"])
    assert dictionary.mentions("card") == {"gpu"}


def test_a_text_that_names_everything_is_bounded() -> None:
    names = [f"name{n:03}" for n in range(100)]
    dictionary = _knowing(*names)
    assert dictionary.mentions(" ".join(names)) == set(names[:64])
    assert dictionary.mentions(". ".join(names)) == set(names[:64])


def test_an_empty_dictionary_knows_nothing() -> None:
    assert Dictionary().mentions("anything at all") == set()


def _leftmost_longest(names: list[str], text: str) -> set[str]:
    """Find names in words the slow way: at each place the longest, then on behind it."""
    known, words, at, found = [name.split() for name in names], text.split(), 0, set()
    while at < len(words):
        here = [name for name in known if words[at : at + len(name)] == name]
        longest = max(here, key=len, default=[])
        found |= {"_".join(longest)} - {""}
        at += len(longest) or 1
    return found


@given(st.lists(_NAME, max_size=6), st.lists(_NAME, max_size=6))
def test_mentions_are_the_leftmost_longest_whole_words(names: list[str], texts: list[str]) -> None:
    text = " ".join(texts)
    assert _knowing(*names).mentions(text) == _leftmost_longest(names, text)


@given(st.text(st.characters(categories=["L", "Nd"]), min_size=1, max_size=60))
def test_a_word_of_any_script_is_found_in_itself(word: str) -> None:
    name = declared_name(word)
    assume(name is not None and len(tokens_of(word)) == 1)
    assert _knowing(word).mentions(f"so, {word}: that") == {slug_of(word)}


def test_a_merged_spelling_leads_to_the_concept_that_stays_until_it_is_parted() -> None:
    dictionary = _knowing("file system", "filesystem")
    dictionary.merge("filesystem", "file_system")
    dictionary.merge("file_systems", "file_system")
    assert dictionary.mentions("a filesystem, two file systems") == {"file_system"}
    assert dictionary.merged_into("file_system").keys() == {"file_systems", "filesystem"}
    assert dictionary.stands_for("filesystem") == "file_system"
    dictionary.part(_named("filesystem"), ["file_systems"])
    assert dictionary.mentions("a filesystem") == {"filesystem"}
    assert dictionary.mentions("two file systems") == {"filesystem"}
    dictionary.remove("filesystem")
    assert dictionary.mentions("a filesystem, two file systems, a file system") == {"file_system"}


def test_an_abbreviation_takes_a_merged_spelling_and_gives_it_back() -> None:
    dictionary = _knowing("electronic mail", "e mail")
    dictionary.merge("email", "e_mail")
    dictionary.abbreviate("email", "electronic_mail")
    assert dictionary.mentions("EMAIL") == {"electronic_mail"}
    dictionary.abbreviate("email", None)
    assert dictionary.mentions("EMAIL, email") == {"e_mail"}


def test_what_is_declared_takes_a_merged_spelling_for_good() -> None:
    dictionary = _knowing("file system")
    dictionary.merge("filesystem", "file_system")
    dictionary.add(_named("disk"), ["filesystem"], is_declared=True)
    dictionary.merge("filesystem", "file_system")
    assert dictionary.mentions("a filesystem") == {"disk"}
    dictionary.remove("disk")
    assert "filesystem" not in dictionary
