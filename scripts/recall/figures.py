"""From the answers to the figures of a data set; pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from scripts.recall.answers import DEFAULT, Answer, Asked
from scripts.recall.intervals import ALL, SureScores, leads, sure_scores
from scripts.recall.scores import (
    Abstention,
    Bin,
    Interval,
    Scores,
    abstention,
    bootstrap,
    calibration,
    mean_scores,
)
from scripts.recall.sets import Question
from scripts.search.trials import percentile

ALL_EVIDENCE: Final = "all, adversarial too"


@dataclass(frozen=True, slots=True)
class Means:
    """The mean scores of so many questions."""

    questions: int
    scores: Scores


@dataclass(frozen=True, slots=True)
class VariantFigures:
    """One variant: means by category, the whole last; differences from the default.

    `incomplete` counts answers that lacked a signal or came from a fallback.
    """

    means: Mapping[str, Means]
    p50_ms: float
    p95_ms: float
    ndcg_10_difference: Interval | None
    recall_5_difference: Interval | None
    incomplete: int

    @property
    def whole(self) -> Means:
        """The means over all questions that have an answer."""
        return self.means[ALL]


@dataclass(frozen=True, slots=True)
class SetFigures:
    """Everything measured on one data set; halves, abstention and bins are the default's.

    So are `sure`, its scores with their intervals. `leads` are the default's less each variant's.
    `left_out` counts questions that have an answer but no evidence, or none that is loaded.
    """

    name: str
    memories: int
    engine: str
    model: str
    variants: Mapping[str, VariantFigures]
    halves: Mapping[str, Means]
    abstention: Abstention | None
    bins: Sequence[Bin]
    left_out: int
    sure: Sequence[SureScores] = ()
    leads: Sequence[SureScores] = ()


def set_figures(asked: Asked) -> SetFigures:
    """Return the figures of a data set from what every variant answered to the questions."""
    about, questions, default = asked.about, asked.questions, asked.answers[DEFAULT]
    abstention, bins = confidence_figures(questions, default)
    return SetFigures(
        name=about.name,
        memories=about.memories,
        engine=about.engine,
        model=about.model,
        variants={
            name: variant_figures(questions, own, default if name != DEFAULT else None)
            for name, own in asked.answers.items()
        },
        halves=half_means(questions, default),
        abstention=abstention,
        bins=bins,
        left_out=about.left_out + sum(q.has_answer and not q.gold for q in questions),
        sure=sure_scores(asked),
        leads=leads(asked),
    )


def variant_figures(
    questions: Sequence[Question], answers: Sequence[Answer], default: Sequence[Answer] | None
) -> VariantFigures:
    """Return the figures of one variant; `default` are the answers to compare with, if any."""
    milliseconds = [answer.milliseconds for answer in answers]
    ndcg, recall = _differences(questions, answers, default) if default else (None, None)
    return VariantFigures(
        means=_by_category(questions, answers),
        p50_ms=percentile(milliseconds, 0.5),
        p95_ms=percentile(milliseconds, 0.95),
        ndcg_10_difference=ndcg,
        recall_5_difference=recall,
        incomplete=sum(not answer.is_complete for answer in answers),
    )


def half_means(questions: Sequence[Question], answers: Sequence[Answer]) -> dict[str, Means]:
    """Return the means of each half that has questions."""
    halves: dict[str, list[Scores]] = {"tune": [], "report": []}
    for question, answer in zip(questions, answers, strict=True):
        if question.is_scored:
            halves[question.half].append(answer.scored(question))
    return {half: _means(scores) for half, scores in halves.items() if scores}


def confidence_figures(
    questions: Sequence[Question], answers: Sequence[Answer]
) -> tuple[Abstention | None, list[Bin]]:
    """Return what the confidences tell of questions with and without an answer."""
    answerable, unanswerable = [], []
    for question, answer in zip(questions, answers, strict=True):
        if question.is_scored:
            answerable.append((answer.confidence, answer.scored(question).recall_5 > 0))
        elif not question.has_answer:
            unanswerable.append(answer.confidence)
    confidences = [confidence for confidence, _ in answerable]
    return abstention(confidences, unanswerable), calibration(answerable, unanswerable)


def _by_category(questions: Sequence[Question], answers: Sequence[Answer]) -> dict[str, Means]:
    """Return the means by category; what has no answer counts there, and not in the whole."""
    categories: dict[str, list[Scores]] = defaultdict(list)
    answerable, evident = [], []
    for question, answer in zip(questions, answers, strict=True):
        if not question.gold:
            continue
        scores = answer.scored(question)
        categories[question.category].append(scores)
        evident.append(scores)
        if question.has_answer:
            answerable.append(scores)
    found = {name: _means(scores) for name, scores in sorted(categories.items())}
    if len(found) == 1:
        found = {}
    if len(evident) > len(answerable):
        found[ALL_EVIDENCE] = _means(evident)
    return found | {ALL: _means(answerable)}


def _differences(
    questions: Sequence[Question], answers: Sequence[Answer], default: Sequence[Answer]
) -> list[Interval]:
    rows = []
    for question, answer, other in zip(questions, answers, default, strict=True):
        if question.is_scored:
            mine, theirs = answer.scored(question), other.scored(question)
            rows.append((mine.ndcg_10 - theirs.ndcg_10, mine.recall_5 - theirs.recall_5))
    return bootstrap(np.array(rows))


def _means(scores: Sequence[Scores]) -> Means:
    return Means(len(scores), mean_scores(scores))
