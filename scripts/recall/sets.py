"""Data sets of questions with evidence: reading them, and what of them is stored and asked.

A data set is a folder of notes (scripts/recall/notes.py), or one with two files of JSON lines.
corpus.jsonl: id, text, optional title, speaker, conversation, session, session_datetime, lang.
queries.jsonl: id, question, evidence (ids of the corpus), optional grades (id to gain, in place of
evidence), category, category_name, conversation, lang, gold_lang, answer, adversarial_answer.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

_TITLE_CHARACTERS: Final = 200
# The service's bound, and what one request holds unless a session is longer.
_MOST_IN_A_BATCH: Final = 1000
_BATCH: Final = 500

Half = Literal["tune", "report"]
Line = Mapping[str, Any]
Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Question:
    """One question; `gold` is the gain, above 0, of every memory that is evidence.

    Without `has_answer` the right reply is none at all: no evidence and no answer, or an
    adversarial question, whose evidence is what misleads. With `of_sections` the gold names
    sections of notes, of which any memory will do (`section_of`).
    """

    id: str
    text: str
    gold: Mapping[str, float]
    category: str = ""
    scope: str | None = None
    has_answer: bool = True
    of_sections: bool = False

    @property
    def is_scored(self) -> bool:
        """Whether recall can be told: there is an answer, and its evidence is known."""
        return self.has_answer and bool(self.gold)

    @property
    def half(self) -> Half:
        """The half it belongs to, for good: only "tune" may be looked at while choosing."""
        return "report" if hashlib.sha256(self.id.encode()).digest()[0] % 2 else "tune"


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set by the name of its folder; memories are bodies of POST /memories, no agent."""

    name: str
    memories: tuple[Body, ...]
    questions: tuple[Question, ...]


def read_set(folder: Path) -> DataSet:
    """Read a data set; raises OSError without the files, KeyError where a line lacks a field."""
    return DataSet(
        folder.resolve().name,
        tuple(memory_of(line) for line in _read(folder / "corpus.jsonl")),
        tuple(question_of(line) for line in _read(folder / "queries.jsonl")),
    )


def memory_of(line: Line) -> Body:
    """Turn a line of the corpus into a memory: a passage, or one turn with its speaker.

    The scope is the conversation, else the language.
    """
    speaker = f"{line['speaker']}: " if line.get("speaker") else ""
    text, title = line["text"], (line.get("title") or "")[:_TITLE_CHARACTERS]
    body = {
        "text": speaker + text if text.strip() else title.strip() or "(empty)",
        "source_ref": str(line["id"]),
        "title": title or None,
        "scope": line.get("conversation") or line.get("lang"),
        "occurred_at": line.get("session_datetime"),
    }
    if line.get("session") is not None:
        body["session"] = f"{line.get('conversation', '')}/{line['session']}"
    return {name: value for name, value in body.items() if value is not None}


def question_of(line: Line) -> Question:
    """Turn a line of the queries into a question.

    It is asked in its conversation, or in the language of its evidence: of a corpus that holds
    every text in two languages, the other one's twin is no miss.
    """
    grades = line["grades"] if "grades" in line else dict.fromkeys(line.get("evidence") or (), 1)
    is_adversarial = line.get("adversarial_answer") is not None
    return Question(
        id=str(line["id"]),
        text=line["question"],
        gold={str(name): float(gain) for name, gain in grades.items() if gain > 0},
        category=_category(line),
        scope=line.get("conversation") or line.get("gold_lang"),
        has_answer=not is_adversarial and (bool(grades) or line.get("answer") is not None),
    )


def section_of(name: str) -> str:
    """Return the section that a memory of notes is of: `a.md#Title` for `a.md#Title#2`."""
    return name.rpartition("#")[0]


def batches(memories: Sequence[Body]) -> list[list[Body]]:
    """Cut into requests that keep a session whole.

    Turns of one session share their moment; then the place inside the request is their order.
    A session of more than 1,000 is cut all the same, and its order holds between cuts only if
    its moments differ.
    """
    sessions = defaultdict(list)
    for place, memory in enumerate(memories):
        sessions[memory.get("session", place)].append(memory)
    cut: list[list[Body]] = []
    for session in sessions.values():
        for start in range(0, len(session), _MOST_IN_A_BATCH):
            part = session[start : start + _MOST_IN_A_BATCH]
            if cut and len(cut[-1]) + len(part) <= _BATCH:
                cut[-1] += part
            else:
                cut.append(part)
    return cut


def spread(questions: Sequence[Question], most: int | None) -> list[Question]:
    """Take at most so many, evenly from every category; sorting keeps a period out of it.

    Questions that somebody wrote over notes are few and dear: they are taken beside, all of them.
    """
    written = [question for question in questions if question.of_sections]
    others = [question for question in questions if not question.of_sections]
    if most is not None and most < len(others):
        ordered = sorted(others, key=lambda question: question.category)
        others = [ordered[place * len(ordered) // most] for place in range(most)]
    return [*written, *others]


def _category(line: Line) -> str:
    if line.get("category") is None and line.get("lang") and line.get("gold_lang"):
        return f"{line['lang']}->{line['gold_lang']}"
    # Names of one category differ between projects, its number does not: both are told.
    told = (line.get("category"), line.get("category_name"))
    return " ".join(str(part) for part in told if part is not None)


def _read(path: Path) -> Iterator[Line]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)
