"""Where a consolidation spends its CPU and what keeps its memory: all of it in this process.

    scripts/profile_consolidation.py [--entries 10000] [--run] [--top 40] [--order ttot|tsub]
        [--profile] [--memory]

Generated logs are stored and consolidated over ASGI, with a fake embedding server beside it; a dry
run, or with --run the deed. Told are the seconds of CPU of all threads. --profile needs `pip
install yappi` and makes everything slower: its shares count, not its times. `ttot` is a function
with all it calls, `tsub` alone. --memory tells what this process holds before and after, and how
much of that goes when Python collects, when the allocator gives back what it keeps, and when the
store is flushed.
"""

import argparse
import asyncio
import ctypes
import gc
import importlib
import logging
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from asgi_lifespan import LifespanManager
from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts.generated.logs import Logs, documents, observations
from scripts.servers.watched_service import fake_embedding_server
from service.app import create_app
from service.settings import Settings
from service.store.database import Database

console = Console(width=150)
_DIMENSIONS = 384
_BATCH = 500
_PATIENCE_SECONDS = 3600


def main() -> None:
    """Store the logs, consolidate, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--entries", type=int, default=10_000)
    parser.add_argument("--run", action="store_true", help="carry the plan out")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--top", type=int, default=40)
    parser.add_argument("--order", choices=["ttot", "tsub"], default="tsub")
    asked = parser.parse_args()
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder, fake_embedding_server(_DIMENSIONS) as url:
        settings = Settings(data_dir=Path(folder), embedding_url=url, _env_file=None)
        asyncio.run(consolidate(settings, asked))


async def consolidate(settings: Settings, asked: argparse.Namespace) -> None:
    """Fill a store, consolidate it and tell what that cost."""
    app = create_app(settings)
    async with (
        LifespanManager(app, startup_timeout=100, shutdown_timeout=100),
        httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://127.0.0.1",
            timeout=_PATIENCE_SECONDS,
        ) as client,
    ):  # fmt: skip
        await write_logs(client, asked.entries)
        (await client.post("/search", json={"query": "backup"})).raise_for_status()
        tell_memory(asked, "before")
        with profiled(asked):
            cpu, wall = time.process_time(), time.perf_counter()
            answer = await client.post("/consolidate", json={"dry_run": not asked.run})
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        console.print(f"{answer.raise_for_status().json()['counts']}")
        console.print(f"{cpu:.2f} s of CPU, {wall:.2f} s")
        del answer
        if asked.memory:
            await tell_what_keeps_it(asked, app.state.parts[Database])


async def write_logs(client: httpx.AsyncClient, entries: int) -> None:
    """Store the generated logs as an agent does: documents, and observations by themselves."""
    logs = Logs(entries).entries()
    for name, text in sorted(documents(logs).items()):
        sent = await client.post("/ingest", json={"source": name, "text": text})
        sent.raise_for_status()
    pushed = observations(logs)
    for start in range(0, len(pushed), _BATCH):
        body = {"memories": pushed[start : start + _BATCH]}
        (await client.post("/memories/batch", json=body)).raise_for_status()


@contextmanager
def profiled(asked: argparse.Namespace) -> Iterator[None]:
    """Count the CPU of each thread inside, if that is asked for, and print what took most."""
    if not asked.profile:
        yield
        return
    profiler: Any = importlib.import_module("yappi")
    profiler.set_clock_type("cpu")
    profiler.start()
    yield
    profiler.stop()
    stats = sorted(profiler.get_func_stats(), key=lambda one: -getattr(one, asked.order))
    for one in stats[: asked.top]:
        console.print(
            f"{one.tsub:8.3f} {one.ttot:8.3f} {one.ncall:9}  "
            f"{'/'.join(Path(one.module).parts[-3:])}:{one.lineno} {one.name}",
            highlight=False,
        )


async def tell_what_keeps_it(asked: argparse.Namespace, db: Database) -> None:
    """Take away one reason after the other, and tell what is left of this process's memory."""
    tell_memory(asked, "after")
    gc.collect()
    tell_memory(asked, "Python has collected")
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    tell_memory(asked, "the allocator has given back what it kept")
    await db.flush()
    tell_memory(asked, "the store is flushed")
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    tell_memory(asked, "the allocator has given back again")


def tell_memory(asked: argparse.Namespace, when: str) -> None:
    """Print the resident memory of this process, and what of it is no page of a file."""
    if asked.memory:
        facts = Path("/proc/self/status").read_text("ascii").splitlines()
        sizes = {line.split(":")[0]: line.split()[1] for line in facts if "kB" in line}
        now, anonymous = (int(sizes[name]) / 1000 for name in ("VmRSS", "RssAnon"))
        console.print(f"{when}: {now:.0f} MB, {anonymous:.0f} of them anonymous")


if __name__ == "__main__":
    main()
