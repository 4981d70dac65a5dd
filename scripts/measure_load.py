"""Measure a service under more load than it can bear: what it answers, refuses, and holds in RAM.

    scripts/measure_load.py [--searches 2000] [--requests 50000] [--agents 5000]
        [--set MEMORY_READS_AT_ONCE=8]

Two storms of searches at once, each on a connection of its own, with an embedding server that
answers in less than 1 ms and with one that hangs; meanwhile /health/live is asked from a process
of its own. Then requests of every kind one after the other by 8 clients, most in the name of
agents that do not exist: RAM after each tenth of them, against that after the first.
"""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

import httpx
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts.load.mixed import mix
from scripts.load.storm import Storm, raise_storm
from scripts.servers.watched_service import (
    Setup,
    WatchedService,
    fake_embedding_server,
    watched_service,
)

DIMENSIONS = 384
STEPS = 10
# The fake embedding server hangs on it.
HANGING_WORD = "slowly"
MEMORIES = 500


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--searches", type=int, default=2000, help="of each storm; 0: none")
    parser.add_argument("--requests", type=int, default=50_000, help="mixed ones; 0: none")
    parser.add_argument("--agents", type=int, default=5000, help="agents that are made up")
    parser.add_argument("--set", action="append", default=[], metavar="MEMORY_NAME=VALUE")
    asked = parser.parse_args()
    settings = dict(pair.split("=", 1) for pair in asked.set)
    console = Console()
    with (
        tempfile.TemporaryDirectory() as folder,
        fake_embedding_server(DIMENSIONS, "--hangs-on", HANGING_WORD) as embedding_url,
        watched_service(Setup(Path(folder), embedding_url, "resident", settings)) as service,
    ):
        fill(service.url)
        if asked.searches:
            for name, word in (("answers", "kettle"), ("hangs", HANGING_WORD)):
                console.print(f"{asked.searches:,} searches at once, the embedding server {name}")
                tell(console, raise_storm(service.url, asked.searches, word))
        if asked.requests:
            measure_mixture(console, service, asked.requests, asked.agents)


def fill(url: str) -> None:
    """Store some memories to search among."""
    batch = [{"text": f"Kettle {n} stands in harbour {n % 40}."} for n in range(MEMORIES)]
    httpx.post(f"{url}/memories/batch", json={"memories": batch}, timeout=300).raise_for_status()


def tell(console: Console, storm: Storm) -> None:
    """Print what became of a storm."""
    table = Table("status", "answers")
    for status, count in storm.statuses.items():
        table.add_row(str(status), f"{count:,}")
    console.print(table)
    console.print(
        f"in all {storm.seconds:.1f} s; longest answer {storm.longest_answer:.1f} s, refusal "
        f"{storm.longest_refusal:.1f} s, /health/live {storm.longest_live:.2f} s "
        f"({storm.live_failed} failed)"
    )


def measure_mixture(console: Console, service: WatchedService, requests: int, agents: int) -> None:
    """Send the mixed requests, print how the memory went."""
    with Progress(console=console) as progress:
        task = progress.add_task("mixed requests", total=STEPS)

        def after_step(step: int) -> int:
            progress.update(task, completed=step + 1)
            return service.resident().anonymous

        found = asyncio.run(mix(service.url, STEPS, requests // STEPS, agents, after_step))
    first = found.resident[0]
    console.print(f"{dict(sorted(found.statuses.items()))}, longest {found.longest_seconds:.2f} s")
    for step, held in enumerate(found.resident, start=1):
        sent = step * (requests // STEPS)
        console.print(f"{sent:>8,} requests: {held / 1e6:.0f} MB, {held / first:.2f} x")


if __name__ == "__main__":
    main()
