"""Fit the weights of the default fusion on the tuning halves of all data sets at once.

    scripts/fit_weights.py DATASET... [--questions 120] [--files N] [--rounds 3]

Data sets are those of scripts/measure_recall.py, folders of notes among them. They are loaded into
a store of its own, each question's candidates are looked up once, and then one weight after the
other is multiplied and divided by 1.25 for as long as that helps. A set's score is the mean of
nDCG@10 and R@5, a set of notes' that of its kinds of questions; every set counts as much as the
others, and no step may cost any of them more than 0.0025 of what it had at first. Prints the
weights (they are constants in service/search/signals) and every set's score before and after, on
the tuning half and on the other, which chooses nothing.
"""

import argparse
import asyncio
import logging
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Final

import httpx
from rich.console import Console
from rich.progress import track
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts.measure_recall import Asking, load, read, wrong_in
from scripts.recall.answers import Answer
from scripts.recall.notes import NotesSet, load_notes
from scripts.recall.recorded_engine import RecordedEngine
from scripts.recall.sets import DataSet, Half, Question, spread
from scripts.servers.own_servers import own_servers
from service.opening import open_parts
from service.records import Filters
from service.search.fusion.score_fusion import fuse_by_score
from service.search.ranking import find_candidates, first_looks
from service.search.searcher import Searcher, SearchQuery
from service.search.signals.registry import SIGNALS
from service.search.signals.signal import Candidates, Signal
from service.settings import Settings
from service.stages import Stages

STEP: Final = 1.25
LEAST_GAIN: Final = 1e-4
MOST_LOSS: Final = 0.0025
console = Console(width=None if sys.stdout.isatty() else 160)

Weights = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Loaded:
    """A data set that is stored, with the agent it belongs to and the names of its memories."""

    name: str
    agent: str
    questions: Sequence[Question]
    name_of: Mapping[str, str]
    is_notes: bool


@dataclass(frozen=True, slots=True)
class Case:
    """One question with all that weights change nothing of."""

    loaded: Loaded
    question: Question
    query: SearchQuery
    candidates: Candidates
    engine: RecordedEngine

    @property
    def group(self) -> tuple[str, str]:
        """The set, and of notes the kind of question."""
        return self.loaded.name, self.question.category if self.loaded.is_notes else ""

    async def score(self, signals: Sequence[Signal]) -> float:
        """Return the mean of nDCG@10 and R@5."""
        hits, _ = await fuse_by_score(
            self.engine,
            self.query,
            self.candidates,
            Stages(),
            signals,
        )
        ranked = tuple(self.loaded.name_of.get(hit.id, hit.id) for hit in hits[:10])
        scores = Answer(ranked, 0.0, 0.0).scored(self.question)
        return (scores.ndcg_10 + scores.recall_5) / 2


def main() -> None:
    """Load, look up, fit, tell."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", type=Path, nargs="+", metavar="DATASET")
    parser.add_argument("--questions", type=int, default=120, help="most of each half of a set")
    parser.add_argument("--files", type=int, help="so many files of each folder of notes")
    parser.add_argument("--rounds", type=int, default=3, help="most times through all weights")
    asked = parser.parse_args()
    asked.write = None
    if wrong := wrong_in(asked):
        parser.error(wrong)
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        with own_servers(MEMORY_DATA_DIR=folder) as servers:
            sets = [store(servers.url, read(one, asked.files)) for one in asked.datasets]
        with own_servers() as servers:
            own = Settings(data_dir=folder, embedding_url=servers.embedding_url, _env_file=None)
            asyncio.run(fit(own, sets, asked))


def store(url: str, data: DataSet | NotesSet) -> Loaded:
    """Load a data set over HTTP."""
    with httpx.Client(base_url=url, timeout=600) as client:
        if isinstance(data, NotesSet):
            bar = partial(track, description=f"{data.name}: loading", console=console)
            notes = load_notes(client, data, bar)
            return Loaded(data.name, data.agent, notes.data.questions, notes.name_of, True)
        asking = Asking(client, f"measure-{data.name}")
        return Loaded(data.name, asking.agent, data.questions, load(asking, data), False)


async def fit(settings: Settings, sets: Sequence[Loaded], asked: argparse.Namespace) -> None:
    """Go through the weights until none moves; then tell."""
    async with open_parts(settings) as parts:
        await parts.vectors.prepare()
        cases = {
            half: [
                await look_up(parts.searcher, one, question)
                for one in sets
                for question in track(chosen(one, half, asked.questions), f"{one.name}, {half}")
            ]
            for half in ("tune", "report")
        }
        first = {signal.name: signal.weight for signal in SIGNALS}
        best = await descend(cases["tune"], first, asked.rounds)
        for name, weight in best.items():
            console.print(f"{name}: {first[name]:g} -> {weight:.3g}", highlight=False)
        for half, own in cases.items():
            table = Table("set", "before", "after", title=f"{half}: (nDCG@10 + R@5) / 2")
            before, after = await by_set(own, first), await by_set(own, best)
            for name, score in before.items():
                table.add_row(name, f"{score:.4f}", f"{after[name]:.4f}")
            console.print(table)


def chosen(loaded: Loaded, half: Half, most: int) -> list[Question]:
    """Return the questions of a half that can be scored, evenly of every kind."""
    return spread([q for q in loaded.questions if q.is_scored and q.half == half], most)


async def look_up(searcher: Searcher, loaded: Loaded, question: Question) -> Case:
    """Find a question's candidates; raises what is wrong with its vector."""
    filters = Filters(agents=(loaded.agent,), scope=question.scope)
    query = SearchQuery(question.text, filters, limit=10)
    looks = await first_looks(searcher, query, Stages())
    if looks.missing:
        raise looks.missing
    candidates = await find_candidates(query, looks, Stages())
    return Case(loaded, question, query, candidates, RecordedEngine(looks.engine))


async def descend(cases: Sequence[Case], weights: Weights, rounds: int) -> Weights:
    """Move one weight at a time, up or down, for as long as all sets together gain by it."""
    at_first = await by_set(cases, weights)
    best, gained = dict(weights), mean(at_first.values())
    for _ in range(rounds):
        start = dict(best)
        for name in weights:
            for step in (STEP, 1 / STEP):
                while True:
                    tried = best | {name: best[name] * step}
                    scores = await by_set(cases, tried)
                    costs = max(at_first[one] - scores[one] for one in scores)
                    if mean(scores.values()) < gained + LEAST_GAIN or costs > MOST_LOSS:
                        break
                    best, gained = tried, mean(scores.values())
                    console.print(f"{name} {best[name]:.3g}: {gained:.4f}", highlight=False)
        if best == start:
            break
    return best


async def by_set(cases: Sequence[Case], weights: Weights) -> dict[str, float]:
    """Return the score of each set, with these weights."""
    signals = [replace(signal, weight=weights[signal.name]) for signal in SIGNALS]
    groups = defaultdict(list)
    for case in cases:
        groups[case.group].append(await case.score(signals))
    sets = defaultdict(list)
    for (name, _), scores in groups.items():
        sets[name].append(mean(scores))
    return {name: mean(scores) for name, scores in sets.items()}


if __name__ == "__main__":
    main()
