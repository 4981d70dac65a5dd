"""Clients read, alone and beside writers: latencies, throughput, CPU, stalls, wrong answers."""

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context
from typing import Any, Final

import aiohttp
import httpx
import orjson
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from scripts.generated.notes import Note
from scripts.search.trials import percentile
from scripts.search.writes import WriteOrder, WriteReport, write
from scripts.servers.watched_service import WatchedService

READERS: Final = 16
WRITES_A_SECOND: Final = 50.0
# Questions a second of all readers together; None: each asks again as soon as it is answered.
# Sixteen agents at work ask about once a second each.
PACES: Final = {"one question a second each": 16.0, "back to back": None}
# Clients that ask back to back while nobody writes.
ALONE: Final = (1, 4, READERS)
# A look is two searches: after each write they would be most of the load.
LOOKS_EVERY: Final = 13
# A look costs the service up to 2 ms of CPU, which counts as the searches': every 20 ms they were
# a tenth of it.
_STALL_POLL_SECONDS: Final = 0.1
# A service that has just started writes its snapshot and tidies its store, which is no search's.
_QUIET_SECONDS: Final = 2.0
_QUIET_CORES: Final = 0.05
_MOST_LOOKS: Final = 60
_JSON: Final = {"Content-Type": "application/json"}

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
    """The readers' times and own CPU, and how many answers were not what they must be."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    milliseconds: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class LoadFigures:
    """One load: times in milliseconds; the service's CPU is of all that it did meanwhile.

    The readers run on the same cores: what they take themselves is told beside it.
    """

    load: str
    p50: float
    p95: float
    p95_over_idle_p50: float
    searches_a_second: float
    cpu_ms_a_search: float
    cores: float
    clients_cpu_ms_a_search: float = 0.0
    writes_a_second: float = 0.0
    memories_a_second: float = 0.0
    write_p50: float = 0.0
    write_p95: float = 0.0
    live_p95: float = 0.0
    live_max: float = 0.0
    looked_for: int = 0
    wrong: int = 0


def measure_load(
    service: WatchedService, notes: Sequence[Note], seconds: float, as_json: bool = False
) -> None:
    """Measure readers alone, then beside writers; print. The first load is one idle client's."""
    wait_until_quiet(service)
    questions = tuple((n.question, n.draft.scope if i % 2 else None) for i, n in enumerate(notes))
    texts = tuple(note.draft.content for note in notes)
    figures: list[LoadFigures] = []
    wrong: list[str] = []
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool, Progress() as progress:
        task = progress.add_task("loads", total=len(ALONE) + len(PACES))
        for clients in ALONE:
            order = ReadOrder(service.url, questions, clients, seconds)
            figures.append(_measure(pool, service, order, None, figures, wrong))
            progress.advance(task)
        for name, rate in PACES.items():
            order = ReadOrder(service.url, questions, READERS, seconds, rate)
            label = name.replace(" ", "-")
            writer = WriteOrder(service.url, texts, seconds, WRITES_A_SECOND, label, LOOKS_EVERY)
            figures.append(_measure(pool, service, order, writer, figures, wrong))
            progress.advance(task)
    _tell(figures, wrong)
    if as_json:
        console.print_json(orjson.dumps([asdict(one) for one in figures]).decode())


def wait_until_quiet(service: WatchedService) -> None:
    """Wait until a service does next to nothing by itself, two minutes at most."""
    for _ in range(_MOST_LOOKS):
        used = service.cpu_seconds()
        time.sleep(_QUIET_SECONDS)
        if service.cpu_seconds() - used < _QUIET_CORES * _QUIET_SECONDS:
            return
    console.print("[yellow]the service does not come to rest: its own work counts as the loads'")


