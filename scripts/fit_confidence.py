"""Fit the constants of service/search/fusion/confidence.py on data sets, over HTTP.

    scripts/fit_confidence.py DATASET... [--url http://127.0.0.1:8080] [--strangers 60]

Asks the tuning half of each set's questions, and of every set some questions of the others, which
it knows nothing of. Right is an answer with evidence among the first five; an adversarial question
and a stranger's have none. Every set has the same weight, the adversarial ones together a third of
one, strangers as much as one. Prints the constants, and on the other half how far the confidence
is from the share that is right. Sets are loaded as scripts/measure_recall.py does.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import httpx
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts.measure_recall import Asking, load
from scripts.recall.sets import DataSet, Half, Question, read_set, spread
from scripts.servers.own_servers import own_servers

FIRST: Final = 5
_ADVERSARIAL: Final = 1 / 3
# Keeps the weights finite where a number tells right from wrong without fail.
_RIDGE: Final = 1e-4
_STEPS: Final = 50
_BINS: Final = 10
console = Console(width=None if sys.stdout.isatty() else 160)

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Case:
    """One answer: where it comes from, its three numbers, and whether it is right."""

    source: str
    half: Half
    numbers: tuple[float, float, float]
    is_right: bool


def main() -> None:
    """Load, ask, fit, tell."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", type=Path, nargs="+", metavar="DATASET")
    parser.add_argument("--url", help="a running service; unset: start one")
    parser.add_argument("--strangers", type=int, default=60, help="questions of another set, each")
    parser.add_argument("--questions", type=int, help="most of each set, evenly spread")
    asked = parser.parse_args()
    sets = [read_set(folder) for folder in asked.datasets]
    if asked.url:
        cases = gather(asked.url, sets, asked)
    else:
        with own_servers() as servers:
            cases = gather(servers.url, sets, asked)
    for name, columns in (("_WITH_VECTOR", (0, 1, 2)), ("_BY_WORDS", (1, 2))):
        constants = fit([case for case in cases if case.half == "tune"], columns)
        told = np.zeros(4)
        told[[*columns, 3]] = constants
        console.print(f"{name}: Final = ({', '.join(f'{number:.2f}' for number in told)})")
        for half in ("tune", "report"):
            part = [case for case in cases if case.half == half]
            console.print(
                f"  {half}: {len(part)} answers, off by {miss(part, told):.3f} on average"
            )


def gather(url: str, sets: Sequence[DataSet], asked: argparse.Namespace) -> list[Case]:
    """Ask every set its own questions, and some of each other set's."""
    found = []
    with httpx.Client(base_url=url, timeout=600) as client:
        for data in sets:
            asking = Asking(client, f"measure-{data.name}")
            name_of = load(asking, data)
            every = questions_for(data, sets, asked)
            found += [answer_of(asking, question, name_of) for question in every]
    return [case for case in found if case]


def questions_for(
    data: DataSet, sets: Sequence[DataSet], asked: argparse.Namespace
) -> Iterator[tuple[str, Question]]:
    """Yield the set's own questions and strangers', each with where it comes from."""
    own = [question for question in data.questions if question.gold or not question.has_answer]
    for question in track(spread(own, asked.questions), data.name, console=console, transient=True):
        yield (data.name if question.has_answer else "adversarial"), question
    for other in sets:
        if other.name != data.name:
            for question in spread(other.questions, asked.strangers):
                yield "stranger", replace(question, gold={}, scope=None, has_answer=False)


def answer_of(asking: Asking, asked: tuple[str, Question], name_of: dict[str, str]) -> Case | None:
    """Ask one question; None where nothing was found at all."""
    source, question = asked
    body = {"query": question.text, "agent": asking.agent, "limit": FIRST, "detail": "index"}
    if question.scope:
        body["scope"] = question.scope
    told = asking.client.post("/search", json=body).raise_for_status().json()
    certainty = told["receipt"]["certainty"]
    if certainty is None or certainty["cosine"] is None:
        return None
    numbers = certainty["cosine"], min(certainty["coverage"], 1.5), certainty["margin"]
    found = {name_of.get(hit["id"]) for hit in told["results"]}
    is_right = question.has_answer and bool(found & question.gold.keys())
    return Case(source, question.half, numbers, is_right)


def weights_of(cases: Sequence[Case]) -> Floats:
    """Return what each case counts: every source as much as the others, adversarial a third."""
    counts = Counter(case.source for case in cases)
    shares = {s: (_ADVERSARIAL if s == "adversarial" else 1) / n for s, n in counts.items()}
    return np.array([shares[case.source] for case in cases])


def fit(cases: Sequence[Case], columns: Sequence[int]) -> Floats:
    """Return the constants of a logistic regression by Newton's method, the constant one last."""
    values = np.array([[*(case.numbers[column] for column in columns), 1.0] for case in cases])
    right = np.array([case.is_right for case in cases], float)
    weights = weights_of(cases)
    weights /= weights.sum()
    ridge = np.diag([_RIDGE] * len(columns) + [0.0])
    constants = np.zeros(len(columns) + 1)
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-values @ constants))
        slope = values.T @ (weights * (right - chance)) - ridge @ constants
        curve = (values * (weights * chance * (1 - chance))[:, None]).T @ values + ridge
        constants = constants + np.linalg.solve(curve, slope)
    return constants


def miss(cases: Sequence[Case], constants: Floats) -> float:
    """Return the expected calibration error over ten bins of equal width (Guo et al. 2017)."""
    values = np.array([[*case.numbers, 1.0] for case in cases])
    chance = 1 / (1 + np.exp(-values @ constants))
    right = np.array([case.is_right for case in cases], float)
    weights = weights_of(cases)
    places = np.minimum((chance * _BINS).astype(int), _BINS - 1)
    off = [abs(float((weights * (places == p) * (chance - right)).sum())) for p in range(_BINS)]
    return sum(off) / float(weights.sum())


if __name__ == "__main__":
    main()
