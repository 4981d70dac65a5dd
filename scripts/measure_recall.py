"""Measure recall over HTTP: load data sets, ask their questions in five ways, score the answers.

    scripts/measure_recall.py DATASET... [--questions N] [--half tune|report|all] [--json]
        [--variants default ...] [--files N]
        [--write docs/recall] [--url http://127.0.0.1:8080] [--embedding-model all-MiniLM-L6-v2]

A data set is a folder with corpus.jsonl and queries.jsonl (scripts/recall/sets.py says what their
lines hold), or a folder of markdown notes (scripts/recall/notes.py), of which --files takes a
part. The natural questions of all folders of notes are told together as well. Every variant is
asked every question, in turn, ten results each; beside its scores stand its latency and the paired
bootstrap against the default. While choosing anything, give `--half tune`. Without --url it starts
an embedding server and a service of its own on a temporary store. --write makes docs/recall.md
and, with matplotlib, docs/recall.png.
"""

import argparse
import importlib
import json
import os
import platform
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import httpx
from rich.console import Console
from rich.progress import track

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts.recall.answers import DEFAULT, About, Answer, Asked, pooled
from scripts.recall.figures import SetFigures, set_figures
from scripts.recall.notes import NotesSet, is_notes, load_notes, read_notes
from scripts.recall.report import figures_as_json, remarks_of, sheets_of, write_markdown
from scripts.recall.sets import Body, DataSet, Question, batches, read_set, spread
from scripts.recall.waiting_vectors import wait_for_vectors
from scripts.servers.own_servers import own_servers

VARIANTS: Final[Mapping[str, Body]] = {
    "vector": {"fusion": "rrf", "weights": {"vector": 1, "text": 0, "graph": 0}},
    "text": {"fusion": "rrf", "weights": {"vector": 0, "text": 1, "graph": 0}},
    "rrf": {"fusion": "rrf", "weights": {"vector": 1, "text": 1, "graph": 0}},
    "+graph": {"fusion": "rrf"},
    DEFAULT: {},
}
# Asked beforehand and thrown away: the first search reads what later ones have in memory.
_WARM_UP: Final = 5
_FILES: Final = ("corpus.jsonl", "queries.jsonl")
console = Console(width=None if sys.stdout.isatty() else 210)


@dataclass(slots=True)
class Asking:
    """Whom to ask as which agent, and what the receipts said of engine and model."""

    client: httpx.Client
    agent: str
    engine: str = ""
    model: str = ""

    def ask(self, question: Question, options: Body, name_of: Mapping[str, str]) -> Answer:
        """Ask one question; `name_of` gives the data set's ids by ours."""
        body = {"query": question.text, "agent": self.agent, "limit": 10, "detail": "index"}
        if question.scope:
            body["scope"] = question.scope
        started = time.perf_counter()
        response = self.client.post("/search", json=body | options)
        milliseconds = (time.perf_counter() - started) * 1000
        told = response.raise_for_status().json()
        receipt = told["receipt"]
        self.engine, self.model = receipt["engine"], receipt["embedding_model"] or self.model
        return Answer(
            tuple(name_of.get(hit["id"], hit["id"]) for hit in told["results"]),
            told["confidence"],
            milliseconds,
            is_complete=not (receipt["missing_signals"] or receipt["fallback_reason"]),
        )


def main() -> None:
    """Load, ask, tell."""
    asked = parse()
    console.stderr = asked.json  # Tables go beside the JSON, not into it.
    picture: Any = load_picture() if asked.write else None
    sets = [read(folder, asked.files) for folder in asked.datasets]
    if asked.url:
        figures = measure_all(asked.url, sets, asked)
    else:
        with own_servers(asked.embedding_model) as servers:
            figures = measure_all(servers.url, sets, asked)
    if asked.json:
        print(json.dumps(figures_as_json(figures), ensure_ascii=False))
    if asked.write:
        page, drawing = asked.write.with_suffix(".md"), asked.write.with_suffix(".png")
        picture.draw_recall(figures, describe_run(figures), drawing)
        write_markdown(page, figures, [f"Made by `{command_of(asked)}`.", describe_run(figures)])
        console.print(f"written: {page}, {drawing}")


def read(folder: Path, most_files: int | None) -> DataSet | NotesSet:
    """Read a data set of either kind; `most_files` is for notes."""
    return read_notes(folder, most_files) if is_notes(folder) else read_set(folder)