def _measure(
    pool: Executor, service: WatchedService, order: ReadOrder, writer: WriteOrder | None,
    before: Sequence[LoadFigures], wrong: list[str],
) -> LoadFigures:  # fmt: skip
    """Run readers and writer in processes of their own; meanwhile poll /health/live from here."""
    used = service.cpu_seconds()
    writing = pool.submit(write, writer) if writer else None
    reading = pool.submit(read, order)
    stalls = _poll_while(order.url, [one for one in (reading, writing) if one])
    used = service.cpu_seconds() - used
    readers, writes = reading.result(), writing.result() if writing else WriteReport()
    wrong += [*readers.wrong, *writes.wrong]
    p50, p95 = (percentile(readers.milliseconds, share) for share in (0.5, 0.95))
    pace = f"{order.rate:g}/s together" if order.rate else "back to back"
    return LoadFigures(
        load=f"{order.clients} clients, {pace}" + (", beside writers" if writer else ""),
        p50=p50,
        p95=p95,
        p95_over_idle_p50=p95 / (before[0].p50 if before else p50),
        searches_a_second=len(readers.milliseconds) / readers.seconds,
        cpu_ms_a_search=used * 1000 / max(len(readers.milliseconds) + writes.searches, 1),
        cores=used / readers.seconds,
        clients_cpu_ms_a_search=readers.cpu_seconds * 1000 / max(len(readers.milliseconds), 1),
        writes_a_second=writes.rate,
        memories_a_second=writes.memories / writes.seconds if writes.seconds else 0.0,
        write_p50=percentile(writes.milliseconds, 0.5),
        write_p95=percentile(writes.milliseconds, 0.95),
        live_p95=percentile(stalls, 0.95),
        live_max=max(stalls, default=0.0),
        looked_for=writes.searches,
        wrong=len(readers.wrong) + len(writes.wrong),
    )


def _tell(figures: Sequence[LoadFigures], wrong: Sequence[str]) -> None:
    table = Table(
        "under load", "p50, p95 ms", "p95 / idle p50", "searches/s", "CPU ms a search", "cores",
        "clients' CPU ms", "writes/s (memories)", "write p50, p95", "/health/live p95, max",
        "looks", "wrong",
    )  # fmt: skip
    for one in figures:
        table.add_row(
            one.load, f"{one.p50:.1f}, {one.p95:.1f}", f"{one.p95_over_idle_p50:.1f}",
            f"{one.searches_a_second:.1f}", f"{one.cpu_ms_a_search:.1f}", f"{one.cores:.2f}",
            f"{one.clients_cpu_ms_a_search:.1f}",
            f"{one.writes_a_second:.1f} ({one.memories_a_second:.1f})",
            f"{one.write_p50:.1f}, {one.write_p95:.1f}", f"{one.live_p95:.1f}, {one.live_max:.1f}",
            str(one.looked_for), str(one.wrong),
        )  # fmt: skip
    console.print(table)
    console.print(
        f"aim: p95 at most 5 times the idle p50; nothing wrong. Writers try {WRITES_A_SECOND:g}/s; "
        f"of {LOOKS_EVERY} writes one is looked for at once, by words and by meaning. CPU is the "
        "service's, writes included."
    )
    for sentence in wrong[:5]:
        console.print(f"[red]{sentence[:300]}")


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
    report = ReadReport()
    # Lean ones: what clients use of the same cores the service lacks.
    async with (
        aiohttp.ClientSession(
            order.url,
            connector=aiohttp.TCPConnector(limit=order.clients),
            timeout=aiohttp.ClientTimeout(120),
        ) as session,
        asyncio.TaskGroup() as tasks,
    ):
        started, used = time.perf_counter(), time.process_time()
        for number in range(order.clients):
            tasks.create_task(_ask_on(order, number, session, started, report))
    report.seconds, report.cpu_seconds = time.perf_counter() - started, time.process_time() - used
    return report


async def _ask_on(
    order: ReadOrder,
    number: int,
    session: aiohttp.ClientSession,
    started: float,
    report: ReadReport,
) -> None:
    """Be one client: ask from another question on than the others; paced, at its own moments."""
    step = order.clients / order.rate if order.rate else 0.0
    turn = number * len(order.questions) // order.clients
    due = started + step * number / order.clients
    while max(due, time.perf_counter()) - started < order.seconds:
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        await _ask(session, order.questions[turn % len(order.questions)], report)
        turn, due = turn + 1, due + step


async def _ask(
    session: aiohttp.ClientSession, question: tuple[str, str | None], report: ReadReport
) -> None:
    query, scope = question
    body = orjson.dumps({"query": query, "limit": 10, "scope": scope})
    started = time.perf_counter()
    async with session.post("/search", data=body, headers=_JSON) as answer:
        content = await answer.read()
    report.milliseconds.append((time.perf_counter() - started) * 1000)
    if answer.status != 200:
        report.wrong.append(f"a reader was answered {answer.status}: {content.decode()}")
        return
    told = orjson.loads(content)
    if not told["results"] or any(scope not in {None, hit["scope"]} for hit in told["results"]):
        report.wrong.append(f"a reader in {scope} was shown another scope, or nothing at all")
    if told["receipt"]["missing_signals"]:
        report.wrong.append(f"a reader missed {told['receipt']['missing_signals']}")
