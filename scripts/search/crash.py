"""Kill the service while it writes, start it again, and compare what it holds with what it said."""

import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Final

import httpx
from rich.console import Console

from scripts.generated.notes import Note
from scripts.search.writes import WriteOrder, WriteReport, Written, write
from scripts.servers.watched_service import Setup, WatchedService, index_state, start_service

_SECONDS_OF_WRITING: Final = 5.0
_WRITES_A_SECOND: Final = 50.0
# Tables by the names that /stats has for them; the others are called alike.
_STATS_NAMES: Final = {"memory": "memories", "concept": "concepts"}

console = Console(width=150)


def measure_crash(setup: Setup, notes: Sequence[Note]) -> None:
    """Write, kill with SIGKILL, start again; print the time to ready and all differences."""
    texts = tuple(note.draft.content for note in notes)
    service = start_service(setup)
    # Longer than until the kill: the writer is cut off in the middle of its work.
    order = WriteOrder(
        service.url, texts, 2 * _SECONDS_OF_WRITING, _WRITES_A_SECOND, "crash",
        looks_every=0,
    )  # fmt: skip
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        writing = pool.submit(write, order)
        time.sleep(_SECONDS_OF_WRITING)
        service.kill()
        report = writing.result()
    again = start_service(setup)
    try:
        _tell(again, report)
    finally:
        again.stop()


def _tell(again: WatchedService, report: WriteReport) -> None:
    with httpx.Client(base_url=again.url, timeout=600) as client:
        lost = [one.ref for one in report.alive if not _is_there(client, one)]
        risen = [one.ref for one in report.removed if _status(client, one) != 404]
        differences = compare_counts(client)
    console.print(
        f"killed while writing, after {len(report.milliseconds)} acknowledged writes: ready again "
        f"in {again.ready_seconds:.1f} s (aim at 100,000: 6 s); acknowledged and lost: "
        f"{len(lost)}; removed and back: {len(risen)}; "
        f"index against database: {'; '.join(differences) or 'equal'}"
    )
    for sentence in [*report.wrong, *lost, *risen][:5]:
        console.print(f"[red]{sentence}")


def _is_there(client: httpx.Client, one: Written) -> bool:
    """Say whether a memory stands as it was acknowledged and is found by its own word."""
    stored = client.get(f"/memories/{one.id}")
    body = {"query": one.word, "limit": 10, "weights": {"vector": 0, "graph": 0}}
    hits = client.post("/search", json=body).json()["results"]
    is_stored = stored.status_code == 200 and stored.json()["content"] == one.text
    return is_stored and one.id in {hit["id"] for hit in hits}


def _status(client: httpx.Client, one: Written) -> int:
    return client.get(f"/memories/{one.id}").status_code


def compare_counts(client: httpx.Client) -> list[str]:
    """Return in words where the index's counts differ from the database's."""
    state = index_state(client)
    if state is None:
        return ["this engine holds none"]
    stats = client.get("/stats").raise_for_status().json()
    counts = {_STATS_NAMES.get(n, n): count for n, count in state["agent"]["counts"].items()}
    told = {name: state["agent"][name] for name in ("drift", "left_out")}
    return [
        *(
            f"{name}: {count} indexed, {stats[name]} stored"
            for name, count in counts.items()
            if count != stats.get(name, count)
        ),
        *(f"{name}: {value}" for name, value in told.items() if value),
    ]
