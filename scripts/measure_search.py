"""Measure the latency of /search and /graph-recall over HTTP on a store of generated notes.

    scripts/measure_search.py [--memories 5000] [--questions 200] [--embedding-model hashing-256]

Texts are 60 words by Zipf's law over English stop words and 20,000 made-up words, with names of
things that several notes share; a question is twelve words of one note. Times are a client's,
over HTTP, embedding included; the stages are the receipts' medians.
"""

import argparse
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from rich.console import Console
from rich.progress import track
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts.own_servers import own_servers
from service.words import STOP_WORDS

console = Console(width=130)
SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
Ask = Callable[[httpx.Client, str], httpx.Response]


def main() -> None:
    """Build the store, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memories", type=int, default=5000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--embedding-model", default="hashing-256")
    asked = parser.parse_args()
    notes = generate(asked.memories, random.Random(7))
    with (
        own_servers(asked.embedding_model) as servers,
        httpx.Client(base_url=servers.url, timeout=600) as client,
    ):
        load(client, notes)
        chooser = random.Random(8)
        questions = [
            " ".join(chooser.sample(chooser.choice(notes)["text"].split(), 12))
            for _ in range(asked.questions)
        ]
        table = Table("request", "p50 ms", "p95 ms", "stages, median ms")
        for name, ask in REQUESTS.items():
            table.add_row(name, *measure(client, questions, ask))
        console.print(f"{len(notes)} memories, {len(questions)} questions each")
        console.print(table)


def generate(count: int, chooser: random.Random) -> list[dict[str, Any]]:
    """Return notes that look like an agent's: Zipf words, shared names, ten scopes, sessions."""
    made = ["".join(chooser.choices(SYLLABLES, k=chooser.randint(2, 4))) for _ in range(20_000)]
    words = sorted(STOP_WORDS) + made
    tags = chooser.sample(made, 40)
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    names = [
        f"{chooser.choice(made).title()} {chooser.choice(made).title()}" for _ in range(count // 5)
    ]
    notes = []
    for number in range(count):
        drawn = chooser.choices(words, weights, k=56)
        for name in chooser.sample(names, 2):
            drawn.insert(chooser.randrange(len(drawn)), name)
        notes.append(
            {
                "text": " ".join(drawn), "title": f"{names[number % len(names)]} {number}",
                "scope": f"scope-{number % 10}", "session": f"session-{number // 20}",
                "tags": [chooser.choice(tags)], "source_ref": str(number),
            }
        )  # fmt: skip
    return notes


def load(client: httpx.Client, notes: list[dict[str, Any]]) -> None:
    """Store the notes in batches."""
    started = time.perf_counter()
    for start in track(range(0, len(notes), 500), "loading", console=console, transient=True):
        client.post(
            "/memories/batch", json={"memories": notes[start : start + 500]}
        ).raise_for_status()
    console.print(f"stored {len(notes)} in {time.perf_counter() - started:.1f} s")
    stats = client.get("/stats").json()
    console.print({name: stats[name] for name in ("memories", "concepts", "references", "follows")})


def measure(client: httpx.Client, questions: list[str], ask: Ask) -> tuple[str, str, str]:
    """Ask every question and return p50, p95 and the stages as text."""
    milliseconds, stages = [], []
    for question in questions:
        started = time.perf_counter()
        answer = ask(client, question)
        milliseconds.append((time.perf_counter() - started) * 1000)
        answer.raise_for_status()
        stages.append(answer.json()["receipt"]["stages_ms"])
    names = sorted({name for stage in stages for name in stage})
    medians = {name: statistics.median(s.get(name, 0.0) for s in stages) for name in names}
    ordered = sorted(milliseconds)
    told = ", ".join(f"{name} {value:.1f}" for name, value in medians.items())
    return f"{statistics.median(ordered):.1f}", f"{ordered[int(len(ordered) * 0.95)]:.1f}", told


REQUESTS: dict[str, Ask] = {
    "/search": lambda client, q: client.post("/search", json={"query": q, "limit": 10}),
    "/search, a scope of a tenth": lambda client, q: client.post(
        "/search", json={"query": q, "limit": 10, "scope": "scope-3"}
    ),
    "/search, words only": lambda client, q: client.post(
        "/search", json={"query": q, "limit": 10, "weights": {"vector": 0, "graph": 0}}
    ),
    "/graph-recall, 2 hops": lambda client, q: client.post("/graph-recall", json={"query": q}),
}


if __name__ == "__main__":
    main()
