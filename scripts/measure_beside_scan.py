"""Measure searches beside a first scan of a folder, and while what it left is linked behind it.

    scripts/measure_beside_scan.py FOLDER [--times 2]

Both servers are started on a temporary store, with vectors of hashed words that cost next to
nothing. One client asks one question at a time, a pause of 20 ms behind each: at rest among a few
notes, while the folder is scanned, right behind the scan, and at rest among all. Told are a
client's milliseconds over HTTP, embedding included, and p95 in times of the p50 at rest among all.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import httpx
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts.search.trials import percentile
from scripts.servers.own_servers import own_servers

QUESTIONS: Final = (
    "how to list files by size", "git rebase onto", "a macro of vim", "postgres index",
    "panes of tmux", "rails migration", "a hash in ruby", "a loop in bash", "css grid", "logs",
)  # fmt: skip
_FIRST_NOTES: Final = 30
_REST_SECONDS: Final = 5.0
_BEHIND_SECONDS: Final = 10.0
_PAUSE_SECONDS: Final = 0.02
_LOOK_SECONDS: Final = 0.5
console = Console(width=110)


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--times", type=int, default=2)
    asked = parser.parse_args()
    for _ in range(asked.times):
        with (
            own_servers("hashing-256", MEMORY_SOURCES=str(asked.folder.resolve())) as servers,
            httpx.Client(base_url=servers.url, timeout=600) as client,
        ):
            measure(client)


def measure(client: httpx.Client) -> None:
    """Ask through all phases of one scan; print a table."""
    for number in range(_FIRST_NOTES):
        text = f"Note {number} on git, vim and postgres."
        client.post("/memories", json={"text": text}).raise_for_status()
    phases = {"at rest among a few": ask(client, until(_REST_SECONDS))}
    job = client.post("/ingest/scan", json={"wait": False}).raise_for_status().json()["job"]
    started = time.monotonic()
    phases["beside the scan"] = ask(client, while_running(client, job))
    seconds = time.monotonic() - started
    phases["right behind it"] = ask(client, until(_BEHIND_SECONDS))
    phases["at rest among all"] = ask(client, until(_REST_SECONDS))
    rest = percentile(phases["at rest among all"], 0.5)
    table = Table(title=f"a scan of {seconds:.1f} s")
    for name in ("searches", "asked", "p50 ms", "p95 ms", "longest ms", "p95 / p50 at rest"):
        table.add_column(name)
    for name, times in phases.items():
        p95 = percentile(times, 0.95)
        table.add_row(
            name, f"{len(times)}", f"{percentile(times, 0.5):.1f}", f"{p95:.1f}",
            f"{max(times):.1f}", f"{p95 / rest:.1f}",
        )  # fmt: skip
    console.print(table)


def until(seconds: float) -> Callable[[], bool]:
    """Return what says for so many seconds to go on."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() < end


def while_running(client: httpx.Client, job: str) -> Callable[[], bool]:
    """Return what says to go on while a job does, at which it looks twice a second."""
    looked_at, is_running = 0.0, True

    def goes_on() -> bool:
        nonlocal looked_at, is_running
        if time.monotonic() - looked_at > _LOOK_SECONDS:
            looked_at = time.monotonic()
            state = client.get(f"/ingest/jobs/{job}").raise_for_status().json()["state"]
            is_running = state in {"queued", "running"}
        return is_running

    return goes_on


def ask(client: httpx.Client, goes_on: Callable[[], bool]) -> list[float]:
    """Ask one question after the other; returns milliseconds."""
    times: list[float] = []
    while goes_on():
        body = {"query": QUESTIONS[len(times) % len(QUESTIONS)], "limit": 10}
        started = time.perf_counter()
        client.post("/search", json=body).raise_for_status()
        times.append((time.perf_counter() - started) * 1000)
        time.sleep(_PAUSE_SECONDS)
    return times


if __name__ == "__main__":
    main()
