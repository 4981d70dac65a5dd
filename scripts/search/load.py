"""Sixteen clients read while one writes: latencies, throughput, stalls, wrong answers."""

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any, Final

import httpx
import orjson
from rich.console import Console
from rich.table import Table

from scripts.generated.notes import Note
from scripts.search.trials import percentile
from scripts.search.writes import WriteOrder, WriteReport, write

READERS: Final = 16
WRITES_A_SECOND: Final = 50.0
# Questions a second of all readers together; None: each asks again as soon as it is answered.
# Sixteen agents at work ask about once a second each.
PACES: Final = {
    "one question a second each": 16.0,
    "50 a second together": 50.0,
    "back to back": None,
}
_IDLE_SECONDS: Final = 5.0
_STALL_POLL_SECONDS: Final = 0.02

console = Console(width=150)


@dataclass(frozen=True, slots=True)
class ReadOrder:
    """Who asks what for how long: `rate` is of all clients together; None: back to back."""

    url: str
    questions: tuple[tuple[str, str | None], ...]
    clients: int
    seconds: float
    rate: float | None = None


@dataclass(slots=True)
class ReadReport:
    """The readers' times, and how many answers were not what they must be."""

    seconds: float = 0.0
    milliseconds: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def measure_load(url: str, notes: Sequence[Note], seconds: float) -> None:
    """Measure one idle client, then the load at each pace; print."""
    questions = tuple((n.question, n.draft.scope if i % 2 else None) for i, n in enumerate(notes))
    table = Table(
        "under load", "p50 ms", "p95 ms", "p95 / idle p50", "searches/s", "writes/s",
        "write p50", "write p95", "/health/live p95, max ms", "wrong",
    )  # fmt: skip
    wrong: list[str] = []
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        idle = pool.submit(read, ReadOrder(url, questions, 1, _IDLE_SECONDS)).result()
        idle_p50 = percentile(idle.milliseconds, 0.5)
        table.add_row("one client, nobody else", *_cells(idle, idle_p50), "", "", "", "", "")
        for name, rate in PACES.items():
            order = ReadOrder(url, questions, READERS, seconds, rate)
            reading, writing, stalls = _run(pool, order, tuple(n.draft.content for n in notes))
            wrong += [*reading.wrong, *writing.wrong]
            table.add_row(
                f"{READERS} clients, {name}", *_cells(reading, idle_p50), f"{writing.rate:.1f}",
                f"{percentile(writing.milliseconds, 0.5):.1f}",
                f"{percentile(writing.milliseconds, 0.95):.1f}",
                f"{percentile(stalls, 0.95):.1f}, {max(stalls, default=0.0):.1f}",
                str(len(reading.wrong) + len(writing.wrong)),
            )  # fmt: skip
    console.print(table)
    console.print(
        f"aim: p95 at most 5 times the idle p50; nothing wrong. The writer tries "
        f"{WRITES_A_SECOND:g}/s and looks for each write at once."
    )
    for sentence in wrong[:5]:
        console.print(f"[red]{sentence[:300]}")


def _run(
    pool: Executor, order: ReadOrder, texts: tuple[str, ...]
) -> tuple[ReadReport, WriteReport, list[float]]:
    """Run readers and writer in processes of their own; meanwhile poll /health/live from here."""
    name = f"paced-{order.rate:g}" if order.rate else "hurried"
    writing = pool.submit(write, WriteOrder(order.url, texts, order.seconds, WRITES_A_SECOND, name))
    reading = pool.submit(read, order)
    stalls = _poll_while(order.url, [reading, writing])
    return reading.result(), writing.result(), stalls


def _poll_while(url: str, running: Sequence[Future[Any]]) -> list[float]:
    """Return the times in milliseconds of GET /health/live until all are done."""
    stalls = []
    with httpx.Client(base_url=url, timeout=120) as client:
        while not all(future.done() for future in running):
            started = time.perf_counter()
            client.get("/health/live").raise_for_status()
            stalls.append((time.perf_counter() - started) * 1000)
            time.sleep(_STALL_POLL_SECONDS)
    return stalls


def read(order: ReadOrder) -> ReadReport:
    """Ask with all clients until the time is over; every answer is looked at."""
    return asyncio.run(_read(order))


async def _read(order: ReadOrder) -> ReadReport:
    report, started = ReadReport(), time.perf_counter()
    async with asyncio.TaskGroup() as tasks:
        for client in range(order.clients):
            tasks.create_task(_ask_on(order, client, started, report))
    report.seconds = time.perf_counter() - started
    return report


async def _ask_on(order: ReadOrder, number: int, started: float, report: ReadReport) -> None:
    """Be one client: ask from another question on than the others; paced, at its own moments."""
    step = order.clients / order.rate if order.rate else 0.0
    turn = number * len(order.questions) // order.clients
    async with httpx.AsyncClient(base_url=order.url, timeout=120) as client:
        await asyncio.sleep(step * number / order.clients)
        due = time.perf_counter()
        while time.perf_counter() - started < order.seconds:
            await _ask(client, order.questions[turn % len(order.questions)], report)
            turn, due = turn + 1, due + step
            await asyncio.sleep(max(0.0, due - time.perf_counter()))


async def _ask(
    client: httpx.AsyncClient, question: tuple[str, str | None], report: ReadReport
) -> None:
    query, scope = question
    body = {"query": query, "limit": 10, "scope": scope}
    started = time.perf_counter()
    answer = await client.post("/search", json=body)
    report.milliseconds.append((time.perf_counter() - started) * 1000)
    if answer.status_code != 200:
        report.wrong.append(f"a reader was answered {answer.status_code}: {answer.text}")
        return
    told = orjson.loads(answer.content)
    if not told["results"] or any(scope not in {None, hit["scope"]} for hit in told["results"]):
        report.wrong.append(f"a reader in {scope} was shown another scope, or nothing at all")
    if told["receipt"]["missing_signals"]:
        report.wrong.append(f"a reader missed {told['receipt']['missing_signals']}")


def _cells(report: ReadReport, idle_p50: float) -> tuple[str, str, str, str]:
    p95 = percentile(report.milliseconds, 0.95)
    return (
        f"{percentile(report.milliseconds, 0.5):.1f}", f"{p95:.1f}",
        f"{p95 / idle_p50:.1f}", f"{len(report.milliseconds) / report.seconds:.1f}",
    )  # fmt: skip
