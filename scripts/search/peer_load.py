"""How many searches a second the peer answers when as many ask it as ask the service."""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

from rich.console import Console

from scripts.generated.notes import Note
from scripts.search.load import READERS, ReadOrder, read
from scripts.search.trials import Contender, InProcess, OverHttp, percentile


def measure_peers(
    contenders: Mapping[str, Contender], notes: Sequence[Note], seconds: float, console: Console
) -> None:
    """Ask each peer with as many threads of this process, back to back; print.

    No HTTP and no embedding: their vectors are made before. LanceDB works beside the GIL. One that
    is a service is asked by the clients that ask ours.
    """
    for name, peer in contenders.items():
        if isinstance(peer, OverHttp):
            _tell_served(name, peer, notes, seconds, console)
        elif isinstance(peer, InProcess):
            times, used = _ask_at_once(peer, notes, seconds)
            console.print(
                f"{name}, {READERS} threads back to back: {len(times) / seconds:.1f} searches/s, "
                f"p50, p95 {percentile(times, 0.5):.0f}, {percentile(times, 0.95):.0f} ms, "
                f"{used * 1000 / len(times):.1f} ms of CPU each"
            )


def _tell_served(
    name: str, peer: OverHttp, notes: Sequence[Note], seconds: float, console: Console
) -> None:
    url = f"http://{peer.connection.host}:{peer.connection.port}"
    order = ReadOrder(url, tuple((note.question, None) for note in notes), READERS, seconds)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        report = pool.submit(read, order).result()
    times = report.milliseconds
    console.print(
        f"{name}, {READERS} clients back to back: {len(times) / report.seconds:.1f} searches/s, "
        f"p50, p95 {percentile(times, 0.5):.0f}, {percentile(times, 0.95):.0f} ms"
    )


def _ask_at_once(
    peer: InProcess, notes: Sequence[Note], seconds: float
) -> tuple[list[float], float]:
    """Return the milliseconds of each answer, and the seconds of CPU of this process."""
    scopes = [note.draft.scope if peer.is_scoped else None for note in notes]
    asked = [
        (note.question, peer.embed(note.question), scope)
        for note, scope in zip(notes, scopes, strict=True)
    ]

    def ask_on(thread: int) -> list[float]:
        times, turn = [], thread * len(asked) // READERS
        while (started := time.perf_counter()) < end:
            peer.ask(*asked[turn % len(asked)])
            times.append((time.perf_counter() - started) * 1000)
            turn += 1
        return times

    used, end = time.process_time(), time.perf_counter() + seconds
    with ThreadPoolExecutor(READERS) as threads:
        found = [one for times in threads.map(ask_on, range(READERS)) for one in times]
    return found, time.process_time() - used
