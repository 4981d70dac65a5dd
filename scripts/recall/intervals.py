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
    return [
        SureScores(category, part, DEFAULT, len(places), dict(zip(LABELS, intervals, strict=True)))
        for category in _categories(asked.questions)
        for part, places in _parts(asked.questions, category)
        for intervals in [bootstrap(_rows(asked.questions, asked.answers[DEFAULT], places))]
    ]


def leads(asked: Asked) -> list[SureScores]:
    """Return the default's scores less each variant's by category, parts as in `sure_scores`.

    All variants of a category share the draws of the bootstrap.
    """
    questions, others = asked.questions, [name for name in asked.answers if name != DEFAULT]
    found = []
    for category in _categories(questions) if others else []:
        for part, places in _parts(questions, category):
            mine = _rows(questions, asked.answers[DEFAULT], places)
            rows = [mine - _rows(questions, asked.answers[name], places) for name in others]
            intervals = iter(bootstrap(np.hstack(rows)))
            for name in others:
                scores = dict(zip(LABELS, islice(intervals, len(LABELS)), strict=True))
                found.append(SureScores(category, part, name, len(places), scores))
    return found


def _parts(questions: Sequence[Question], category: str) -> list[tuple[Part, list[int]]]:
    """Return the places of a category's questions: all of them, and those of the told half.

    Conclusions are drawn from `report`; a run of one half has that alone.
    """
    halves = {question.half for question in questions if question.is_scored}
    parts: tuple[Part, ...] = ("all", "report") if len(halves) > 1 else tuple(halves)
    places = [(part, _scored(questions, category, part)) for part in parts]
    return [(part, own) for part, own in places if own]


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
