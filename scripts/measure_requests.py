"""Measure what requests take beside a search in a large store: pages, counts, one memory's story.

    scripts/measure_requests.py [--memories 100000] [--store DIR] [--times 5] [--peer CHECKOUT]

A service runs on a copy of one store; with --peer a second one, of another checkout, on another
copy, and the two are asked in turns. Told is the median of each request over HTTP, by one client
who waits for each answer, and how many plain searches of the same run that is: what reads every
memory of a store stands out, whatever the machine. The embedder costs nothing. A store is built as
scripts/measure_search.py does, and kept below --store.
"""

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
from rich.console import Console
from rich.progress import track
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts.generated.notes import Note
from scripts.generated.store import StoreOrder
from scripts.measure_search import build_store
from scripts.search.trials import PLAIN, WARM_UP_QUESTIONS
from scripts.servers.processes import REPOSITORY
from scripts.servers.watched_service import Setup, fake_embedding_server, watched_service

console = Console(width=150)
_DIMENSIONS: Final = 384
_SESSION: Final = "measured"


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked; `{id}` in a path is a memory's, another one each time."""

    method: str
    path: str
    body: Mapping[str, Any] | None = None


# Of the filters most let nothing pass: that is where all there is was read.
REQUESTS: Final = {
    "a page of memories": Request("GET", "/memories"),
    "memories of a tag that none has": Request("GET", "/memories?tags=none"),
    "memories of a session that none was of": Request("GET", "/memories?session=none"),
    "memories of before all of them": Request("GET", "/memories?until=1970-01-01T00:00:00Z"),
    "memories of one kind": Request("GET", "/memories?kinds=handoff"),
    "a page of decisions": Request("GET", "/decisions"),
    "decisions of a tag that none has": Request("GET", "/decisions?tag=none"),
    "a page of concepts": Request("GET", "/concepts"),
    "concepts of a part that no name has": Request("GET", "/concepts?q=nowhere-at-all"),
    "stats": Request("GET", "/stats"),
    "the index against the store": Request("GET", "/index"),
    "the report of the graph": Request("GET", "/graph/report"),
    "a memory": Request("GET", "/memories/{id}"),
    "its lineage": Request("GET", "/memories/{id}/lineage"),
    "a session's context": Request("GET", f"/session-context?session={_SESSION}"),
    "a quarantine that takes none": Request("POST", "/trust/quarantine", {"session": "none"}),
    "a push": Request("POST", "/memories", {"session": _SESSION}),
    "a change": Request("PATCH", "/memories/{id}", {"importance": 0.7}),
    "a deletion": Request("DELETE", "/memories/{id}"),
}


def main() -> None:
    """Build the store, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--store", type=Path, help="keep the built store below this folder")
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--peer", type=Path, help="another checkout, compiled as this one is")
    asked = parser.parse_args()
    with ExitStack() as stack:
        shelf = asked.store or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        order = StoreOrder(asked.memories, _DIMENSIONS, "bytes", None)
        build_store(shelf / order.folder_name, order)
        url = stack.enter_context(fake_embedding_server(_DIMENSIONS))
        checkouts = [REPOSITORY, *([asked.peer.resolve()] if asked.peer else [])]
        clients = []
        for checkout in checkouts:
            copy = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "copy"
            other = shutil.ignore_patterns("lancedb-*")
            shutil.copytree(shelf / order.folder_name, copy, ignore=other)
            setup = Setup(copy, url, "resident", {}, checkout, sys.executable)
            service = stack.enter_context(watched_service(setup))
            clients.append(stack.enter_context(httpx.Client(base_url=service.url, timeout=600)))
        notes = order.notes().questions(WARM_UP_QUESTIONS + asked.times)
        tell(measure(clients, notes, asked.times))


def measure(
    clients: Sequence[httpx.Client], notes: Sequence[Note], times: int
) -> list[dict[str, float]]:
    """Return the median milliseconds of each request, by its name, for each client."""
    for note in notes[:WARM_UP_QUESTIONS]:
        for client in clients:
            search(client, note)
    took: list[dict[str, list[float]]] = [defaultdict(list) for _ in clients]
    ids = [ids_of(client, times * len(REQUESTS)) for client in clients]
    for number in track(range(times), "Asking …", console=console, transient=True):
        note = notes[WARM_UP_QUESTIONS + number]
        for client, mine in zip(clients, took, strict=True):
            mine[PLAIN].append(search(client, note))
        for name, request in REQUESTS.items():
            for client, mine, free in zip(clients, took, ids, strict=True):
                body = request.body
                if request.path == "/memories":
                    body = {**(body or {}), "text": f"{note.draft.content} Number {number}."}
                path = request.path.format(id=free.pop())
                mine[name].append(send(client, request.method, path, body))
    return [{name: statistics.median(each) for name, each in mine.items()} for mine in took]


def ids_of(client: httpx.Client, count: int) -> list[str]:
    """Return the ids of so many memories, the newest."""
    page = client.get("/memories", params={"limit": count}).raise_for_status().json()
    return [memory["id"] for memory in page["memories"]]


def search(client: httpx.Client, note: Note) -> float:
    """Ask a note's question; return the milliseconds."""
    return send(client, "POST", "/search", {"query": note.question, "limit": 10})


def send(client: httpx.Client, method: str, path: str, body: Mapping[str, Any] | None) -> float:
    """Send a request and return the milliseconds until its answer is here."""
    started = time.perf_counter()
    answer = client.request(method, path, json=body)
    milliseconds = (time.perf_counter() - started) * 1000
    answer.raise_for_status()
    return milliseconds


def tell(medians: Sequence[Mapping[str, float]]) -> None:
    """Print the table; of a peer behind this checkout."""
    table = Table("request", "ms", "plain searches")
    for column in ("the other's ms", "share of the other's") * (len(medians) > 1):
        table.add_column(column)
    for name, mine in medians[0].items():
        others = [each[name] for each in medians[1:]]
        table.add_row(
            name, f"{mine:.1f}", f"{mine / medians[0][PLAIN]:.1f}",
            *(told for other in others for told in (f"{other:.1f}", f"{mine / other:.2g}")),
        )  # fmt: skip
    console.print(table)


if __name__ == "__main__":
    main()
