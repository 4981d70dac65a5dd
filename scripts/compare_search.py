"""Compare the searches of two checkouts: the same answers, and what a search costs in each.

    scripts/compare_search.py CHECKOUT [--memories 100000] [--store DIR] [--rounds 15]
        [--request "/search" | "/search, fusion rrf" | "/graph-recall, 2 hops" ...]
        [--starts 7] [--set MEMORY_READERS=0] [--python /usr/bin/python3]

A service of each runs on a copy of one store. First all kinds of requests are asked of both, and
every value of the answers is compared but for what the receipt tells of time. Then ten questions go
to one, ten to the other, in turns: what the machine does besides is in both. Told are the median of
the client's milliseconds, the services' CPU a request, and this checkout's share of the other's.
With --starts both are started in turns before that, from their snapshots: seconds until they are
ready, and their CPU. Both checkouts should have compiled modules (`python -m compileall`). A store
is built as scripts/measure_search.py does, and kept below --store.
"""

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import httpx
from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts.generated.notes import Note
from scripts.generated.store import StoreOrder
from scripts.measure_search import build_store
from scripts.search.trials import PLAIN, REQUESTS, WARM_UP_QUESTIONS
from scripts.servers.processes import REPOSITORY
from scripts.servers.watched_service import (
    Setup,
    WatchedService,
    fake_embedding_server,
    watched_service,
)

console = Console(width=150)
_DIMENSIONS: Final = 384
_QUESTIONS: Final = 300
_TURN: Final = 10
# Of each kind of request so many answers are compared.
_COMPARED: Final = 30
# They differ from one answer to the next of the same service.
_OF_TIME: Final = {"took_ms", "stages_ms", "indexed_through"}

Client = tuple[WatchedService, httpx.Client]


def main() -> None:
    """Build the store, compare, print."""
    asked = parse()
    with ExitStack() as stack:
        shelf = asked.store or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        order = StoreOrder(asked.memories, _DIMENSIONS, "bytes", None)
        build_store(shelf / order.folder_name, order)
        url = stack.enter_context(fake_embedding_server(_DIMENSIONS))
        settings = dict(pair.split("=", 1) for pair in asked.set)
        setups: list[Setup] = []
        runs = ((asked.checkout.resolve(), asked.python), (REPOSITORY, sys.executable))
        for checkout, python in runs:
            copy = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "copy"
            other = shutil.ignore_patterns("lancedb-*")
            shutil.copytree(shelf / order.folder_name, copy, ignore=other)
            setups.append(Setup(copy, url, "resident", settings, checkout, python))
        if asked.starts:
            start_in_turns(setups, asked.starts)
        clients: list[Client] = []
        for setup in setups:
            service = stack.enter_context(watched_service(setup))
            http = stack.enter_context(httpx.Client(base_url=service.url, timeout=600))
            clients.append((service, http))
        notes = order.notes().questions(_QUESTIONS)
        compare_answers(clients, notes)
        take_turns(clients, notes, asked.request, asked.rounds)


def parse() -> argparse.Namespace:
    """Return the arguments."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=Path, help="the other checkout, compiled as this one is")
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--store", type=Path, help="keep the built store below this folder")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--starts", type=int, default=0)
    parser.add_argument("--request", choices=list(REQUESTS), default=PLAIN)
    parser.add_argument("--set", action="append", default=[], metavar="MEMORY_NAME=VALUE")
    parser.add_argument(
        "--python", default=sys.executable, help="what runs the other checkout: of its environment"
    )
    return parser.parse_args()


def ask(http: httpx.Client, name: str, note: Note) -> Any:
    """Return the answer to a note's question as one kind of request."""
    request = REQUESTS[name]
    body = {"query": note.question, "limit": 10} | request.options(note)
    return http.post(request.path, json=body).raise_for_status().json()


def start_in_turns(setups: Sequence[Setup], starts: int) -> None:
    """Start one, then the other; print what that took. The first of each may make a snapshot."""
    waited: list[list[float]] = [[], []]
    used: list[list[float]] = [[], []]
    for turn in range(starts + 1):
        for number, setup in enumerate(setups):
            with watched_service(setup) as service:
                if turn:
                    waited[number].append(service.ready_seconds)
                    used[number].append(service.cpu_seconds())
    theirs, mine = (statistics.median(one) for one in waited)
    console.print(f"start: {theirs:.2f} and {mine:.2f} s (median), {mine / theirs:.3f} of it")
    theirs, mine = (statistics.median(one) for one in used)
    console.print(f"start: {theirs:.2f} and {mine:.2f} s of CPU, {mine / theirs:.3f} of it")


def compare_answers(clients: Sequence[Client], notes: Sequence[Note]) -> None:
    """Ask both as every kind of request; print how far the numbers are apart, and what differs."""
    worst, strange = 0.0, []
    for name in REQUESTS:
        for note in notes[:_COMPARED]:
            theirs, mine = (ask(http, name, note) for _, http in clients)
            for place, one, other in differences(theirs, mine, name):
                if isinstance(one, float) and isinstance(other, float):
                    worst = max(worst, abs(one - other))
                else:
                    strange.append(f"{place}: {one!r}, {other!r}")
    count = _COMPARED * len(REQUESTS)
    console.print(
        f"{count} answers, worst difference of a number {worst:.1e}, others: {strange[:5]}"
    )


def differences(one: Any, other: Any, place: str) -> list[tuple[str, Any, Any]]:
    """Return the places where two answers differ, with what stands there."""
    if isinstance(one, dict) and isinstance(other, dict):
        names = sorted((one.keys() | other.keys()) - _OF_TIME)
        parts = [(f"{place} {name}", one.get(name), other.get(name)) for name in names]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = enumerate(zip(one, other, strict=True))
        parts = [(f"{place} {number}", *pair) for number, pair in pairs]
    else:
        return [] if one == other else [(place, one, other)]
    return [found for where, a, b in parts for found in differences(a, b, where)]


def take_turns(clients: Sequence[Client], notes: Sequence[Note], name: str, rounds: int) -> None:
    """Ask ten questions of one, then of the other; print what that took."""
    waited: list[list[float]] = [[], []]
    used: list[list[float]] = [[], []]
    for note in notes[:WARM_UP_QUESTIONS]:
        for _, http in clients:
            ask(http, name, note)
    for turn in range(rounds):
        start = turn * _TURN % (len(notes) - _TURN)
        for number in (0, 1) if turn % 2 else (1, 0):
            service, http = clients[number]
            cpu = service.cpu_seconds()
            for note in notes[start : start + _TURN]:
                begun = time.perf_counter()
                ask(http, name, note)
                waited[number].append(1000 * (time.perf_counter() - begun))
            used[number].append(1000 * (service.cpu_seconds() - cpu) / _TURN)
    theirs, mine = (statistics.median(one) for one in waited)
    console.print(f"{name}: {theirs:.2f} and {mine:.2f} ms (p50), {mine / theirs:.3f} of it")
    theirs, mine = (statistics.mean(one) for one in used)
    console.print(
        f"{name}: {theirs:.2f} and {mine:.2f} ms of CPU (mean), {mine / theirs:.3f} of it"
    )


if __name__ == "__main__":
    main()
