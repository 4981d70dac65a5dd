"""Measure recall over HTTP: load a data set through POST /memories/batch, ask through POST /search.

A data set is a folder with corpus.jsonl (id, text, optional title, session, session_datetime) and
queries.jsonl (id, question, evidence = the ids that answer it, optional category). For each
variant of fusion and weights it prints R@1/5/10, full@5, nDCG@10, MRR and the p50 latency.

    scripts/measure_recall.py DATASET [--questions 300] [--url http://127.0.0.1:8080]

Without --url it starts an embedding server and a service of its own on a temporary store.
"""

import argparse
import json
import math
import statistics
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from rich.console import Console
from rich.progress import track
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts.own_servers import own_servers

console = Console()

VARIANTS: dict[str, dict[str, Any]] = {
    "text only": {"weights": {"vector": 0, "text": 1, "graph": 0}},
    "vector only": {"weights": {"vector": 1, "text": 0, "graph": 0}},
    "text + vector": {"weights": {"vector": 1, "text": 1, "graph": 0}},
    "hybrid (default)": {},
}


@dataclass(frozen=True)
class Scores:
    """Means over all questions; latency in milliseconds, as the client saw it."""

    recall_at_1: float
    recall_at_5: float
    recall_at_10: float
    full_at_5: float
    ndcg_at_10: float
    mrr: float
    p50_ms: float
    p95_ms: float


def main() -> None:
    """Load, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--url", help="a running service; unset: start one")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON as well")
    asked = parser.parse_args()
    if asked.url:
        measure(asked.url, asked)
    else:
        with own_servers() as servers:
            measure(servers.url, asked)


def measure(url: str, asked: argparse.Namespace) -> None:
    """Load one data set into the service at `url` and print a row for each variant."""
    agent = f"measure-{asked.dataset.name}"
    questions = [q for q in read(asked.dataset / "queries.jsonl") if q.get("evidence")]
    with httpx.Client(base_url=url, timeout=600) as client:
        id_of = load(client, agent, list(read(asked.dataset / "corpus.jsonl")))
        name_of = {key: name for name, key in id_of.items()}
        table = Table("variant", "R@1", "R@5", "R@10", "full@5", "nDCG@10", "MRR", "p50", "p95")
        rows = {}
        for variant, options in VARIANTS.items():
            scores = ask_all(client, agent, questions[: asked.questions], options, name_of, variant)
            rows[variant] = scores
            numbers = list(vars(scores).values())
            table.add_row(
                variant, *(f"{n:.3f}" for n in numbers[:6]), *(f"{n:.0f} ms" for n in numbers[6:])
            )
    console.print(
        f"{asked.dataset.name}: {len(id_of)} memories, "
        f"{len(questions[: asked.questions])} questions"
    )
    console.print(table)
    if asked.json:
        print(json.dumps({variant: vars(scores) for variant, scores in rows.items()}))


def read(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON lines file."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def load(client: httpx.Client, agent: str, corpus: list[dict[str, Any]]) -> dict[str, str]:
    """Store the corpus; returns our ids by the data set's. What is stored already costs little."""
    started, id_of = time.perf_counter(), {}
    for start in track(range(0, len(corpus), 500), "loading", console=console, transient=True):
        part = corpus[start : start + 500]
        answer = client.post("/memories/batch", json={"memories": [memory(agent, d) for d in part]})
        answer.raise_for_status()
        stored = answer.json()
        if stored["errors"]:
            console.print(f"[red]{len(stored['errors'])} not stored: {stored['errors'][0]}")
        id_of |= {d["id"]: key for d, key in zip(part, stored["ids"], strict=True) if key}
    console.print(f"loaded {len(id_of)} in {time.perf_counter() - started:.1f} s")
    return id_of


def memory(agent: str, document: dict[str, Any]) -> dict[str, Any]:
    """Turn a line of the corpus into a memory."""
    speaker = f"{document['speaker']}: " if document.get("speaker") else ""
    text = speaker + document["text"]
    found = {"text": text if text.strip() else document.get("title") or "(empty)", "agent": agent}
    found |= {"source_ref": document["id"], "title": (document.get("title") or "")[:200]}
    if document.get("session"):
        found["session"] = f"{document.get('conversation', '')}/{document['session']}"
        found["scope"] = document.get("conversation") or None
    if document.get("session_datetime"):
        found["occurred_at"] = document["session_datetime"]
    return found


def ask_all(
    client: httpx.Client, agent: str, questions: list[dict[str, Any]], options: dict[str, Any],
    name_of: dict[str, str], variant: str,
) -> Scores:  # fmt: skip
    """Ask every question with these options and score the answers."""
    scores, milliseconds = [], []
    for question in track(questions, variant, console=console, transient=True):
        body = {"query": question["question"], "agent": agent, "limit": 10, "detail": "index"}
        if question.get("conversation"):
            body["scope"] = question["conversation"]
        started = time.perf_counter()
        answer = client.post("/search", json=body | options)
        milliseconds.append((time.perf_counter() - started) * 1000)
        answer.raise_for_status()
        ranked = [name_of.get(hit["id"], "?") for hit in answer.json()["results"]]
        scores.append(score(set(question["evidence"]), ranked))
    means = [statistics.fmean(column) for column in zip(*scores, strict=True)]
    return Scores(*means, *percentiles(milliseconds))


def score(gold: set[str], ranked: list[str]) -> tuple[float, ...]:
    """Return R@1, R@5, R@10, full@5, nDCG@10 (linear gain, ideal over all gold) and MRR."""
    found = [name in gold for name in ranked]

    def recall(k: int) -> float:
        return sum(found[:k]) / len(gold)

    gain = sum(1 / math.log2(i + 2) for i, hit in enumerate(found[:10]) if hit)
    ideal = sum(1 / math.log2(i + 2) for i in range(min(len(gold), 10)))
    mrr = next((1 / (i + 1) for i, hit in enumerate(found) if hit), 0.0)
    return recall(1), recall(5), recall(10), float(sum(found[:5]) == len(gold)), gain / ideal, mrr


def percentiles(values: Iterable[float]) -> tuple[float, float]:
    """Return p50 and p95."""
    ordered = sorted(values)
    return statistics.median(ordered), ordered[int(len(ordered) * 0.95)]


if __name__ == "__main__":
    main()
