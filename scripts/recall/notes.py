"""Data sets that are folders of markdown notes: their files, their memories, their questions.

Every file goes through POST /ingest by its path in the folder; the memories are what GET
/memories then lists. In the data set a memory's name is `uri#title#1`, and `#2`, … for more
memories of one section, which is `uri#title`. Questions are made of the notes
(scripts/recall/known_items.py), and natural ones are read from questions/NAME.jsonl beside this
module, NAME being the folder's. A line of it holds id, question, category and evidence: sections.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final

import httpx

from scripts.recall.known_items import Note, made_questions
from scripts.recall.sets import DataSet, Question, section_of
from scripts.recall.waiting_vectors import wait_for_vectors

QUESTIONS: Final = Path(__file__).with_name("questions")
# So that a part of a folder is always the same part.
_SEED: Final = 7
_PAGE: Final = 100

Bodies = Sequence[Mapping[str, Any]]
Progress = Callable[[Sequence[tuple[str, str]]], Iterable[tuple[str, str]]]


@dataclass(frozen=True, slots=True)
class NotesSet:
    """A folder of notes by its name: path and text of every file, and the natural questions."""

    name: str
    files: tuple[tuple[str, str], ...]
    natural: tuple[Question, ...]

    @property
    def agent(self) -> str:
        """Whose memories they are: part of a folder is another agent's than the whole."""
        return f"measure-{self.name}-{len(self.files)}"


@dataclass(frozen=True, slots=True)
class LoadedNotes:
    """A data set made of stored notes; `left_out` questions ask for what is not among them."""

    data: DataSet
    name_of: Mapping[str, str]
    left_out: int


def is_notes(folder: Path) -> bool:
    """Say whether a folder is notes: markdown somewhere below it, and no corpus of its own."""
    return not (folder / "corpus.jsonl").exists() and any(folder.rglob("*.md"))


def read_notes(folder: Path, most_files: int | None = None) -> NotesSet:
    """Read a folder, or so many files of it drawn by a seed; empty ones are left out of those."""
    name, paths = folder.resolve().name, sorted(folder.rglob("*.md"))
    if most_files is not None:
        Random(_SEED).shuffle(paths)
    texts = (
        (path.relative_to(folder).as_posix(), path.read_text(encoding="utf-8", errors="ignore"))
        for path in paths[:most_files]
    )
    files = tuple((uri, text) for uri, text in texts if text.strip())
    return NotesSet(name, files, tuple(read_natural(QUESTIONS / f"{name}.jsonl")))


def read_natural(path: Path) -> Iterator[Question]:
    """Yield the questions of a file, none if there is no such file; KeyError lacks a field."""
    if path.exists():
        for line in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            gold = {str(section): 1.0 for section in line["evidence"]}
            yield Question(line["id"], line["question"], gold, line["category"], of_sections=True)


def load_notes(client: httpx.Client, notes: NotesSet, progress: Progress) -> LoadedNotes:
    """Store the files and make questions of what the service cut them into.

    Raises ValueError when a natural question's evidence is no section of a file that is loaded.
    """
    for uri, text in progress(notes.files):
        body = {"source": uri, "text": text, "agent": notes.agent}
        client.post("/ingest", json=body).raise_for_status()
    wait_for_vectors(client, notes.agent)
    bodies = list(listed(client, notes.agent))
    name_of = named(bodies)
    asked = answerable(notes.natural, set(map(section_of, name_of.values())))
    made = made_questions([note_of(body, name_of[body["id"]]) for body in bodies])
    data = DataSet(notes.name, tuple(dict(body) for body in bodies), (*asked, *made))
    return LoadedNotes(data, name_of, len(notes.natural) - len(asked))


def listed(client: httpx.Client, agent: str) -> Iterator[Mapping[str, Any]]:
    """Yield all memories of an agent, page by page."""
    query: dict[str, str | int] = {"agent": agent, "limit": _PAGE}
    while True:
        page = client.get("/memories", params=query).raise_for_status().json()
        yield from page["memories"]
        if not page.get("next_cursor"):
            return
        query["cursor"] = page["next_cursor"]


def named(memories: Bodies) -> dict[str, str]:
    """Return the names of memories by their ids; those of one section count in their order.

    What was not ingested goes by its source_ref instead of a file.
    """
    counts, name_of = Counter[str](), {}
    for memory in sorted(memories, key=_place):
        section = f"{_uri(memory)}#{memory['title'] or ''}"
        counts[section] += 1
        name_of[memory["id"]] = f"{section}#{counts[section]}"
    return name_of


def note_of(memory: Mapping[str, Any], name: str) -> Note:
    """Return what questions are made of."""
    return Note(name, memory["title"] or "", memory["content"])


def answerable(natural: Sequence[Question], sections: set[str]) -> list[Question]:
    """Return the questions all of whose evidence is there.

    Raises ValueError for one that names a section which its file, though it is there, has not.
    """
    uris = {section.partition("#")[0] for section in sections}
    for question in natural:
        for section in question.gold:
            if section.partition("#")[0] in uris and section not in sections:
                raise ValueError(f"{question.id}: there is no section {section}")
    return [question for question in natural if sections.issuperset(question.gold)]


def _place(memory: Mapping[str, Any]) -> tuple[str, int, str]:
    return (_uri(memory), (memory["source"] or {}).get("line_start") or 0, memory["content"])


def _uri(memory: Mapping[str, Any]) -> str:
    source = memory["source"] or {}
    return str(source.get("uri") or source.get("ref") or "")
