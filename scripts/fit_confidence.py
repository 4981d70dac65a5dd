"""Fit the constants of service/search/fusion/confidence.py on data sets, over HTTP.

    scripts/fit_confidence.py DATASET... [--url http://127.0.0.1:8080] [--shares 0.02 0.1]
        [--questions N] [--strangers 60]

Data sets are those of scripts/measure_recall.py, folders of notes among them. Beside each whole set
parts of it are stored, so many shares of its memories or files. Every store is asked its own
questions, some whose evidence it has not, some of the other sets, and, of conversations, some about
somebody else (scripts/recall/unanswerable.py); none in another language than its evidence. Right is
an answer with evidence among the first five; an adversarial question, and one that nothing there
answers, has none. Every store counts as much as the others. Prints the constants as the tuning half
gives them, and on the other half, by store, how far the confidence is from the share that is right,
what a perfect one would be off by with so few answers, and how many without an answer are refused
when 95 % of the others are kept.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import compress
from pathlib import Path
from typing import Final

import httpx
import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts.measure_recall import Asking, load, read, wrong_in
from scripts.recall.answers import Answer
from scripts.recall.certainties import (
    NUMBERS,
    Case,
    Floats,
    Kind,
    fit,
    least_miss,
    miss,
    values_of,
    weights_of,
)
from scripts.recall.notes import NotesSet, load_notes, read_notes
from scripts.recall.scores import abstention
from scripts.recall.sets import DataSet, Half, Question, spread
from scripts.recall.unanswerable import part_of, some, transplanted, unanswerable
from scripts.servers.own_servers import own_servers

FIRST: Final = 5
# A part smaller than this is no store that anybody asks.
LEAST: Final = 30
# The numbers that each row of constants is of. Where the question names who speaks, neither meaning
# nor margin tells the one who said it from the other.
ROWS: Final[Mapping[str, tuple[int, ...]]] = {
    "_WITH_VECTOR": (0, 1, 2),
    "_BY_WORDS": (1, 2),
    "_OF_SPEAKER": (1, 3),
}
console = Console(width=None if sys.stdout.isatty() else 160)


@dataclass(frozen=True, slots=True)
class Store:
    """A stored set or part of one: whom to ask, the names of its memories, and what to ask."""

    data: DataSet
    family: str
    asking: Asking
    name_of: Mapping[str, str]
    absent: Sequence[Question] = ()


def main() -> None:
    """Load, ask, fit, tell."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", type=Path, nargs="+", metavar="DATASET")
    parser.add_argument("--url", help="a running service; unset: start one")
    parser.add_argument("--shares", type=float, nargs="*", default=[0.02, 0.1], help="of parts")
    parser.add_argument("--strangers", type=int, default=60, help="of each kind and store, at most")
    parser.add_argument("--questions", type=int, help="most of each store, evenly spread")
    asked = parser.parse_args()
    asked.files, asked.write = None, None
    if wrong := wrong_in(asked):
        parser.error(wrong)
    if asked.url:
        cases = gather(asked.url, asked)
    else:
        with own_servers() as servers:
            cases = gather(servers.url, asked)
    rows = fit_rows([case for case in cases if case.half == "tune"])
    for name, constants in rows.items():
        told = ", ".join(f"{number:.2f}" for number in constants)
        console.print(f"{name}: Final = ({told})", highlight=False)
    for half in ("tune", "report"):
        console.print(table_of([case for case in cases if case.half == half], rows, half))


def gather(url: str, asked: argparse.Namespace) -> list[Case]:
    """Store the sets and their parts, and ask every store all its questions."""
    with httpx.Client(base_url=url, timeout=600) as client:
        stores = [store for folder in asked.datasets for store in stored(client, folder, asked)]
        wholes = {store.family: store.data for store in reversed(stores)}
        cases = [
            answer_of(store, kind, question)
            for store in stores
            for kind, question in track(
                list(questions_for(store, wholes, asked)), store.data.name, console=console
            )
        ]
    return [case for case in cases if case]


def stored(client: httpx.Client, folder: Path, asked: argparse.Namespace) -> Iterator[Store]:
    """Load a set and parts of it, the whole first."""
    whole = read(folder, None)
    if isinstance(whole, NotesSet):
        yield of_notes(client, whole)
        counts = [int(len(whole.files) * share) for share in asked.shares]
        yield from (of_notes(client, read_notes(folder, count)) for count in counts if count > 1)
        return
    parts = {part.name: part for part in (part_of(whole, share) for share in asked.shares)}
    for data in (whole, *(part for part in parts.values() if len(part.memories) >= LEAST)):
        asking = Asking(client, f"measure-{data.name}")
        absent = [q for q in data.questions if data is not whole and not q.gold]
        yield Store(data, whole.name, asking, load(asking, data), absent)


