"""Parts of data sets, and questions that nothing in a store answers; pure.

A part is a smaller store of the same kind: so many memories or, of conversations, one or more.
Questions that nothing answers are those whose evidence is not in the part, those of a set about
something else, and those of another conversation asked about somebody who speaks in this one.
"""

import hashlib
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from scripts.recall.sets import DataSet, Question

# By conversation, who speaks in it.
Speakers = Mapping[str, frozenset[str]]


def part_of(data: DataSet, share: float) -> DataSet:
    """Return a part of a data set by the name of its size; without evidence there is no answer.

    A memory that belongs to a session is kept with its whole conversation.
    """
    units = defaultdict(list)
    for memory in data.memories:
        together = memory.get("session") and memory.get("scope")
        units[str(together or memory["source_ref"])].append(memory)
    chosen = sorted(units, key=by_chance)[: math.ceil(len(units) * share)]
    memories = tuple(memory for unit in chosen for memory in units[unit])
    names = {memory["source_ref"] for memory in memories}
    scopes = {memory.get("scope") for memory in memories}
    asked = tuple(
        question if names & question.gold.keys() else unanswerable(question)
        for question in data.questions
        if question.gold and question.scope in {None, *scopes}
    )
    return DataSet(f"{data.name}-{len(memories)}", memories, asked)


def unanswerable(question: Question) -> Question:
    """Return the question as one that nothing answers, asked of a whole store."""
    return replace(question, gold={}, scope=None, has_answer=False)


def speakers_of(data: DataSet) -> Speakers:
    """Return who speaks in each conversation: what stands before the colon of its turns."""
    speakers = defaultdict(set)
    for memory in data.memories:
        if memory.get("session") and memory.get("scope"):
            speakers[memory["scope"]].add(memory["text"].partition(": ")[0])
    return {scope: frozenset(names) for scope, names in speakers.items()}


def transplanted(data: DataSet) -> Iterator[Question]:
    """Yield the questions that name one who speaks, asked of another conversation.

    There they name one who speaks in that one, by a name that the first does not know.
    """
    speakers = speakers_of(data)
    for question in data.questions:
        here = speakers.get(question.scope or "", frozenset())
        named = [name for name in sorted(here) if _named(name).search(question.text)]
        others = sorted(
            (scope, name)
            for scope in speakers.keys() - {question.scope}
            for name in speakers[scope] - here
        )
        if question.is_scored and len(named) == 1 and others:
            scope, name = min(others, key=lambda other: by_chance(f"{question.id} {other}"))
            text = _named(named[0]).sub(name, question.text)
            yield replace(unanswerable(question), text=text, scope=scope)


def by_chance(name: str) -> bytes:
    """Return what to sort names by so that their order is by chance, and the same for good."""
    return hashlib.sha256(name.encode()).digest()


def some(questions: Sequence[Question], most: int) -> list[Question]:
    """Return at most so many, by chance."""
    return sorted(questions, key=lambda question: by_chance(question.id))[:most]


def _named(name: str) -> re.Pattern[str]:
    return re.compile(rf"\b{re.escape(name)}\b")
