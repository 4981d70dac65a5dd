"""Measure search on generated stores, beside LanceDB's hybrid search on the same data in one run.

    scripts/measure_search.py [--memories 10000] [--dimensions 384] [--engine resident|database]
        [--set MEMORY_INDEX_MEMORY_MB=8000] [--store DIR] [--texts FILE.jsonl]
        [--questions 200] [--starts 3]
        [--no-peer] [--largest-peer 1000000] [--peer-index IVF_PQ] [--peer-server]
        [--load] [--seconds 30] [--json] [--kill]
        [--curve [--sizes 1000 10000 100000 1000000] [--picture docs/search-curve.png]]

A store of notes is built straight into an embedded SurrealDB folder (kept below --store, else
temporary); the service runs on it as a process of its own, with a fake embedding server that
costs less than 1 ms. One client asks 200 questions over HTTP after 20 that warm up, each of them
in turn as every kind of request and of the peer, in-process; with --peer-server of a service around
the peer's index too (scripts/search/lancedb_server.py). Memory is the service's own; start
is from its spawning to 200 on /health/ready, with a warm page cache. --load waits until
the service is at rest, then asks with 1, 4 and 16 clients, and with 16 beside 50 writes a second;
--kill is a SIGKILL amid writes. Both work on a copy of a kept store.

The peer needs `pip install lancedb`, the curve's picture `pip install matplotlib`.
"""

import argparse
import importlib
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from http.client import HTTPConnection
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts.generated.store import StoreOrder
from scripts.generated.word_vectors import WordVectors
from scripts.search.crash import measure_crash
from scripts.search.load import measure_load
from scripts.search.peer_load import measure_peers
from scripts.search.tables import Measured, figures_of, tell_memory, tell_requests
from scripts.search.trials import (
    PLAIN,
    REQUESTS,
    SCOPED,
    WARM_UP_QUESTIONS,
    Contender,
    InProcess,
    OverHttp,
    Request,
    take_turns,
)
from scripts.servers.processes import REPOSITORY
from scripts.servers.watched_service import (
    Setup,
    empty_resident,
    fake_embedding_server,
    watched_service,
)
from service.store.vector_forms import FORM_OF_ENGINE

console = Console(width=150)


def main() -> None:
    """Measure what is asked for, print."""
    asked = parse()
    console.print(describe_run(asked))
    modules = {
        "scripts.search.lancedb_peer": asked.peer and "pip install lancedb, or give --no-peer",
        "scripts.search.lancedb_server": asked.peer_server and "pip install lancedb",
        "scripts.search.curve": asked.curve and "pip install matplotlib",
    }
    found = {name: load_optional(name, hint) for name, hint in modules.items() if hint}
    sizes = asked.sizes if asked.curve else [asked.memories]
    with ExitStack() as stack:
        shelf = asked.store or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        embedding_url = stack.enter_context(fake_embedding_server(asked.dimensions))
        settings = dict(pair.split("=", 1) for pair in asked.set)
        general = Setup(shelf, embedding_url, asked.engine, settings)
        empty = empty_resident(general)
        figures = []
        for size in sizes:
            form = FORM_OF_ENGINE[asked.engine]
            order = StoreOrder(size, asked.dimensions, form, asked.texts)
            setup = replace(general, folder=shelf / order.folder_name)
            build_store(setup.folder, order)
            has_peer = size <= asked.largest_peer
            lance = found.get("scripts.search.lancedb_peer") if has_peer else None
            measured = measure_size(setup, order, asked, lance)
            tell_requests(measured, console)
            tell_memory(measured, empty, console)
            figures.append(figures_of(measured))
            measure_writes(setup, order, asked)
    if asked.curve:
        curve: Any = found["scripts.search.curve"]
        console.print(curve.curve_table([curve.SizeFigures(**one) for one in figures]))
        title = f"{asked.dimensions}-d vectors, {os.cpu_count()} cores, engine {asked.engine}"
        curve.draw_curve([curve.SizeFigures(**one) for one in figures], title, asked.picture)
        console.print(f"picture: {asked.picture}")


def parse() -> argparse.Namespace:
    """Return the arguments."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--dimensions", type=int, default=384)
    parser.add_argument("--engine", choices=list(FORM_OF_ENGINE), default="resident")
    parser.add_argument("--set", action="append", default=[], metavar="MEMORY_NAME=VALUE")
    parser.add_argument("--store", type=Path, help="keep built stores below this folder")
    parser.add_argument("--texts", type=Path, help='JSON lines with a "text" each')
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--starts", type=int, default=3, help="the median of so many is told")
    parser.add_argument("--no-peer", dest="peer", action="store_false")
    parser.add_argument(
        "--largest-peer", type=int, default=10**6, help="the most memories for the peer to index"
    )
    parser.add_argument("--peer-index", default="IVF_PQ", help="LanceDB's index_type")
    parser.add_argument("--peer-server", action="store_true", help="the peer behind HTTP too")
    parser.add_argument("--load", action="store_true", help="readers alone and beside writers")
    parser.add_argument("--json", action="store_true", help="print the load's figures as JSON too")
    parser.add_argument("--seconds", type=float, default=30.0, help="of each load")
    parser.add_argument("--kill", action="store_true", help="SIGKILL amid writes, start again")
    parser.add_argument("--curve", action="store_true", help="all --sizes, and a picture")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10**n for n in range(3, 7)])
    parser.add_argument("--picture", type=Path, default=REPOSITORY / "docs" / "search-curve.png")
    return parser.parse_args()


def describe_run(asked: argparse.Namespace) -> str:
    """Return the machine and everything that was chosen."""
    idle = {"sizes", "picture"} if not asked.curve else {"memories"}
    chosen = {name: value for name, value in vars(asked).items() if value and name not in idle}
    settings = ", ".join(f"{name} {value}" for name, value in chosen.items())
    libraries = ", ".join(f"{n} {version(n)}" for n in ("surrealdb-embedded", "numpy"))
    return (
        f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}, "
        f"Python {platform.python_version()}, {libraries}; {settings}"
    )


def load_optional(name: str, hint: str) -> Any:
    """Return a module of ours whose library only this script needs; say what is missing."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        console.print(f"[yellow]{error.name} is not installed: {hint}")
        if name == "scripts.search.curve":
            sys.exit(1)
        return None