def of_notes(client: httpx.Client, notes: NotesSet) -> Store:
    """Load notes; natural questions about others of their folder are what has no answer."""
    bar = partial(track, description=f"{notes.name}: loading", console=console, transient=True)
    loaded = load_notes(client, notes, bar)
    absent = [unanswerable(q) for q in notes.natural if q not in loaded.data.questions]
    data = DataSet(f"{notes.name}-{len(notes.files)}", loaded.data.memories, loaded.data.questions)
    return Store(data, "notes", Asking(client, notes.agent), loaded.name_of, absent)


def questions_for(
    store: Store, wholes: Mapping[str, DataSet], asked: argparse.Namespace
) -> Iterator[tuple[Kind, Question]]:
    """Yield all that a store is asked, each with its kind."""
    data, most = store.data, asked.strangers
    own = [question for question in data.questions if question.gold and not is_across(question)]
    for question in spread(own, asked.questions):
        yield "own", question
    for question in some([q for q in store.absent if not is_across(q)], most):
        yield "absent", question
    for question in some(list(transplanted(data)), most * 2):
        yield "transplanted", question
    others = [other for family, other in wholes.items() if family != store.family]
    for other in others:
        answerable = [q for q in other.questions if q.is_scored and not is_across(q)]
        for question in some(answerable, most // len(others)):
            yield "stranger", unanswerable(question)


def answer_of(store: Store, kind: Kind, question: Question) -> Case | None:
    """Ask one question; None where nothing was found at all."""
    asking = store.asking
    body = {"query": question.text, "agent": asking.agent, "limit": FIRST, "detail": "index"}
    if question.scope:
        body["scope"] = question.scope
    told = asking.client.post("/search", json=body).raise_for_status().json()
    certainty = told["receipt"]["certainty"]
    if certainty is None or certainty["cosine"] is None:
        return None
    ranked = tuple(store.name_of.get(hit["id"], hit["id"]) for hit in told["results"])
    is_right = question.is_scored and Answer(ranked, 0.0, 0.0).scored(question).recall_5 > 0
    numbers = tuple(certainty[name] for name in NUMBERS)
    return Case(
        store.data.name, kind, question.half, numbers, is_right, question.has_answer,
        question.of_sections,
    )  # fmt: skip


def is_across(question: Question) -> bool:
    """Whether it is asked in another language than its evidence: no word and no cosine tells."""
    asked_in, _, answered_in = question.category.partition("->")
    return bool(answered_in) and asked_in != answered_in


def fit_rows(cases: Sequence[Case]) -> dict[str, Floats]:
    """Return each row of constants, fitted to the cases that it is for; by words to the others."""
    weights = weights_of(cases)
    named = np.array([case.names_speaker for case in cases])
    rows = {}
    for name, used in ROWS.items():
        chosen = named == (name == "_OF_SPEAKER")
        if chosen.any():
            rows[name] = fit(list(compress(cases, chosen)), weights[chosen], used)
    return rows


def chances_of(cases: Sequence[Case], rows: Mapping[str, Floats]) -> Floats:
    """Return the confidence of each case."""
    of_case = [rows["_OF_SPEAKER" if case.names_speaker else "_WITH_VECTOR"] for case in cases]
    chances: Floats = 1 / (1 + np.exp(-(values_of(cases) * np.array(of_case)).sum(axis=1)))
    return chances


def table_of(cases: Sequence[Case], rows: Mapping[str, Floats], half: Half) -> Table:
    """Return how well the confidence holds, by store."""
    heads = ("answers", "off by", "a perfect one", "own", "without evidence", "refused")
    table = Table("store", *heads, title=half)
    for name in ("all", *dict.fromkeys(case.store for case in cases)):
        part = [case for case in cases if name in ("all", case.store)]
        chances, weights = chances_of(part, rows), weights_of(part)
        right = np.array([case.is_right for case in part], float)
        told = [f"{miss(chances, right, weights):.3f}", f"{least_miss(chances, weights):.3f}"]
        table.add_row(name, f"{len(part):,}", *told, *told_by_kind(part, chances))
    return table


def told_by_kind(cases: Sequence[Case], chances: Floats) -> tuple[str, str, str]:
    """Return the mean confidence and share right of the own, the mean of the rest; the refused."""
    own = [place for place, case in enumerate(cases) if case.kind == "own"]
    rest = [place for place, case in enumerate(cases) if case.kind != "own"]
    right = np.mean([cases[place].is_right for place in own])
    kept = [float(chances[place]) for place in own if cases[place].has_answer]
    adversarial = [float(chances[place]) for place in own if not cases[place].has_answer]
    told_of = abstention(kept, adversarial)
    return (
        f"{np.mean(chances[own]):.2f} / {right:.2f}",
        f"{np.mean(chances[rest]):.2f}" if rest else "",
        f"{told_of.refused:.1%} of {told_of.unanswerable}" if told_of else "",
    )


if __name__ == "__main__":
    main()
