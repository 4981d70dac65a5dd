"""What of a data set is stored and asked, and which half a question belongs to."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.recall.sets import (
    Question,
    batches,
    memory_of,
    question_of,
    read_set,
    spread,
)


def plain(number: int, category: str = "") -> Question:
    return Question(f"q{number}", "What?", {"a": 1.0}, category)


def test_a_passage_is_stored_with_its_title() -> None:
    assert memory_of({"id": 7, "title": "Ferry", "text": "It is blue."}) == {
        "text": "It is blue.", "source_ref": "7", "title": "Ferry",
    }  # fmt: skip


def test_a_turn_is_stored_with_speaker_conversation_session_and_moment() -> None:
    line = {
        "id": "c1/D2:1", "conversation": "c1", "session": 2, "speaker": "Ines",
        "session_datetime": "2024-01-02T09:00:00", "text": "Blue, then.",
    }  # fmt: skip
    assert memory_of(line) == {
        "text": "Ines: Blue, then.", "source_ref": "c1/D2:1", "scope": "c1", "session": "c1/2",
        "occurred_at": "2024-01-02T09:00:00",
    }  # fmt: skip


def test_the_language_is_the_scope_where_there_is_no_conversation() -> None:
    assert memory_of({"id": "z", "lang": "zh", "text": "蓝色"})["scope"] == "zh"
    assert question_of({"id": "q", "question": "?", "lang": "en", "gold_lang": "zh"}).scope == "zh"


@pytest.mark.parametrize(
    ("title", "stored"), [("Only a title", "Only a title"), (" ", "(empty)"), (None, "(empty)")]
)
def test_an_empty_text_is_stored_as_its_title(title: str | None, stored: str) -> None:
    assert memory_of({"id": "1", "text": " ", "title": title})["text"] == stored


def test_grades_are_the_gains_and_zero_is_none() -> None:
    line = {"id": "q", "question": "?", "evidence": ["a", "b"], "grades": {"a": 2, "b": 0}}
    assert question_of(line).gold == {"a": 2.0}
    assert question_of({"id": "q", "question": "?", "evidence": ["a"]}).gold == {"a": 1.0}


@pytest.mark.parametrize(
    ("fields", "is_scored", "has_answer"),
    [
        ({"evidence": ["a"]}, True, True),
        ({"evidence": []}, False, False),
        ({"evidence": [], "answer": "likely yes"}, False, True),
        ({"evidence": ["a"], "answer": None, "adversarial_answer": "blue"}, False, False),
        ({"evidence": ["a"], "answer": 2022, "adversarial_answer": None}, True, True),
    ],
)
def test_what_is_scored_has_an_answer_and_evidence(
    fields: dict[str, Any], is_scored: bool, has_answer: bool
) -> None:
    question = question_of({"id": "q", "question": "?"} | fields)
    assert (question.is_scored, question.has_answer) == (is_scored, has_answer)


@pytest.mark.parametrize(
    ("fields", "category"),
    [
        ({"category": 2, "category_name": "temporal"}, "2 temporal"),
        ({"category": "bridge"}, "bridge"),
        ({"lang": "zh", "gold_lang": "en"}, "zh->en"),
        ({}, ""),
    ],
)
def test_a_category_is_told_by_number_and_name(fields: dict[str, Any], category: str) -> None:
    assert question_of({"id": "q", "question": "?"} | fields).category == category


def test_halves_are_stable_and_about_equal() -> None:
    # sha256 of "a" begins with ca, of "c" with 2e, of "f" with 25: even, even, odd.
    halves = [Question(name, "?", {}).half for name in "acf"]
    assert halves == ["tune", "tune", "report"]
    counts = Counter(plain(number).half for number in range(1000))
    assert counts["tune"] == pytest.approx(500, abs=60)


@given(st.lists(st.integers(1, 700), max_size=12), st.integers(0, 30))
def test_batches_hold_every_memory_once_and_keep_sessions_whole(
    sizes: list[int], alone: int
) -> None:
    memories = [
        {"session": f"s{s}", "place": p} for s, size in enumerate(sizes) for p in range(size)
    ]
    memories += [{"place": place} for place in range(alone)]
    cut = batches(memories)
    assert [memory for part in cut for memory in part] == memories
    assert all(len(part) <= 1000 for part in cut)
    homes = [{m["session"] for m in part if "session" in m} for part in cut]
    assert sum(map(len, homes)) == len(sizes)


def test_a_session_beyond_the_service_s_bound_is_cut() -> None:
    cut = batches([{"session": "long", "place": place} for place in range(2100)])
    assert [len(part) for part in cut] == [1000, 1000, 100]


def test_turns_that_stand_apart_come_together() -> None:
    first, other, second = {"session": "a", "n": 1}, {"session": "b"}, {"session": "a", "n": 2}
    assert batches([first, other, second]) == [[first, second, other]]


def test_fewer_questions_are_spread_over_all_categories() -> None:
    # Categories that take turns: every fourth question alone would be of one category.
    questions = [plain(number, f"c{number % 4}") for number in range(400)]
    chosen = spread(questions, 100)
    assert Counter(question.category for question in chosen) == dict.fromkeys(
        ("c0", "c1", "c2", "c3"), 25
    )
    numbers = sorted(int(question.id[1:]) for question in chosen)
    assert numbers[0] < 20
    assert numbers[-1] > 380


def test_questions_that_somebody_wrote_over_notes_are_all_asked() -> None:
    written = [replace(plain(number), of_sections=True) for number in (1, 2)]
    assert spread([plain(3), *written, plain(4)], 1) == [*written, plain(3)]


@given(st.integers(0, 60), st.one_of(st.none(), st.integers(1, 80)))
def test_spread_gives_so_many_and_none_twice(count: int, most: int | None) -> None:
    chosen = spread([plain(number) for number in range(count)], most)
    assert len(chosen) == min(count, most or count)
    assert len({question.id for question in chosen}) == len(chosen)


def test_a_folder_is_read_line_by_line(tmp_path: Path) -> None:
    folder = tmp_path / "lore"
    folder.mkdir()
    _write(folder / "corpus.jsonl", [{"id": "a", "text": "한국어"}, {"id": "b", "text": "two"}])
    _write(folder / "queries.jsonl", [{"id": "q", "question": "Which?", "evidence": ["b"]}])
    data = read_set(folder)
    assert data.name == "lore"
    assert [memory["text"] for memory in data.memories] == ["한국어", "two"]
    assert data.questions == (Question("q", "Which?", {"b": 1.0}),)


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n\n", encoding="utf-8")
