"""What the measuring script generates: the same every time, varied, and near its questions."""

from collections import Counter

import numpy as np

from scripts.generated.notes import SCOPES, Notes
from scripts.generated.word_vectors import WordVectors
from scripts.search.writes import unique_word
from service.text.words import index_words

NOTES = Notes(1000)
DRAFTS = [NOTES.note(number).draft for number in range(1000)]


def test_equal_numbers_give_equal_notes() -> None:
    assert Notes(1000).note(123) == NOTES.note(123)
    assert NOTES.note(123) != NOTES.note(124)


def test_notes_have_what_filters_ask_for() -> None:
    assert Counter(draft.scope for draft in DRAFTS).keys() == {f"scope-{n}" for n in range(SCOPES)}
    assert len({draft.kind for draft in DRAFTS}) == 9
    assert {draft.trust_tier for draft in DRAFTS} == {"trusted", "untrusted", "quarantined"}
    assert any(draft.valid_until for draft in DRAFTS)
    assert any(NOTES.note(number).archived_at for number in range(1000))
    assert len({draft.id for draft in DRAFTS}) == 1000


def test_a_session_goes_on_in_time() -> None:
    moments = [draft.occurred_at for draft in DRAFTS]
    assert moments == sorted(moments)
    assert (moments[-1] - moments[0]).days > 350


def test_given_texts_come_first_and_again_as_mixtures() -> None:
    texts = ["one two three four", "five six seven eight"]
    notes = Notes(40, texts)
    found = [notes.note(number).draft.content for number in range(40)]
    assert found[:2] == texts
    assert set(found[2:]) <= {"one two three four", "one two seven eight",
                              "five six three four", "five six seven eight"}  # fmt: skip


def test_questions_ask_for_notes_that_everyone_may_see() -> None:
    for note in NOTES.questions(100):
        assert note.archived_at is None
        assert note.draft.valid_until is None
        assert note.draft.trust_tier != "quarantined"


def test_a_question_lies_near_its_note() -> None:
    vectors = WordVectors(128)
    matrix = np.array([vectors.embed(draft.text) for draft in DRAFTS])
    asked = NOTES.questions(30)
    for note in asked:
        likeness = matrix @ vectors.embed(note.question)
        nearest = [DRAFTS[place].id for place in np.argsort(-likeness)[:5]]
        assert note.draft.id in nearest


def test_vectors_are_of_length_one_and_the_same_everywhere() -> None:
    for text in ("", "...", "a", "한국어 말", "word " * 500):
        vector = WordVectors(64).embed(text)
        assert vector.dtype == np.float32
        assert abs(float(np.linalg.norm(vector)) - 1) < 1e-5
        assert np.array_equal(vector, WordVectors(64).embed(text))


def test_a_unique_word_is_one_word_of_the_index() -> None:
    names = [f"load {number}" for number in range(200)]
    words = [unique_word(name) for name in names]
    assert len(set(words)) == len(names)
    assert all(index_words(word) == word for word in words)
