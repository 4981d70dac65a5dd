"""Questions made of notes: telling words in order, lures, and Korean particles."""

from random import Random

import pytest

from scripts.recall.known_items import (
    KNOWN,
    LURED,
    Collection,
    Note,
    known_items,
    lured,
    made_questions,
)
from scripts.recall.note_words import Roots, sentences_of, words_of

# Words that no two of them share, so that each is telling.
SENTENCE = "The {0}heron {0}watches {0}silver {0}fishes {0}under {0}bridges at noon."
FILLER = "Then {0}rain {0}fell {0}upon {0}roofs {0}where {0}pigeons {0}sleep {0}beside {0}chimneys."


def plain(number: int) -> Note:
    """Return a note of about twenty words of its own, and three that all have."""
    mark = "abcdefghijklmnopqrstuvwxyz"[number] * 2
    text = f"{SENTENCE.format(mark)} {FILLER.format(mark)} Also {mark}tea, {mark}milk {mark}jam."
    return Note(f"{number}.md#Day {number}#1", f"{mark}day", text)


NOTES = [plain(number) for number in range(20)]
# The one's title is "Code phrase"; another holds these words too, and rare ones of its own.
LURE = Note("a.md#Code phrase#1", "Code phrase", "The code phrase is blue bunny.")
LURED_NOTE = Note(
    "b.md#Supper#1", "Supper", "The code phrases told over supper were purple walrus."
)


def test_words_are_of_three_letters_or_of_two_korean_ones() -> None:
    assert words_of("At 9 the RTX5070 스레드를 두 x_1 saw") == [
        "the",
        "rtx5070",
        "스레드를",
        "x_1",
        "saw",
    ]
    assert sentences_of("One. Two?\nThree!") == ["One.", "Two?", "Three!"]


def test_a_root_is_an_english_stem() -> None:
    roots = Roots(["bridges"])
    assert roots.of("bridges") == roots.of("bridge")
    assert roots.by_root("Bridges, a bridge, tea") == {"bridg": "bridges", "tea": "tea"}


def test_a_korean_noun_is_one_that_stands_bare_and_with_particles() -> None:
    roots = Roots(["스레드", "스레드를", "스레드는", "사용하는", "에서", "에서도", "에서는"])
    assert roots.of("스레드를") == roots.of("스레드의") == roots.of("스레드") == "스레드"
    assert roots.of("사용하는") == "사용하는"
    assert roots.of("에서도") == "에서도"


@pytest.mark.parametrize(
    ("word", "forms"),
    [
        ("스레드를", {"스레드", "스레드는", "스레드의", "스레드에서", "스레드도"}),
        ("조인", {"조인은", "조인을", "조인의", "조인에서", "조인도"}),
        ("사용하는", {"사용하는"}),
        ("threads", {"threads"}),
    ],
)
def test_a_korean_noun_is_asked_for_with_another_particle(word: str, forms: set[str]) -> None:
    roots = Roots(
        ["스레드", "스레드를", "스레드는", "조인", "조인은", "조인이", "사용하는", "threads"]
    )
    assert {roots.other_form(word, Random(seed)) for seed in range(60)} == forms


def test_a_known_item_is_telling_words_of_a_sentence_in_their_order() -> None:
    asked = known_items(Collection(NOTES))
    assert {question.category for question in asked} == {KNOWN}
    assert len(asked) == len(NOTES)
    for question in asked:
        [name] = question.gold
        note = next(note for note in NOTES if note.name == name)
        words = question.text.split()
        assert len(words) == 5
        assert any(_in_order(words, words_of(one)) for one in sentences_of(note.text))
        # What all notes hold tells nothing.
        assert not {"the", "then", "also"} & set(words)


def test_notes_that_are_added_leave_the_others_their_questions() -> None:
    before = {question.id for question in known_items(Collection(NOTES[:15]))}
    assert before < {question.id for question in known_items(Collection(NOTES))}
    assert len(known_items(Collection(NOTES), most=7)) == 7


def test_a_short_note_is_not_asked_for() -> None:
    assert known_items(Collection([*NOTES, LURE])) == known_items(Collection(NOTES))


def test_a_lured_question_names_a_title_and_wants_another_memory() -> None:
    [question] = lured(Collection([*NOTES, LURE, LURED_NOTE]))
    assert question.category == LURED
    assert question.gold == {LURED_NOTE.name: 1.0}
    assert question.text == "code phrase over purple"


@pytest.mark.parametrize(
    "other",
    [
        # Named by the title too; holds not the whole title; a third holds every word as well.
        [Note("b.md#Code#1", "Code phrase, again", LURED_NOTE.text)],
        [Note("b.md#Supper#1", "Supper", "The code told over supper was purple walrus.")],
        [LURED_NOTE, Note("c.md#Later#1", "Later", LURED_NOTE.text)],
    ],
)
def test_what_would_be_no_lure_is_not_asked(other: list[Note]) -> None:
    assert lured(Collection([*NOTES, LURE, *other])) == []


def test_one_title_lures_five_times_at_most() -> None:
    notes = [
        Note(f"{mark}.md#Supper#1", "Supper", f"A code phrase: {mark}purple {mark}walrus.")
        for mark in ("aa", "bb", "cc", "dd", "ee", "ff", "gg")
    ]
    more = [plain(number) for number in range(26)]
    assert len(lured(Collection([*more, LURE, *notes[:3]]))) == 3
    assert len(lured(Collection([*more, LURE, *notes]))) == 5


def test_ids_are_stable_and_no_two_are_the_same() -> None:
    notes = [*NOTES, LURE, LURED_NOTE]
    asked = made_questions(notes)
    assert asked == made_questions(notes[::-1])
    assert len({question.id for question in asked}) == len(asked)
    assert asked[-1].id == "lured b.md#Supper#1: code phrase over purple"
    assert {question.half for question in asked} == {"tune", "report"}


def test_no_notes_give_no_questions() -> None:
    assert made_questions([]) == []


def _in_order(words: list[str], sentence: list[str]) -> bool:
    places = [sentence.index(word) for word in words if word in sentence]
    return len(places) == len(words) and places == sorted(places)
