"""The text index against BM25 written down plainly, over whatever is put, changed and removed."""

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

import numpy as np
import pytest
import Stemmer
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from service.index.resident.postings import Segment
from service.index.resident.text import TextIndex
from service.text.terms import Terms
from service.text.words import index_words, query_words
from tests.effort import examples

ROWS = 12
VOCABULARY = ["run", "running", "runs", "memory", "memories", "e1234", "app.py", "東京", "기억"]
STEMMER = Stemmer.Stemmer("english")

texts = st.lists(st.sampled_from(VOCABULARY), max_size=8).map(" ".join)
pages = st.dictionaries(st.integers(0, ROWS - 1), texts, max_size=5)
steps = st.lists(st.one_of(pages, st.integers(0, ROWS), st.just("finish")), max_size=25)
masks = st.lists(st.booleans(), min_size=ROWS, max_size=ROWS).map(lambda m: np.array(m, np.bool_))


def stems(text: str) -> list[str]:
    return [STEMMER.stemWord(w) if w.isascii() and w.isalpha() else w for w in text.split()]


def bm25(
    held: Mapping[int, str],
    words: str,
    mask: NDArray[np.bool_],
    wanted: Callable[[Iterable[bool]], bool] = any,
) -> dict[int, float]:
    """Return the scores by row, one text and one word after the other."""
    counts = {row: Counter(stems(text)) for row, text in held.items()}
    average = sum(count.total() for count in counts.values()) / max(len(held), 1)
    terms = dict.fromkeys(stems(words))
    scores = {}
    for row, count in counts.items():
        if not terms or not mask[row] or not wanted(term in count for term in terms):
            continue
        norm = 1.2 * (0.25 + 0.75 * count.total() / average)
        scores[row] = sum(
            math.log(1 + (len(held) - holders + 0.5) / (holders + 0.5)) * 2.2 * tf / (tf + norm)
            for term in terms
            if (tf := count[term] and 1 + math.log(count[term]))
            for holders in [sum(term in other for other in counts.values())]
        )
    return {row: score for row, score in scores.items() if score > 0}


def found(answer: tuple[NDArray[np.int32], NDArray[np.float32]]) -> dict[int, float]:
    rows, scores = answer
    assert len(set(rows.tolist())) == len(rows) == len(scores)
    assert [rows.dtype.name, scores.dtype.name] == ["int32", "float32"]
    return dict(zip(rows.tolist(), scores.tolist(), strict=True))


def everything(count: int = ROWS) -> NDArray[np.bool_]:
    return np.ones(count, np.bool_)


def check_counts(index: TextIndex, held: Mapping[int, str]) -> None:
    """Compare `count` with counting by hand, for rows that have a text and for others."""
    words = ["run", "memory", "e1234", "東京", "unheard"]
    rows = max([ROWS, *held]) + 100
    counted = index.count(words, np.arange(rows))
    by_hand = [Counter(stems(held.get(row, ""))) for row in range(rows)]
    terms = stems(" ".join(words))
    assert counted.counts.tolist() == [[count[term] for term in terms] for count in by_hand]
    assert counted.lengths.tolist() == [count.total() for count in by_hand]
    assert counted.document_frequencies.tolist() == [
        sum(term in c for c in by_hand) for term in terms
    ]
    assert index.words == sum(count.total() for count in by_hand)


def check_ranking(
    index: TextIndex, held: Mapping[int, str], words: str, mask: NDArray[np.bool_]
) -> None:
    assert found(index.search(words, mask)) == pytest.approx(bm25(held, words, mask), rel=1e-5)
    every = bm25(held, words, mask, all)
    assert found(index.search_all(words, mask)) == pytest.approx(every, rel=1e-5)
    assert index.documents == len(held)
    check_counts(index, held)


@settings(max_examples=examples(300))
@given(steps, texts, masks, st.sampled_from([1, 2, 5, 1024]))
def test_any_history_answers_as_bm25_over_what_is_there(
    history: list[dict[int, str] | int | str],
    words: str,
    mask: NDArray[np.bool_],
    tail_documents: int,
) -> None:
    index, held = TextIndex(tail_documents), dict[int, str]()
    for step in history:
        if isinstance(step, dict):
            index.put(list(step), list(step.values()))
            held |= step
        elif isinstance(step, int):
            index.remove(step)
            held.pop(step, None)
        else:
            index.finish()
        check_ranking(index, held, words, mask)


