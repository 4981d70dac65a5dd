"""A loss behind the service's back is seen: rows, vectors and edges that go from a real store."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest

from scripts.chaos_rounds.asking import Asking, Notes
from scripts.chaos_rounds.comparing import compare
from scripts.chaos_rounds.ledger import Entry, Ledger, Paper, State, stored
from scripts.chaos_rounds.looking import faults_of_store, look, wait_until
from scripts.servers.hostile_embedder import HostileEmbedder, hostile_embedder
from service.store.address import StoreAddress
from service.store.database import Database
from service.store.queries import Query
from tests.servers.running import running_service

ENGINES = ("resident", "database")
WORDS = ("zybababababa", "zybobobobobo", "zybubububabu")


@pytest.fixture
def embedder() -> Iterator[HostileEmbedder]:
    with hostile_embedder() as running:
        yield running


def write(url: str) -> Ledger:
    """Store three memories in one session and a document, and keep the book of them."""
    asking, ledger = Asking(url, Notes()), Ledger()
    for minute, word in enumerate(WORDS):
        state = State(f"{word} met a GPU and a kettle.", word, f"About {word}", ("gpu",))
        body = {
            "text": state.text, "title": state.title, "tags": ["gpu"], "session": "one",
            "occurred_at": f"2026-02-01T00:0{minute}:00Z",
        }  # fmt: skip
        answer = asking.ask("POST", "/memories", json=body)
        entry = Entry("main", id=answer.body["id"])
        entry.settle(answer.verdict, stored(state))
        ledger.entries.append(entry)
    paper = Paper("main", "a.md", texts={"zyfafafafafa": "## Section\n\nzyfafafafafa is here.\n"})
    text = "# Paper\n\n" + paper.texts["zyfafafafafa"]
    answer = asking.ask("POST", "/ingest", json={"source": paper.uri, "text": text})
    paper.settle(answer.verdict, ("zyfafafafafa",))
    ledger.papers.append(paper)
    asking.close()
    return ledger


def seen(url: str, ledger: Ledger) -> tuple[list[str], list[str]]:
    """Return what the comparison tells, and the ids that the lists have."""
    with httpx.Client(base_url=url, timeout=30) as client:
        wait_until(lambda: client.get("/health/ready").status_code == 200, "ready")
        sight = look(client, ledger, Random(1))
    return compare(ledger, sight), [one["id"] for one in sight.memories["main"]]


def spoil(folder: Path, text: str, **params: Any) -> None:
    """Change a store that nobody holds."""

    async def run() -> None:
        db = Database(StoreAddress(f"surrealkv://{folder / 'store'}"))
        await db.run(Query("spoil", text, frozenset(params), writes=True), **params)
        await db.close()

    asyncio.run(run())


def test_a_row_that_goes_is_lost(tmp_path: Path, embedder: HostileEmbedder, engine: str) -> None:
    settings: dict[str, Any] = {
        "data_dir": tmp_path, "embedding_url": embedder.url, "search_engine": engine,
    }  # fmt: skip
    with running_service(**settings) as service:
        ledger = write(service.url)
        told, listed = seen(service.url, ledger)
        assert (told, len(listed)) == ([], 4)
    assert faults_of_store(tmp_path / "store", listed) == []

    spoil(tmp_path, "DELETE memory WHERE string::contains(content, $word)", word=WORDS[1])
    faults = faults_of_store(tmp_path / "store", listed)
    kinds = {fault.partition(":")[0] for fault in faults}
    assert kinds == {"graph", "skipped"}, faults
    with running_service(**settings) as service:
        told, _ = seen(service.url, ledger)
    assert any(one.startswith("lost: ") and WORDS[1] in one for one in told), told


def test_a_vector_that_is_lost_or_strange_is_told(
    tmp_path: Path, embedder: HostileEmbedder
) -> None:
    with running_service(data_dir=tmp_path, embedding_url=embedder.url) as service:
        ledger = write(service.url)
        _, listed = seen(service.url, ledger)
    store = tmp_path / "store"
    spoil(tmp_path, "UPDATE embedding SET vector = $vector", vector=bytes(range(64)))
    told = faults_of_store(store, listed)
    assert len(told) == len(listed)
    assert all(one.endswith("is not of its text") for one in told)
    spoil(tmp_path, "DELETE embedding")
    assert all("is embedded but has no vector" in one for one in faults_of_store(store, listed))
    spoil(tmp_path, "DELETE follows")
    assert any("follows is missing" in one for one in faults_of_store(store, listed))