def parse() -> argparse.Namespace:
    """Return the arguments; ends where a data set is none or comes twice."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", type=Path, nargs="+", metavar="DATASET")
    parser.add_argument("--questions", type=int, help="most of each set, evenly spread")
    parser.add_argument("--files", type=int, help="so many files of each folder of notes")
    parser.add_argument("--half", choices=["tune", "report", "all"], default="all")
    parser.add_argument(
        "--variants", nargs="+", choices=list(VARIANTS), default=list(VARIANTS),
        help="fewer than all; the default is always among them",
    )  # fmt: skip
    parser.add_argument("--url", help="a running service; unset: start one")
    parser.add_argument("--embedding-model", default="all-MiniLM-L6-v2", help="of an own service")
    parser.add_argument("--json", action="store_true", help="print all figures as JSON as well")
    parser.add_argument("--write", type=Path, help="write this .md and .png, e.g. docs/recall")
    asked = parser.parse_args()
    if wrong := wrong_in(asked):
        parser.error(wrong)
    return asked


def wrong_in(asked: argparse.Namespace) -> str | None:
    """Return what cannot be measured so, if anything."""
    for folder in asked.datasets:
        missing = [name for name in _FILES if not (folder / name).is_file()]
        if missing and not is_notes(folder):
            return f"{folder} holds no {missing[0]}, and no notes"
    if len({folder.resolve().name for folder in asked.datasets}) < len(asked.datasets):
        return "two data sets have the same name, so would share an agent"
    if any(number is not None and number < 1 for number in (asked.questions, asked.files)):
        return "--questions and --files must be at least 1"
    if asked.write and not asked.write.parent.is_dir():
        return f"there is no folder {asked.write.parent} to write to"
    return None


def measure_all(
    url: str, sets: Sequence[DataSet | NotesSet], asked: argparse.Namespace
) -> list[SetFigures]:
    """Measure one data set after the other, and print each as soon as it is done."""
    found, natural = [], []
    with httpx.Client(base_url=url, timeout=600) as client:
        for one in sets:
            done = measure(client, one, asked)
            found.append(tell(set_figures(done)))
            natural += [done] if done.natural else []
    if natural:
        found.append(tell(set_figures(pooled(natural))))
    return found


def measure(client: httpx.Client, data: DataSet | NotesSet, asked: argparse.Namespace) -> Asked:
    """Load one data set and ask the chosen questions of it; ends where none has evidence."""
    if isinstance(data, NotesSet):
        asking = Asking(client, data.agent)
        bar = partial(track, description=f"{data.name}: loading", console=console, transient=True)
        loaded = load_notes(client, data, bar)
        data, name_of, left_out = loaded.data, loaded.name_of, loaded.left_out
    else:
        asking, left_out = Asking(client, f"measure-{data.name}"), 0
        name_of = load(asking, data)
    questions = [q for q in data.questions if asked.half in ("all", q.half)]
    chosen = spread(questions, asked.questions)
    if not any(question.is_scored for question in chosen):
        sys.exit(f"{data.name}: none of the chosen questions has evidence")
    names = [name for name in VARIANTS if name in {*asked.variants, DEFAULT}]
    answers = ask_in_turn(asking, chosen, name_of, names)
    about = About(data.name, len(name_of), asking.engine, asking.model, left_out)
    return Asked(about, chosen, answers)


def tell(figures: SetFigures) -> SetFigures:
    """Print the figures of a data set, and return them."""
    console.rule(figures.name)
    for remark in remarks_of(figures):
        console.print(remark, highlight=False)
    for sheet in sheets_of(figures):
        console.print(sheet.rich())
    return figures


def load(asking: Asking, data: DataSet) -> dict[str, str]:
    """Store the memories; returns the data set's ids by ours. What is stored costs little."""
    started = time.perf_counter()
    name_of: dict[str, str] = {}
    actions = dict.fromkeys(("created", "updated", "duplicates"), 0)
    parts = batches(data.memories)
    for part in track(parts, f"{data.name}: loading", console=console, transient=True):
        bodies = [memory | {"agent": asking.agent} for memory in part]
        response = asking.client.post("/memories/batch", json={"memories": bodies})
        stored = response.raise_for_status().json()
        if stored["errors"]:
            console.print(f"[red]{len(stored['errors'])} not stored: {stored['errors'][0]}")
        pairs = zip(stored["ids"], part, strict=True)
        name_of |= {key: memory["source_ref"] for key, memory in pairs if key}
        actions = {name: count + stored[name] for name, count in actions.items()}
    told = ", ".join(f"{count:,} {name}" for name, count in actions.items())
    late = wait_for_vectors(asking.client, asking.agent)
    waited = f", {late:,} of them waited for their vectors" if late else ""
    console.print(f"{data.name}: {told} in {time.perf_counter() - started:.1f} s{waited}")
    return name_of


def ask_in_turn(
    asking: Asking,
    questions: Sequence[Question],
    name_of: Mapping[str, str],
    names: Sequence[str],
) -> dict[str, list[Answer]]:
    """Ask every variant every question, in an order that rotates: no variant is always first."""
    for question in questions[:_WARM_UP]:
        for name in names:
            asking.ask(question, VARIANTS[name], name_of)
    answers: dict[str, list[Answer]] = {name: [] for name in names}
    bar = track(questions, f"{asking.agent}: asking", console=console, transient=True)
    for place, question in enumerate(bar):
        first = place % len(names)
        for name in [*names[first:], *names[:first]]:
            answers[name].append(asking.ask(question, VARIANTS[name], name_of))
    return answers


def load_picture() -> Any:
    """Return the module that draws; ends, before anything is measured, without matplotlib."""
    try:
        return importlib.import_module("scripts.recall.picture")
    except ModuleNotFoundError as error:
        sys.exit(f"{error.name} is not installed: pip install matplotlib, or leave out --write")


def describe_run(figures: Sequence[SetFigures]) -> str:
    """Return model, engine, machine and day."""
    models = ", ".join(dict.fromkeys(one.model for one in figures))
    engines = ", ".join(dict.fromkeys(one.engine for one in figures))
    return (
        f"{models}, engine {engines}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, {datetime.now(UTC):%Y-%m-%d}"
    )


def command_of(asked: argparse.Namespace) -> str:
    """Return the command again, data sets by their names: where they lay is of no use to others."""
    words = ["scripts/measure_recall.py", *(folder.resolve().name for folder in asked.datasets)]
    if asked.questions:
        words += ["--questions", str(asked.questions)]
    if asked.variants != list(VARIANTS):
        words += ["--variants", *asked.variants]
    if asked.files:
        words += ["--files", str(asked.files)]
    if asked.half != "all":
        words += ["--half", asked.half]
    if asked.embedding_model != "all-MiniLM-L6-v2":
        words += ["--embedding-model", asked.embedding_model]
    if asked.url:
        words += ["--url", "URL"]
    write = asked.write.name if asked.write.is_absolute() else asked.write
    return shlex.join([*words, "--write", str(write)])


if __name__ == "__main__":
    main()