def test_many_small_puts_merge_and_stay_true() -> None:
    chooser, index, held = random.Random(4), TextIndex(8), dict[int, str]()
    for number in range(3000):
        row = chooser.randrange(700)
        held[row] = " ".join(chooser.choices(VOCABULARY, k=chooser.randrange(6)))
        index.put([row], [held[row]])
        if number % 300 == 0:
            check_ranking(index, held, "running memory 東京", everything(700))
    loose = index.bytes
    index.finish()
    assert index.bytes < loose
    check_ranking(index, held, "e1234 app.py runs", everything(700))


def test_more_documents_than_a_segment_can_number() -> None:
    index, count = TextIndex(), 70_000
    index.put(
        range(count), [f"common {'even' if n % 2 == 0 else 'odd'} n{n}" for n in range(count)]
    )
    index.finish()
    mask = everything(count)
    assert sorted(found(index.search("even", mask))) == list(range(0, count, 2))
    assert list(found(index.search_all("common n69999", mask))) == [69_999]
    assert len(set(index.search("common", mask)[1].tolist())) == 1
    index.put(range(60_000), ["other"] * 60_000)
    assert sorted(found(index.search("common", mask))) == list(range(60_000, count))
    assert index.documents == count


def test_a_changed_store_takes_no_more_memory_than_a_new_one() -> None:
    chooser, index = random.Random(5), TextIndex(64)
    pages = [[f"w{chooser.randrange(500)} w{n}" for n in range(1000)] for _ in range(8)]
    for page in pages:
        index.put(range(1000), page)
    fresh = TextIndex(64)
    fresh.put(range(1000), pages[-1])
    assert index.bytes <= 2 * fresh.bytes


@pytest.mark.parametrize(
    ("text", "question", "is_found"),
    [
        ("He runs every day", "running", True),
        ("Two memories", "memory", True),
        ("Error E1234 in src/app.py", "e1234", True),
        ("Error E1234 in src/app.py", "e123", False),
        ("Error E1234 in src/app.py", "app.py", True),
        ("Running v2.3.1 of it", "2.3.1", True),
        ("기억 저장소를 옮긴다", "저장소", True),
        ("東京都に住む", "東京", True),
        ("東京都に住む", "京東", False),
        ("Plain words", "PLAIN", True),
    ],
)
def test_words_are_found_by_stem_and_code_exactly(text: str, question: str, is_found: bool) -> None:
    index = TextIndex()
    index.put([3], [index_words(text)])
    assert (list(found(index.search(query_words(question), everything()))) == [3]) is is_found


def test_every_word_of_a_phrase_is_asked_for() -> None:
    index = TextIndex()
    index.put([0, 1, 2], ["red fox", "red dog", "fox runs red"])
    assert sorted(found(index.search_all("red fox", everything()))) == [0, 2]
    assert sorted(found(index.search("red fox", everything()))) == [0, 1, 2]
    assert found(index.search_all("red unheard", everything())) == {}


def test_a_repeated_word_counts_once_and_the_last_text_of_a_row_stays() -> None:
    index = TextIndex()
    index.put([0, 1, 0], ["old", "fox", "fox den"])
    once = found(index.search("fox", everything()))
    assert found(index.search("fox fox Fox foxes", everything())) == once
    assert (sorted(once), found(index.search("old", everything()))) == ([0, 1], {})
    assert index.documents == 2


@pytest.mark.parametrize("words", ["", "   ", "unheard", "unheard words"])
@pytest.mark.parametrize("held", [[], [""], ["", "", ""], ["fox", ""]])
def test_nothing_is_found_of_nothing(words: str, held: list[str]) -> None:
    index = TextIndex()
    index.put(range(len(held)), held)
    for answer in (index.search(words, everything()), index.search_all(words, everything())):
        assert found(answer) == {}
    index.finish()
    assert found(index.search(words, everything())) == {}


def test_a_removed_row_is_gone_even_if_the_average_length_stays() -> None:
    index = TextIndex()
    index.put([0, 1, 2], ["red fox", "blue fox", "blue dog"])
    index.finish()
    assert sorted(found(index.search("fox", everything()))) == [0, 1]
    index.remove(0)
    assert list(found(index.search("fox", everything()))) == [1]


def test_removing_what_is_not_there_is_fine() -> None:
    index = TextIndex()
    for row in (0, 5, 10**6, -1):
        index.remove(row)
    index.put([5], ["fox"])
    index.remove(5)
    index.remove(5)
    assert (index.documents, found(index.search("fox", everything()))) == (0, {})


def test_no_row_passes_an_empty_mask() -> None:
    index = TextIndex()
    index.put(range(ROWS), ["fox"] * ROWS)
    assert found(index.search("fox", ~everything())) == {}


