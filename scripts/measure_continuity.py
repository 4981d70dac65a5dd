#!/usr/bin/env python3
"""How long a session waits for its context, beside searches of the same store, in turn.

    scripts/measure_continuity.py [--memories 100000] [--store DIR] [--rounds 100] [--engine NAME]
        [--transcript-mb 50]

A real service over HTTP; its embedding server is a fake that answers at once. Asked are the context
of a session (POST, noted as given; and GET), the last handoff, decisions, the working memory, and a
search with and without `new_only`: p50 and p95 in milliseconds, and the CPU of the service. The
aim is a p50 of 10 ms for the context of 100,000 memories. Then `graph-memory observe` reads a
transcript of so many MB into the same service: seconds, and the most RAM of both processes. At last
a day is played there (scripts/continuity/day.py): a session works and ends without a handoff, the
service is killed, and the next session must know by one call what was going on; else it exits with
1. A store is built as scripts/measure_search.py does, and kept below --store; what is asked is
written into a copy of it.
"""

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import httpx
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts.continuity import day
from scripts.generated.store import StoreOrder
from scripts.measure_search import build_store
from scripts.search.trials import percentile
from scripts.servers.processes import REPOSITORY
from scripts.servers.watched_service import (
    Setup,
    WatchedService,
    fake_embedding_server,
    watched_service,
)
from service.store.vector_forms import FORM_OF_ENGINE

console = Console(width=110)
_DIMENSIONS = 384
_HELD = re.compile(r"^VmHWM:\s+(\d+) kB$", re.MULTILINE)
_WARM_UPS = 10
# A project whose scope the generated notes have: they are in it and in nine others.
_PROJECT = {"name": "scope-1"}

Ask = Callable[[httpx.Client, int], httpx.Response]


