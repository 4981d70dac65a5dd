"""The figures of recall as tables: in the terminal, as markdown, and as JSON."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any, Final

from rich.table import Table

from scripts.recall.answers import DEFAULT
from scripts.recall.figures import Means, SetFigures
from scripts.recall.intervals import ALL
from scripts.recall.scores import KEPT_PERCENT, LABELS, RESAMPLES, Interval

# What the default is compared in; R@1 is hit@1 for a question with one evidence.
_COMPARED: Final = ("recall_1", "recall_5", "mrr", "ndcg_10")


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table before it has a form: its title, its header, and rows as wide as that."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def rich(self) -> Table:
        """Return it for the terminal."""
        table = Table(*self.header, title=self.title, title_justify="left")
        for row in self.rows:
            table.add_row(*row)
        return table

    def markdown(self) -> str:
        """Return it as a heading and a table; all columns but the first are numbers."""
        marks = ("---", *("---:" for _ in self.header[1:]))
        lines = "\n".join(f"| {' | '.join(row)} |" for row in (self.header, marks, *self.rows))
        return f"### {self.title}\n\n{lines}\n"


def sheets_of(figures: SetFigures) -> list[Sheet]:
    """Return the tables of one data set; one that would be empty is left out."""
    found = [
        _ablation(figures), _sure(figures), _leads(figures), _crossing(figures), _halves(figures),
        _calibration(figures),
    ]  # fmt: skip
    return [sheet for sheet in found if sheet.rows]


def remarks_of(figures: SetFigures) -> list[str]:
    """Return what is to be said beside the tables, a sentence each."""
    told = [f"{figures.memories:,} memories; {figures.model}, engine {figures.engine}."]
    if figures.left_out:
        told.append(f"Left out: {figures.left_out} with an answer but no evidence here.")
    for name, variant in figures.variants.items():
        if variant.incomplete:
            told.append(
                f"Beware: {variant.incomplete} answers of {name} lacked a signal or came from a "
                "fallback."
            )
    if told_of := figures.abstention:
        told.append(
            f"A `min_confidence` of {told_of.threshold:.3f} is the highest that keeps "
            f"{KEPT_PERCENT} % of the {told_of.answerable} answerable questions "
            f"({told_of.kept:.1%}); it refuses {told_of.refused:.1%} of the "
            f"{told_of.unanswerable} without an answer."
        )
    return told


def figures_as_json(figures: Iterable[SetFigures]) -> list[dict[str, Any]]:
    """Return all figures as JSON takes them."""
    return [asdict(one) for one in figures]


def write_markdown(path: Path, figures: Sequence[SetFigures], told: Sequence[str]) -> None:
    """Write the report beside its picture, which has the same name; `told` opens it."""
    parts = ["# Recall\n", *(f"{sentence}\n" for sentence in told), _legend()]
    parts.append(f"![R@5 and nDCG@10 by data set and variant]({path.with_suffix('.png').name})\n")
    for one in figures:
        parts += [f"## {one.name}\n", " ".join(remarks_of(one)) + "\n"]
        parts += [sheet.markdown() for sheet in sheets_of(one)]
    path.write_text("\n".join(parts), encoding="utf-8")


def _legend() -> str:
    return (
        "R@k: share of a question's evidence among the first k. full@k: share of questions with "
        "all evidence among the first k. nDCG@10: linear gain, ideal over all evidence. MRR: one "
        "over the rank of the first evidence. Times are a client's, over HTTP, one question at a "
        "time, embedding included.\n\n"
        f"The brackets hold the 95 % interval of a bootstrap ({RESAMPLES:,} resamples of the "
        "questions), of differences a paired one; one that holds 0 tells no difference. Every "
        "question belongs for good to the half `tune` or `report`, by a hash of its id; nothing "
        "may be chosen by a look at `report`.\n\n"
        "Of notes, a known item is asked for by four or five telling words of one of its "
        "sentences, a lured one by the title of another memory and two rare words of its own; "
        "their evidence is that one memory. The evidence of a natural question is sections.\n"
    )


def _ablation(figures: SetFigures) -> Sheet:
    header = (
        "variant", *LABELS.values(), "p50 ms", "p95 ms", "nDCG@10 less default's",
        "R@5 less default's",
    )  # fmt: skip
    rows = tuple(
        (
            name, *_cells(variant.whole), f"{variant.p50_ms:.1f}", f"{variant.p95_ms:.1f}",
            _interval(variant.ndcg_10_difference), _interval(variant.recall_5_difference),
        )
        for name, variant in figures.variants.items()
    )  # fmt: skip
    count = figures.variants[DEFAULT].whole.questions
    return Sheet(f"{figures.name}: variants, {count} questions", header, rows)


def _sure(figures: SetFigures) -> Sheet:
    rows = tuple(
        (one.category or "-", one.half, str(one.questions), *map(_sure_cell, one.scores.values()))
        for one in figures.sure
    )
    header = ("category", "half", "questions", *LABELS.values())
    return Sheet(f"{figures.name}: default by category, with intervals", header, rows)


def _leads(figures: SetFigures) -> Sheet:
    """Return the leads over the half that is told, and of the whole over all questions too."""
    rows = tuple(
        (
            one.category or "-", one.half, one.variant, str(one.questions),
            *(_interval(one.scores[name]) for name in _COMPARED),
        )
        for one in figures.leads
        if one.category == ALL or one.half != "all"
    )  # fmt: skip
    header = ("category", "half", "variant", "questions", *(LABELS[name] for name in _COMPARED))
    return Sheet(f"{figures.name}: default less each variant by category", header, rows)


def _crossing(figures: SetFigures) -> Sheet:
    categories = list(figures.variants[DEFAULT].means)
    rows = tuple(
        (name or "-", *(f"{v.means[name].scores.ndcg_10:.3f}" for v in figures.variants.values()))
        for name in (categories if len(categories) > 1 else [])
    )
    title = f"{figures.name}: {LABELS['ndcg_10']} by category and variant"
    return Sheet(title, ("category", *figures.variants), rows)


def _halves(figures: SetFigures) -> Sheet:
    rows = list(figures.halves.items()) if len(figures.halves) > 1 else []
    return _sheet_of_means(f"{figures.name}: default by half", "half", rows)


def _sheet_of_means(title: str, first: str, rows: Sequence[tuple[str, Means]]) -> Sheet:
    cells = tuple((name, str(one.questions), *_cells(one)) for name, one in rows)
    return Sheet(title, (first, "questions", *LABELS.values()), cells)


def _calibration(figures: SetFigures) -> Sheet:
    header = ("confidence", "answerable", "evidence in the first 5", "without an answer")
    rows = tuple(
        (
            f"{one.low:.1f} to {one.high:.1f}", str(one.answerable),
            "-" if one.found is None else f"{one.found:.3f}", str(one.unanswerable),
        )
        for one in figures.bins
        if one.answerable or one.unanswerable
    )  # fmt: skip
    return Sheet(f"{figures.name}: confidence of default", header, rows)


def _cells(means: Means) -> list[str]:
    return [f"{value:.3f}" for value in astuple(means.scores)]


def _sure_cell(told: Interval) -> str:
    return f"{told.mean:.3f} [{told.low:.3f}, {told.high:.3f}]"


def _interval(told: Interval | None) -> str:
    return f"{told.mean:+.3f} [{told.low:+.3f}, {told.high:+.3f}]" if told else ""
