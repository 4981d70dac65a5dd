"""A folder of notes as a data set: which files, what their memories are called, who may ask."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from scripts.measure_recall import read, wrong_in
from scripts.recall import waiting_vectors
from scripts.recall.notes import (
    NotesSet,
    answerable,
    is_notes,
    load_notes,
    named,
    read_natural,
    read_notes,
)
from scripts.recall.sets import DataSet, Question, section_of


def memory(id_: str, uri: str | None, title: str | None, line: int | None = None) -> dict[str, Any]:
    source = {"uri": uri, "line_start": line, "ref": f"ref-{id_}"}
    return {"id": id_, "title": title, "content": f"text of {id_}", "source": source}


def natural(*sections: str) -> Question:
    return Question("n1", "Which?", dict.fromkeys(sections, 1.0), "english", of_sections=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    notes = tmp_path / "diary"
    for number in range(6):
        path = notes / f"month {number % 2}" / f"{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Day {number}\n\nIt rained.\n", encoding="utf-8")
    (notes / "empty.md").write_text("\n", encoding="utf-8")
    return notes


def test_a_folder_is_read_by_the_paths_in_it(folder: Path) -> None:
    assert is_notes(folder)
    data = read_notes(folder)
    assert data.name == "diary"
    assert [uri for uri, _ in data.files] == [
        "month 0/0.md", "month 0/2.md", "month 0/4.md",
        "month 1/1.md", "month 1/3.md", "month 1/5.md",
    ]  # fmt: skip
    assert data.natural == ()


def test_a_part_of_a_folder_is_always_the_same_part_and_another_agent_s(folder: Path) -> None:
    part = read_notes(folder, 3)
    assert part == read_notes(folder, 3)
    assert len(part.files) <= 3
    assert set(part.files) < set(read_notes(folder).files)
    assert part.agent != read_notes(folder).agent


def test_a_corpus_is_no_notes(tmp_path: Path) -> None:
    assert not is_notes(tmp_path)
    (tmp_path / "README.md").write_text("About the corpus.", encoding="utf-8")
    for name in ("corpus.jsonl", "queries.jsonl"):
        (tmp_path / name).write_text("", encoding="utf-8")
    assert not is_notes(tmp_path)
    assert isinstance(read(tmp_path, 9), DataSet)


def test_what_is_no_data_set_is_told(folder: Path, tmp_path: Path) -> None:
    class Given:
        questions = files = write = None
        datasets = [folder]  # noqa: RUF012 - stands for argparse's

    assert wrong_in(Given()) is None  # type: ignore[arg-type]
    (tmp_path / "bare").mkdir()
    Given.datasets = [tmp_path / "bare"]
    assert "no corpus.jsonl, and no notes" in str(wrong_in(Given()))  # type: ignore[arg-type]


def test_memories_are_named_by_section_and_order_in_it() -> None:
    name_of = named([
        memory("x", "a.md", "Tea", 9), memory("y", "a.md", "Tea", 3),
        memory("z", "a.md", "Milk", 5), memory("u", "b.md", None, 1), memory("w", None, "Stored"),
    ])  # fmt: skip
    assert name_of == {
        "y": "a.md#Tea#1", "x": "a.md#Tea#2", "z": "a.md#Milk#1", "u": "b.md##1",
        "w": "ref-w#Stored#1",
    }  # fmt: skip
    assert {section_of(name) for name in name_of.values()} == {
        "a.md#Tea", "a.md#Milk", "b.md#", "ref-w#Stored",
    }  # fmt: skip


def test_natural_questions_are_read_with_their_sections(tmp_path: Path) -> None:
    line = {"id": "t1", "question": "Which tea?", "evidence": ["a.md#Tea"], "category": "english"}
    path = tmp_path / "diary.jsonl"
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    assert list(read_natural(path)) == [
        Question("t1", "Which tea?", {"a.md#Tea": 1.0}, "english", of_sections=True)
    ]
    assert list(read_natural(tmp_path / "none.jsonl")) == []


def test_what_asks_for_a_file_that_is_not_loaded_is_left_out() -> None:
    sections = {"a.md#Tea", "a.md#Milk"}
    here = natural("a.md#Tea", "a.md#Milk")
    assert answerable([here, natural("a.md#Tea", "b.md#Tea")], sections) == [here]


def test_a_section_that_a_loaded_file_has_not_is_a_mistake() -> None:
    with pytest.raises(ValueError, match=r"n1: there is no section a\.md#Coffee$"):
        answerable([natural("a.md#Coffee")], {"a.md#Tea"})


def test_an_embedding_server_that_is_away_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(waiting_vectors, "_STUCK_SECONDS", 0.1)
    monkeypatch.setattr(waiting_vectors, "_LOOK_SECONDS", 0.01)
    answer = httpx.MockTransport(lambda _: httpx.Response(200, json={"without_vector": 7}))
    with (
        httpx.Client(base_url="http://s", transport=answer) as client,
        pytest.raises(TimeoutError, match="7 memories of diary still wait"),
    ):
        waiting_vectors.wait_for_vectors(client, "diary")


def test_notes_are_stored_file_by_file_and_their_memories_read_page_by_page() -> None:
    stored, bars, waiting = [], [], [0, 1, 3]

    def progress(files: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
        bars.append(len(files))
        return files

    def answer(request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            stored.append(json.loads(request.content))
            return httpx.Response(200, json={})
        assert request.url.params["agent"] == "measure-diary-2"
        if request.url.path == "/stats":
            return httpx.Response(200, json={"without_vector": waiting.pop()})
        if "cursor" not in request.url.params:
            first = memory("y", "a.md", "Tea", 3)
            return httpx.Response(200, json={"memories": [first], "next_cursor": "more"})
        last = memory("x", "a.md", "Tea", 9)
        return httpx.Response(200, json={"memories": [last], "next_cursor": None})

    asked = natural("a.md#Tea")
    notes = NotesSet("diary", (("a.md", "# Tea"), ("b.md", "# Milk")), (asked, natural("c.md#X")))
    with httpx.Client(base_url="http://s", transport=httpx.MockTransport(answer)) as client:
        loaded = load_notes(client, notes, progress)
    assert (bars, waiting) == ([2], [])
    assert stored == [
        {"source": uri, "text": text, "agent": "measure-diary-2"} for uri, text in notes.files
    ]
    assert loaded.name_of == {"y": "a.md#Tea#1", "x": "a.md#Tea#2"}
    assert (loaded.data.questions, loaded.left_out) == ((asked,), 1)
