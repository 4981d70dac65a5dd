"""Measure what a key costs: the same questions, in turn, of a service with keys and one without.

    scripts/measure_keys.py [--memories 10000] [--store DIR] [--questions 400]

Both are processes of their own on copies of one generated store, beside a fake embedding server.
Who is asked first changes from question to question. Told are each one's median and 95th
percentile over HTTP, and the median of each question's ratio; aim: at most 1.03. A store is built
as scripts/measure_search.py does, and kept below --store.
"""

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import httpx
from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts.generated.store import StoreOrder
from scripts.measure_search import build_store
from scripts.search.trials import WARM_UP_QUESTIONS, percentile
from scripts.servers.watched_service import Setup, fake_embedding_server, watched_service

console = Console()
_DIMENSIONS = 384


def main() -> None:
    """Build the store, ask both, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--store", type=Path, help="keep the built store below this folder")
    parser.add_argument("--questions", type=int, default=400)
    asked = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        order = StoreOrder(asked.memories, _DIMENSIONS, "bytes", None)
        built = (asked.store or folder) / order.folder_name
        build_store(built, order)
        url = stack.enter_context(fake_embedding_server(_DIMENSIONS))
        clients = []
        for name in ("without", "with"):
            own = shutil.copytree(built, folder / name, ignore=shutil.ignore_patterns("lancedb-*"))
            service = stack.enter_context(watched_service(Setup(own, url, "resident")))
            clients.append(stack.enter_context(httpx.Client(base_url=service.url, timeout=60)))
        everything = {"name": "measured", "scopes": ["read", "write", "admin"]}
        key = clients[1].post("/keys", json=everything).json()["key"]
        clients[1].headers["Authorization"] = f"Bearer {key}"
        notes = order.notes().questions(asked.questions + WARM_UP_QUESTIONS, seed=11)
        times = _ask_in_turn(clients, [note.question for note in notes])
    without, keyed = ([pair[side] for pair in times] for side in (0, 1))
    for name, one in (("without keys", without), ("with a key", keyed)):
        console.print(
            f"{name}: p50 {statistics.median(one):.2f} ms, p95 {percentile(one, 0.95):.2f} ms"
        )
    ratio = statistics.median(mine / other for other, mine in times)
    console.print(f"with a key over without, median of {len(times)} pairs: {ratio:.3f}")


def _ask_in_turn(clients: list[httpx.Client], questions: list[str]) -> list[tuple[float, float]]:
    """Return for each question both times, in milliseconds; those of the warm-up are left out."""
    times = []
    for number, question in enumerate(questions):
        told = [0.0, 0.0]
        for side in (0, 1) if number % 2 else (1, 0):
            begun = time.perf_counter()
            answer = clients[side].post("/search", json={"query": question, "limit": 10})
            told[side] = (time.perf_counter() - begun) * 1000
            answer.raise_for_status()
        times.append((told[0], told[1]))
    return times[WARM_UP_QUESTIONS:]


if __name__ == "__main__":
    main()