@pytest.mark.parametrize("is_finished", [False, True])
def test_a_word_seventy_thousand_times(is_finished: bool) -> None:
    index = TextIndex()
    held = {0: "buffalo " * 70_000, 1: "buffalo", 2: "other " * 300, 3: "buffalo other"}
    index.put(list(held), list(held.values()))
    if is_finished:
        index.finish()
    for words in ("buffalo", "other", "buffalo other"):
        # Counts end at 65,535.
        expected = pytest.approx(bm25(held, words, everything()), rel=2e-3)
        assert found(index.search(words, everything())) == expected


@pytest.mark.parametrize("is_finished", [False, True])
def test_questions_of_many_words_are_counted_one_after_the_other(is_finished: bool) -> None:
    # Words that no stem changes; the first stands more often than a byte can tell.
    words = [f"w{number}x" for number in range(70)]
    index = TextIndex()
    held = {row: " ".join(words[row::3] * (1 + row)) for row in range(20)} | {20: "w0x " * 300}
    index.put(list(held), list(held.values()))
    if is_finished:
        index.finish()
    rows = np.array(list(held))
    for first in (0, 9, 3, 40, 0):
        asked = ["unheard", *words[first : first + 30]]
        by_hand = [Counter(held[row].split()) for row in rows.tolist()]
        counts = index.count(asked, rows).counts
        assert counts.tolist() == [[one[word] for word in asked] for one in by_hand]


def test_scores_do_not_depend_on_how_documents_lie() -> None:
    chooser = random.Random(6)
    held = [" ".join(chooser.choices(VOCABULARY[:7], k=9)) for _ in range(200)]
    bulk, single = TextIndex(), TextIndex(4)
    bulk.put(range(200), held)
    bulk.finish()
    for row in chooser.sample(range(200), 200):
        single.put([row], ["soon replaced by another"])
        single.put([row], [held[row]])
    for words in ("running e1234 memory", "app.py"):
        answers = [found(index.search(words, everything(200))) for index in (bulk, single)]
        assert answers[0] == answers[1]


def test_words_that_are_forgotten_keep_their_term(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.text.terms._MOST_WORDS", 10)
    terms = Terms()
    first = [terms[f"made{n}up"] for n in range(100)]
    assert len(terms) <= 10
    assert [terms[f"made{n}up"] for n in range(100)] == first
    assert len(set(first)) == 100
    assert terms["running"] == terms["runs"] == terms["Run"]
    long = "x1" * 60
    assert terms[long] == terms[long]
    assert long not in terms


def test_how_much_is_held_can_be_asked_while_texts_are_put(monkeypatch: pytest.MonkeyPatch) -> None:
    index, measure = TextIndex(tail_documents=1), vars(Segment)["bytes"]
    index.put([0], ["memory"])

    def amid(segment: Segment) -> object:
        index.put([1], ["memories"])
        return measure.fget(segment)

    monkeypatch.setattr(Segment, "bytes", property(amid))
    before = index.bytes
    assert 0 < before < index.bytes


def test_a_row_that_has_the_text_is_left_alone() -> None:
    index = TextIndex()
    index.put([0, 1], ["running memory", "app.py"])
    held = index.bytes
    for _ in range(500):
        index.put([0, 1], ["running memory", "app.py"])
    assert (index.bytes, index.documents) == (held, 2)
    index.remove(0)
    index.put([0], ["running memory"])
    [found], _ = index.search("run", np.ones(2, np.bool_))
    assert (found, index.documents) == (0, 2)


@pytest.mark.parametrize("tail", [1, 1024])
def test_words_that_are_asked_again_are_counted_as_they_stand_now(tail: int) -> None:
    index, words, rows = TextIndex(tail), ("bunny", "carrot"), np.arange(3)

    def counted() -> list[list[float]]:
        counts: list[list[float]] = index.count(words, rows).counts.tolist()
        return counts

    index.put([0], ["bunny"])
    assert counted() == [[1, 0], [0, 0], [0, 0]]
    index.put([0, 1], ["bunny bunny", "carrot"])
    assert counted() == [[2, 0], [0, 1], [0, 0]]
    index.remove(0)
    assert counted() == [[0, 0], [0, 1], [0, 0]]
    index.put([2], ["bunny carrot"])
    index.seal()
    assert counted() == [[0, 0], [0, 1], [1, 1]]
    index.finish()
    assert counted() == [[0, 0], [0, 1], [1, 1]]
    assert index.count(words, rows).document_frequencies.tolist() == [1, 2]
