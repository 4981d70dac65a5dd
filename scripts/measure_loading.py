"""Measure how fast notes come in: batches over HTTP, beside an embedder that costs nothing.

    scripts/measure_loading.py [--memories 20000] [--batch 1000] [--clients 1] [--peer CHECKOUT]
        [--turns 1] [--kill] [--profile REPORT]

Generated notes are pushed to a new store by POST /memories/batch. Told are memories a second, the
CPU time of the service for a thousand, the slowest request, the process's memory, what a memory
takes on disk once the service has ended, and how long it takes to start on it. --peer is another
checkout of this repository, which takes turns with this one: what the machine does besides is
then in both. --kill ends the service by SIGKILL. --profile writes what its threads did.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Final

import httpx
import orjson
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts.generated.notes import Notes
from scripts.servers.processes import REPOSITORY, free_port, wait_until_answered
from scripts.servers.watched_service import (
    Setup,
    WatchedService,
    fake_embedding_server,
    start_service,
)

DIMENSIONS: Final = 384
_PATIENCE_SECONDS: Final = 600

console = Console(width=150)


def main() -> None:
    """Load as often as asked for, print a line each."""
    asked = parse()
    bodies = list(batches(Notes(asked.memories), asked.batch))
    checkouts = [REPOSITORY, *([asked.peer] if asked.peer else [])]
    table = Table(
        "checkout", "a second", "CPU s / 1,000", "slowest s", "rss MB", "peak MB", "kB / memory",
        "start s", "rss MB",
    )  # fmt: skip
    with fake_embedding_server(DIMENSIONS) as embedding_url:
        for _ in range(asked.turns):
            for checkout in checkouts:
                table.add_row(*load(asked, checkout, bodies, embedding_url))
    console.print(table)


def parse() -> argparse.Namespace:
    """Return the arguments."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memories", type=int, default=20_000)
    parser.add_argument("--batch", type=int, default=1000)
    parser.add_argument("--clients", type=int, default=1)
    parser.add_argument("--peer", type=Path, help="another checkout, in turns with this one")
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--kill", action="store_true", help="end it by SIGKILL")
    parser.add_argument("--profile", type=Path, help="write what the threads did to this file")
    return parser.parse_args()


def batches(notes: Notes, size: int) -> Sequence[bytes]:
    """Return the bodies of the requests, encoded beforehand."""
    fields = ("text", "title", "kind", "scope", "tags", "importance", "occurred_at", "session",
              "source_ref", "trust_tier", "valid_until")  # fmt: skip
    pushed = [asdict(notes.note(number).pushed) for number in range(notes.count)]
    memories = [{name: one[name] for name in fields if one[name]} for one in pushed]
    starts = range(0, len(memories), size)
    return [orjson.dumps({"memories": memories[start : start + size]}) for start in starts]


def load(
    asked: argparse.Namespace, checkout: Path, bodies: Sequence[bytes], embedding_url: str
) -> tuple[str, ...]:
    """Load everything into a new store; returns the row of the table."""
    with tempfile.TemporaryDirectory() as folder:
        setup = Setup(Path(folder), embedding_url, "resident", checkout=checkout)
        service = start(setup, asked.profile if checkout == REPOSITORY else None)
        try:
            begun, cpu = time.perf_counter(), service.cpu_seconds()
            with ThreadPoolExecutor(asked.clients) as pool:
                seconds = list(pool.map(lambda body: push(service.url, body), bodies))
            whole, cpu = time.perf_counter() - begun, service.cpu_seconds() - cpu
            held = service.resident()
        finally:
            (service.kill if asked.kill else service.stop)()
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
        again = start_service(setup)
        restarted = again.resident()
        again.stop()
    figures = (
        asked.memories / whole, cpu * 1000 / asked.memories, max(seconds), held.now / 1e6,
        held.peak / 1e6, size / asked.memories / 1000, again.ready_seconds, restarted.now / 1e6,
    )  # fmt: skip
    console.print(f"{checkout.name}: a request takes {statistics.median(seconds):.2f} s")
    return (checkout.name, *(f"{figure:,.2f}" for figure in figures))


def start(setup: Setup, report: Path | None) -> WatchedService:
    """Start a service, with a sampler where a report is asked for."""
    if report is None:
        return start_service(setup)
    port = free_port()
    url, begun = f"http://127.0.0.1:{port}", time.perf_counter()
    script = Path(__file__).with_name("servers") / "sampled_service.py"
    command = [sys.executable, str(script), str(report)]
    process = subprocess.Popen(command, env=setup.environment(port), cwd=setup.checkout)
    wait_until_answered(f"{url}/health/ready", [process], _PATIENCE_SECONDS)
    return WatchedService(process, url, time.perf_counter() - begun)


def push(url: str, body: bytes) -> float:
    """Push one batch; returns the seconds that it took."""
    begun = time.perf_counter()
    headers = {"Content-Type": "application/json"}
    answer = httpx.post(f"{url}/memories/batch", content=body, headers=headers, timeout=600)
    if answer.raise_for_status().json()["errors"]:
        raise SystemExit(f"not stored: {answer.json()['errors'][:3]}")
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
