"""Looking at everything once all is well again: over HTTP, and then at the store itself."""

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any, Final
from urllib.parse import quote

import httpx
import numpy as np

from scripts.chaos_rounds.asking import search_for
from scripts.chaos_rounds.comparing import Shown, Sight
from scripts.chaos_rounds.ledger import Ledger
from scripts.servers.hostile_embedder import DIMENSIONS
from service.store.address import StoreAddress
from service.store.database import Database
from service.store.vector_forms import read_vector
from service.text.titles import text_of
from tests.servers.outer_embeddings import vector_of
from tests.stores.graph_check import Store, check, read_store

# Vectors that wait are tried again after 15 s at most.
PATIENCE_SECONDS: Final = 45.0
_PAGES: Final = (1, 2, 3, 7)
_LARGE_PAGE: Final = 1000
# Two cores: the service and this process.
_THREADS: Final = 3
# float32 there and back.
_ALIKE: Final = 0.999


class NotWell(Exception):
    """Something did not become well in time; the text begins with the kind of the fault."""


def wait_until(is_so: Callable[[], bool], kind: str, seconds: float = PATIENCE_SECONDS) -> None:
    """Wait until something holds; raises NotWell."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if is_so():
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise NotWell(kind)


def look(client: httpx.Client, ledger: Ledger, chance: Random) -> Sight:
    """Ask for everything that the book speaks of."""
    sight = Sight(jobs={job: state_of(client, job) for job in ledger.jobs})
    for agent in ledger.agents():
        sight.memories[agent] = pages_of(client, agent, _LARGE_PAGE)
        sight.pages[agent] = pages_of(client, agent, chance.choice(_PAGES))
        if sight.memories[agent]:
            sight.without_vector[agent] = _read(client, f"/stats?agent={agent}")["without_vector"]
            answer = client.get(f"/index?agent={agent}")
            if answer.status_code == 200:
                sight.index[agent] = answer.json()
    keys = {entry.id: entry.agent for entry in ledger.entries if entry.id}
    words = {
        (entry.agent, state.word)
        for entry in ledger.entries
        if entry.is_certain
        for state in entry.possible
        if state
    }
    with ThreadPoolExecutor(_THREADS) as threads:
        sight.got = dict(threads.map(lambda one: _get(client, *one), keys.items()))
        sight.found = dict(threads.map(lambda one: _search(client, *one), sorted(words)))
    return sight


def state_of(client: httpx.Client, job: str) -> str:
    """Return a job's state; one that ended a week ago by the clock is forgotten."""
    answer = client.get(f"/ingest/jobs/{job}")
    return "forgotten" if answer.status_code == 404 else str(answer.json().get("state"))


def pages_of(client: httpx.Client, agent: str, limit: int) -> list[Shown]:
    """Return all memories of an agent by pages of this size; those that are archived too."""
    shown: list[Shown] = []
    path, cursor = f"/memories?agent={agent}&include_archived=true&limit={limit}", ""
    while True:
        answer = client.get(path + cursor)
        if answer.status_code == 404:
            return shown  # it has never stored anything
        page = answer.raise_for_status().json()
        shown += page["memories"]
        if page["next_cursor"] is None or len(shown) > 10_000:
            return shown
        cursor = f"&cursor={quote(page['next_cursor'])}"


def _read(client: httpx.Client, path: str) -> Any:
    return client.get(path).raise_for_status().json()


def _get(client: httpx.Client, key: str, agent: str) -> tuple[str, tuple[int, Shown | None]]:
    answer = client.get(f"/memories/{key}?agent={agent}")
    return key, (answer.status_code, answer.json() if answer.status_code == 200 else None)


def _search(client: httpx.Client, agent: str, word: str) -> tuple[tuple[str, str], list[str]]:
    answer = client.post("/search", json=search_for(word, agent)).raise_for_status().json()
    return (agent, word), [one["id"] for one in answer["results"]]


def faults_of_store(folder: Path, listed: Sequence[str]) -> list[str]:
    """Return what is wrong in the store of a stopped service; `listed` are the ids it showed."""
    return faults_of(asyncio.run(_stored(folder)), listed)


async def _stored(folder: Path) -> Store:
    db = Database(StoreAddress(f"surrealkv://{folder}"))
    try:
        return await read_store(db)
    finally:
        await db.close()


def faults_of(store: Store, listed: Sequence[str]) -> list[str]:
    """Return what is wrong in these rows: in the graph, in the vectors, and against the lists."""
    faults = [f"graph: {fault}" for fault in check(store)]
    if differing := store.memories.keys() ^ set(listed):
        faults.append(f"skipped: lists and the store differ by {sorted(differing)}")
    rows = {row["id"]: row for row in store.rows["memory"]}
    for row in store.rows["embedding"]:
        if memory := rows.get(row["id"]):
            told = (memory["heading_path"], memory["title"], memory["content"])
            text = text_of(*told, memory.get("search_headings") or ())
            if not _are_alike(read_vector(row["vector"]), text):
                faults.append(f"vectors: that of {row['id']} is not of its text")
    return faults


def _are_alike(stored: Any, text: str) -> bool:
    wanted = np.array(vector_of(text, DIMENSIONS), np.float32)
    if stored.shape != wanted.shape:
        return False
    length = float(np.linalg.norm(stored) * np.linalg.norm(wanted))
    return bool(float(stored @ wanted) > _ALIKE * length)