def main() -> None:
    """Build the store, ask in turn, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--store", type=Path, help="keep the built store below this folder")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--transcript-mb", type=int, default=50)
    parser.add_argument("--engine", choices=list(FORM_OF_ENGINE), default="resident")
    asked = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        order = StoreOrder(asked.memories, _DIMENSIONS, FORM_OF_ENGINE[asked.engine], None)
        built = (asked.store or folder) / order.folder_name
        build_store(built, order)
        shutil.copytree(built, folder / "copy")
        url = stack.enter_context(fake_embedding_server(_DIMENSIONS))
        setup = Setup(folder / "copy", url, asked.engine)
        service = stack.enter_context(watched_service(setup))
        client = stack.enter_context(httpx.Client(base_url=service.url, timeout=60))
        leave_something(client)
        console.print(table_of(take_turns(service, client, asked.rounds)))
        measure_observing(setup, service, folder / "session.jsonl", asked.transcript_mb)
        play_day(setup, service, stack)


def play_day(setup: Setup, service: WatchedService, stack: ExitStack) -> None:
    """Play a day with a kill in between, and tell whether the second session knew all of it."""
    with httpx.Client(base_url=service.url, timeout=60) as client:
        day.work(client)
    service.kill()
    again = stack.enter_context(watched_service(setup))
    with httpx.Client(base_url=again.url, timeout=60) as client:
        missing = day.look(client)
    console.print(f"a day and a kill: {'; '.join(missing) or 'the next session knew all of it'}")
    if missing:
        sys.exit(1)


def measure_observing(setup: Setup, service: WatchedService, path: Path, megabytes: int) -> None:
    """Write a transcript, have the command read it, and tell what that took."""
    write_transcript(path, megabytes * 1_000_000)
    port = int(service.url.rpartition(":")[2])
    before, begun = service.resident(), time.perf_counter()
    command = [sys.executable, "-m", "service", "observe", str(path)]
    own = most_held(subprocess.Popen(command, env=setup.environment(port), cwd=REPOSITORY))
    took, after = time.perf_counter() - begun, service.resident()
    size, held, most = (n / 1e6 for n in (path.stat().st_size, before.now, after.peak))
    console.print(
        f"observe of {size:.0f} MB: {took:.1f} s; the command at most {own:.0f} MB, the service "
        f"{held:.0f} MB before, {most:.0f} at most"
    )


def most_held(process: subprocess.Popen[bytes]) -> float:
    """Wait for a process; returns the most MB that it held. Raises CalledProcessError.

    What getrusage tells of children is also that of the store's builder, and of the parent itself.
    """
    most = 0
    while process.poll() is None:
        told = _HELD.search(Path(f"/proc/{process.pid}/status").read_text(encoding="ascii"))
        most = max(most, int(told[1]) if told else 0)
        time.sleep(0.05)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return most / 1000


def write_transcript(path: Path, size: int) -> None:
    """Write turns of a session: talk, commands that fail and pass again, now and then a rule."""
    with path.open("w", encoding="utf-8") as file:
        number = -1
        while file.tell() < size:
            number += 1
            turns: list[dict[str, object]] = [
                {"role": "user", "text": f"Look at part {number} of the crane again, please."},
                {"role": "assistant", "text": "It stands at the quay. " * 60},
                {"role": "assistant", "command": f"make part-{number % 50}", "call": "a"},
                {"role": "tool", "call": "a", "exit": number % 2, "text": "Error: no rope\n" * 90},
                {"role": "assistant", "file_path": f"src/{number}.c", "tool": "edit", "call": "b"},
            ]
            if number % 500 == 0:
                turns.append({"role": "user", "text": f"From now on rule {number} holds."})
            file.writelines(f"{json.dumps(turn)}\n" for turn in turns)


def leave_something(client: httpx.Client) -> None:
    """Write what a session leaves, and ask until the index is in RAM."""
    own = {"project": _PROJECT}
    for number in range(20):
        text = {"text": f"Decision {number} of the crane.", "tags": ["crane"]}
        client.post("/decisions", json=own | text).raise_for_status()
    client.post("/handoff", json=own | {"text": "Next: the quay."}).raise_for_status()
    client.put("/working-memory", json=own | {"text": "The crane."}).raise_for_status()
    for _ in range(_WARM_UPS):
        client.post("/search", json={"query": "crane"}).raise_for_status()


def requests() -> dict[str, Ask]:
    """Return what is asked, by its name; each with the number of the round."""
    own = {"project": _PROJECT}
    of_name = {"project": _PROJECT["name"]}

    def context(client: httpx.Client, n: int) -> httpx.Response:
        return client.post("/session-context", json=own | {"session": f"s-{n}"})

    def search(client: httpx.Client, n: int, **more: object) -> httpx.Response:
        body = {"query": f"crane of week {n}", "limit": 10, **more}
        return client.post("/search", json=body)

    return {
        "POST /session-context": context,
        "POST /session-context, 9,500 characters": lambda c, n: c.post(
            "/session-context", json=own | {"session": f"t-{n}", "max_chars": 9500}
        ),
        "GET /session-context": lambda c, _: c.get("/session-context", params=of_name),
        "GET /handoff": lambda c, _: c.get("/handoff", params=of_name),
        "GET /decisions": lambda c, _: c.get("/decisions", params=of_name),
        "GET /working-memory": lambda c, _: c.get("/working-memory", params=of_name),
        "POST /search": search,
        "POST /search, new_only": lambda c, n: search(c, n, session=f"u-{n // 10}", new_only=True),
        "POST /search, new_only, all in one session": lambda c, n: search(
            c, n, session="v", new_only=True
        ),
    }


def take_turns(
    service: WatchedService, client: httpx.Client, rounds: int
) -> dict[str, list[tuple[float, float]]]:
    """Ask each once a round; returns milliseconds and those of CPU until the answer, by name."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in requests()}
    for number in range(-_WARM_UPS, rounds):
        for name, ask in requests().items():
            cpu, begun = service.cpu_seconds(), time.perf_counter()
            ask(client, number).raise_for_status()
            took = time.perf_counter() - begun
            if number >= 0:
                found[name].append((1000 * took, 1000 * (service.cpu_seconds() - cpu)))
            # What is noted behind an answer is not to be the next one's: this waits for it.
            client.get("/sessions/nobody").raise_for_status()
    return found


def table_of(found: dict[str, list[tuple[float, float]]]) -> Table:
    """Return the figures as a table."""
    table = Table("request", "p50, ms", "p95, ms", "CPU, ms (mean)")
    for name, times in found.items():
        whole = [took for took, _ in times]
        cpu = statistics.fmean(used for _, used in times)
        table.add_row(
            name, f"{statistics.median(whole):.1f}", f"{percentile(whole, 0.95):.1f}", f"{cpu:.1f}"
        )
    return table


if __name__ == "__main__":
    main()
