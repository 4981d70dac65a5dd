"""Scores by category with their 95 % intervals, and how far the default leads; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import islice
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from scripts.recall.answers import DEFAULT, Answer, Asked
from scripts.recall.scores import LABELS, Interval, bootstrap
from scripts.recall.sets import Half, Question

Part = Half | Literal["all"]
ALL: Final = "all"


@dataclass(frozen=True, slots=True)
class SureScores:
    """Scores with their 95 % intervals over the questions of a category in one half or in both.

    `variant` is whose they are; among `leads` it is what the default is compared with.
    """

    category: str
    half: Part
    variant: str
    questions: int
    scores: Mapping[str, Interval]


def sure_scores(asked: Asked) -> list[SureScores]:
    """Return the default's scores by category, over all and over the half that is told."""
    questions, default = asked.questions, asked.answers[DEFAULT]
    told = {question.half for question in questions if question.is_scored}
    halves: tuple[Part, ...] = ("all", "report") if len(told) > 1 else tuple(told)
    return [
        SureScores(category, part, DEFAULT, len(places), dict(zip(LABELS, intervals, strict=True)))
        for category in _categories(questions)
        for part in halves
        if (places := _scored(questions, category, part))
        for intervals in [bootstrap(_rows(questions, default, places))]
    ]


def leads(asked: Asked) -> list[SureScores]:
    """Return the default's scores less each variant's by category, over the half that is told.

    All variants of a category share the draws of the bootstrap.
    """
    questions, answers = asked.questions, asked.answers
    half, others = told_half(questions), [name for name in answers if name != DEFAULT]
    found = []
    for category in _categories(questions) if others else []:
        if places := _scored(questions, category, half):
            mine = _rows(questions, answers[DEFAULT], places)
            rows = [mine - _rows(questions, answers[name], places) for name in others]
            intervals = iter(bootstrap(np.hstack(rows)))
            for name in others:
                scores = dict(zip(LABELS, islice(intervals, len(LABELS)), strict=True))
                found.append(SureScores(category, half, name, len(places), scores))
    return found


def told_half(questions: Sequence[Question]) -> Half:
    """Return the half that conclusions are drawn from: `report`, if any of it was asked."""
    halves = {question.half for question in questions if question.is_scored}
    return "report" if "report" in halves else "tune"


def _categories(questions: Sequence[Question]) -> list[str]:
    """Return the categories that can be scored, and ALL; that alone, if there is but one."""
    names = sorted({question.category for question in questions if question.is_scored})
    return [*names, ALL] if len(names) > 1 else [ALL]


def _scored(questions: Sequence[Question], category: str, half: Part) -> list[int]:
    return [
        place
        for place, question in enumerate(questions)
        if question.is_scored and category in (ALL, question.category)
        and half in ("all", question.half)
    ]  # fmt: skip


def _rows(
    questions: Sequence[Question], answers: Sequence[Answer], places: Sequence[int]
) -> NDArray[np.float64]:
    return np.array([astuple(answers[place].scored(questions[place])) for place in places])
