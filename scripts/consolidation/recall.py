"""What recall loses when a third of a store is consolidated: the same questions asked twice."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import compress
from typing import Final

from scripts.consolidation.scores import Comparison, Covered, compare, covered
from scripts.consolidation.store import Compacted, Done, Store
from scripts.measure_recall import Asking, ask_in_turn, load
from scripts.recall.answers import DEFAULT, Answer
from scripts.recall.sets import Body, DataSet, Question

# Undated memories get a time in an order that nothing but their id decides.
_BEGIN: Final = datetime(2024, 1, 1, tzinfo=UTC)
_A_DAY: Final = 20

Names = Mapping[str, Collection[str]]


@dataclass(frozen=True, slots=True)
class RecallFigures:
    """One data set: its old third before and after, and what its questions found."""

    name: str
    model: str
    memories: int
    candidates: int
    compacted: Compacted
    comparisons: tuple[Comparison, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """The questions that can be scored with both answers, and what a summary stands for.

    `sources` are all memories of each summary, `told` those that gave a line of it.
    """

    questions: Sequence[Question]
    before: Sequence[Answer]
    after: Sequence[Answer]
    sources: Names
    told: Names


def measure_recall_loss(
    store: Store, data: DataSet, choose: Callable[[Sequence[Question]], list[Question]]
) -> RecallFigures:
    """Load a data set, ask, consolidate its old third, ask again; `choose` limits the questions.

    Raises ValueError when anything but the old third would be consolidated.
    """
    aged, old = with_old_third(data)
    asking = Asking(store.client, store.agent)
    name_of = load(asking, aged)
    questions = choose([question for question in data.questions if question.is_scored])
    before = ask_in_turn(asking, questions, name_of, [DEFAULT])[DEFAULT]
    done = store.consolidate_as_shown()
    if strangers := {name_of[key] for key in done.shown.joined} - old:
        raise ValueError(f"{len(strangers)} memories joined that are not of the old third")
    after = ask_in_turn(asking, questions, name_of, [DEFAULT])[DEFAULT]
    asked = Asked(questions, before, after, *_names(done, name_of))
    return RecallFigures(
        name=data.name,
        model=asking.model,
        memories=len(name_of),
        candidates=len(old),
        compacted=done.compacted(),
        comparisons=comparisons_of(asked, old),
    )


def with_old_third(data: DataSet) -> tuple[DataSet, frozenset[str]]:
    """Make the oldest third of each scope observations, the others notes; returns their ids too.

    Observations are what is consolidated. What has no time gets one by a hash of its id.
    """
    memories = _dated(data.memories)
    by_scope: dict[object, list[Body]] = defaultdict(list)
    for memory in memories:
        by_scope[memory.get("scope")].append(memory)
    old = frozenset(
        memory["source_ref"]
        for scope in by_scope.values()
        for memory in sorted(scope, key=_moment)[: len(scope) // 3]
    )
    aged = tuple(
        memory | {"kind": "observation" if memory["source_ref"] in old else "note"}
        for memory in memories
    )
    return replace(data, memories=aged), old


def _moment(memory: Body) -> str:
    return str(memory["occurred_at"])


def _dated(memories: Sequence[Body]) -> list[Body]:
    if all("occurred_at" in memory for memory in memories):
        return list(memories)
    by_hash = sorted(memory["source_ref"] for memory in memories)
    by_hash.sort(key=lambda name: hashlib.sha256(name.encode()).digest())
    times = {
        name: (_BEGIN + timedelta(days=1) * place / _A_DAY).isoformat()
        for place, name in enumerate(by_hash)
    }
    return [{"occurred_at": times[memory["source_ref"]]} | memory for memory in memories]


def _names(done: Done, name_of: Mapping[str, str]) -> tuple[Names, Names]:
    sources = {
        key: {name_of[source] for source in lines} for key, lines in done.shown.lines.items()
    }
    told = {
        key: {name_of[source] for source, its in lines.items() if its}
        for key, lines in done.shown.lines.items()
    }
    return sources, told


def comparisons_of(asked: Asked, old: Collection[str]) -> tuple[Comparison, ...]:
    """Compare all questions, those with evidence in the old third alone, and those without any.

    With every source of a summary, and with those alone that gave a line of it.
    """
    ours = set(old)
    is_inside = [question.gold.keys() <= ours for question in asked.questions]
    is_outside = [question.gold.keys().isdisjoint(ours) for question in asked.questions]
    before = _scores(asked.questions, asked.before, {})
    after = _scores(asked.questions, asked.after, asked.sources)
    strictly = _scores(asked.questions, asked.after, asked.told)
    groups = {
        "all": (before, after),
        "all, sources with a line alone": (before, strictly),
        "evidence in the third alone": (compress(before, is_inside), compress(after, is_inside)),
        "the same, sources with a line alone": (
            compress(before, is_inside), compress(strictly, is_inside),
        ),
        "no evidence in the third": (compress(before, is_outside), compress(after, is_outside)),
    }  # fmt: skip
    found = (compare(name, list(one), list(other)) for name, (one, other) in groups.items())
    return tuple(one for one in found if one is not None)


def _scores(
    questions: Sequence[Question], answers: Sequence[Answer], stands_for: Names
) -> list[Covered]:
    return [
        covered(question.gold, [stands_for.get(name, {name}) for name in answer.ranked])
        for question, answer in zip(questions, answers, strict=True)
    ]