def build_store(folder: Path, order: StoreOrder) -> None:
    """Build the store in a process of its own, unless it is there."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [
        sys.executable, str(REPOSITORY / "scripts" / "generated" / "store.py"), str(folder),
        "--memories", str(order.memories), "--dimensions", str(order.dimensions),
        "--form", order.form, *(["--texts", str(order.texts)] if order.texts else []),
    ]  # fmt: skip
    subprocess.run(command, check=True)


def measure_size(
    setup: Setup, order: StoreOrder, asked: argparse.Namespace, lance: Any
) -> Measured:
    """Measure one store with its peer, reading only."""
    notes, vectors = order.notes(), WordVectors(order.dimensions)
    questions = notes.questions(asked.questions + WARM_UP_QUESTIONS)
    starts = []
    for _ in range(max(0, asked.starts - 1)):
        with watched_service(setup) as service:
            starts.append(service.ready_seconds)
    contenders = list_peers(lance, setup.folder, asked, (notes, vectors))
    with ExitStack() as stack:
        if contenders and asked.peer_server:
            contenders |= stack.enter_context(serve_peer(setup, asked.peer_index))
        service = stack.enter_context(watched_service(setup))
        http = stack.enter_context(httpx.Client(base_url=service.url, timeout=600))
        starts.append(service.ready_seconds)
        first_seconds = time_first_search(http, questions[0].question)
        loaded = service.resident()
        connection = service.connect()
        ours: dict[str, Contender] = {
            name: OverHttp(connection, request) for name, request in REQUESTS.items()
        }
        answers = take_turns(ours | contenders, questions)
        used, told = service.resident(), http.get("/health/ready").json()["index"]
        # Where the index leaves memories out it reads every row, and the engine keeps them in RAM.
        stats = {} if asked.curve else http.get("/stats").raise_for_status().json()
        service.stop()
        if asked.load:
            measure_peers(contenders, questions, asked.seconds, console)
    return Measured(
        memories=order.memories,
        dimensions=order.dimensions,
        answers=answers,
        ready_seconds=statistics.median(starts),
        first_seconds=first_seconds,
        loaded=loaded,
        used=used,
        stats=stats,
        index_bytes=told["bytes"] if told else None,
    )


def time_first_search(client: httpx.Client, question: str) -> float:
    """Ask one question of a service that is ready; what it loads only now is loaded after it."""
    started = time.perf_counter()
    client.post("/search", json={"query": question}).raise_for_status()
    return time.perf_counter() - started


def list_peers(
    lance: Any, folder: Path, asked: argparse.Namespace, made_of: tuple[Any, WordVectors]
) -> dict[str, Contender]:
    """Return the peer's ways to search; none without LanceDB."""
    if lance is None:
        return {}
    notes, vectors = made_of
    peer = lance.LancePeer(folder, asked.peer_index)
    peer.open(notes, vectors)
    ways = {"exact": True} | ({asked.peer_index: False} if peer.has_index else {})

    def asking(*, exact: bool) -> Any:
        return lambda text, vector, scope: peer.ask(text, vector, scope=scope, exact=exact)

    return {
        f"LanceDB hybrid, {way}{suffix}": InProcess(asking(exact=exact), vectors.embed, is_scoped)
        for way, exact in ways.items()
        for suffix, is_scoped in (("", False), (SCOPED.removeprefix(PLAIN), True))
    }


@contextmanager
def serve_peer(setup: Setup, index: str) -> Iterator[dict[str, Contender]]:
    """Run a service around the peer's index; yields how to ask it."""
    served: Any = importlib.import_module("scripts.search.lancedb_server")
    with served.peer_server(setup.folder, index, setup.embedding_url) as url:
        connection = HTTPConnection(urlsplit(url).netloc, timeout=600)
        yield {
            f"LanceDB behind HTTP, {index}": OverHttp(connection, Request("/search", lambda _: {}))
        }


def measure_writes(setup: Setup, order: StoreOrder, asked: argparse.Namespace) -> None:
    """Measure load and sudden death, on a copy where the store is kept."""
    if not (asked.load or asked.kill):
        return
    questions = order.notes().questions(max(asked.questions, 200), seed=9)
    with tempfile.TemporaryDirectory(dir=setup.folder) as copy:
        for part in ("store", "snapshots"):
            if (setup.folder / part).is_dir():
                shutil.copytree(setup.folder / part, Path(copy) / part)
        copied = replace(setup, folder=Path(copy))
        if asked.load:
            with watched_service(copied) as service:
                measure_load(service, questions, asked.seconds, asked.json)
        if asked.kill:
            measure_crash(copied, questions)


if __name__ == "__main__":
    main()
