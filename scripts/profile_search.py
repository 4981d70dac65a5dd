"""Where a search spends its CPU: the whole service in this process, profiled in all its threads.

    scripts/profile_search.py [--memories 10000] [--store DIR] [--questions 200]
        [--request "/search" | "/search, fusion rrf" | "/graph-recall, 2 hops" ...]
        [--profile [--top 40] [--order ttot|tsub]]

Questions go over ASGI, so that the request's parsing and the answer's JSON count, a socket does
not. Told are milliseconds of CPU a request, of all threads of this process, and the receipt's
stages. --profile needs `pip install yappi` and makes everything slower: its shares count, not its
times. `ttot` is a function with all it calls, `tsub` alone. A store is built as
scripts/measure_search.py does, and kept below --store.
"""

import argparse
import asyncio
import importlib
import logging
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
from asgi_lifespan import LifespanManager
from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts.generated.store import StoreOrder
from scripts.measure_search import build_store
from scripts.search.trials import PLAIN, REQUESTS, WARM_UP_QUESTIONS
from scripts.servers.watched_service import fake_embedding_server
from service.app import create_app
from service.index.resident.residency import Residency
from service.settings import Settings
from service.settling import settle

console = Console(width=150)
_DIMENSIONS = 384
_START_SECONDS = 600
_QUIET_SECONDS = 5


def main() -> None:
    """Build the store, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--store", type=Path, help="keep the built store below this folder")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--request", choices=list(REQUESTS), default=PLAIN)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--top", type=int, default=40)
    parser.add_argument("--order", choices=["ttot", "tsub"], default="tsub")
    asked = parser.parse_args()
    logging.disable(logging.WARNING)
    with ExitStack() as stack:
        shelf = asked.store or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        order = StoreOrder(asked.memories, _DIMENSIONS, "bytes", None)
        build_store(shelf / order.folder_name, order)
        url = stack.enter_context(fake_embedding_server(_DIMENSIONS))
        settings = Settings(data_dir=shelf / order.folder_name, embedding_url=url, _env_file=None)
        asyncio.run(ask_all(settings, order, asked))


async def ask_all(settings: Settings, order: StoreOrder, asked: argparse.Namespace) -> None:
    """Ask every question once and tell what that cost."""
    app = create_app(settings)
    request = REQUESTS[asked.request]
    notes = order.notes().questions(asked.questions + WARM_UP_QUESTIONS)
    bodies = [{"query": note.question, "limit": 10} | request.options(note) for note in notes]
    async with LifespanManager(app, startup_timeout=_START_SECONDS, shutdown_timeout=100):
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            await app.state.parts[Residency].index_of(settings.agent)
            for body in bodies[:WARM_UP_QUESTIONS]:
                (await client.post(request.path, json=body)).raise_for_status()
            # What a start does beside the first answers is over by then.
            await asyncio.sleep(_QUIET_SECONDS)
            settle()
            profiler = begin_profile() if asked.profile else None
            cpu, wall = time.process_time(), time.perf_counter()
            answers = [
                await client.post(request.path, json=body) for body in bodies[WARM_UP_QUESTIONS:]
            ]
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
            if profiler:
                profiler.stop()
                tell_profile(profiler, asked)
    tell_stages([answer.raise_for_status().json() for answer in answers])
    each = 1000 / len(answers)
    console.print(f"{asked.request}: {cpu * each:.2f} ms of CPU, {wall * each:.2f} ms a request")


def begin_profile() -> Any:
    """Return the profiler, which counts the CPU of each thread."""
    profiler: Any = importlib.import_module("yappi")
    profiler.set_clock_type("cpu")
    profiler.start()
    return profiler


def tell_profile(profiler: Any, asked: argparse.Namespace) -> None:
    """Print the functions that took most, in milliseconds of CPU a request."""
    stats = sorted(profiler.get_func_stats(), key=lambda one: -getattr(one, asked.order))
    each = 1000 / asked.questions
    for one in stats[: asked.top]:
        console.print(
            f"{one.tsub * each:8.3f} {one.ttot * each:8.3f} {one.ncall / asked.questions:9.1f}  "
            f"{'/'.join(Path(one.module).parts[-3:])}:{one.lineno} {one.name}",
            highlight=False,
        )


def tell_stages(answers: list[dict[str, Any]]) -> None:
    """Print the median of each stage in milliseconds; stages may run beside each other."""
    stages = [answer["receipt"]["stages_ms"] for answer in answers]
    names = {name: None for stage in stages for name in stage}
    medians = {name: statistics.median(s.get(name, 0.0) for s in stages) for name in names}
    console.print(", ".join(f"{name} {value:.2f}" for name, value in medians.items()))


if __name__ == "__main__":
    main()
