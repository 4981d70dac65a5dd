"""Two services on one database server that scan the same folder at once, as replicas do."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from service.store.address import StoreAddress
from tests.servers.outer_embeddings import outer_embeddings
from tests.servers.running import RunningService, running_service
from tests.servers.surreal_server import Credentials, SurrealProcess
from tests.stores.open_store import OpenStore
from tests.stores.template import lay_store

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

PASSWORD = Credentials().password
ROUNDS = 6
FILES = 12
SECTIONS = 60


@contextmanager
def replica(database: SurrealProcess, embedding_url: str, notes: Path) -> Iterator[RunningService]:
    with running_service(
        database_url=database.url, database_user="root", database_password=PASSWORD,
        embedding_url=embedding_url, sources=(notes,),
    ) as service:  # fmt: skip
        yield service


def _section(number: int, words: str) -> str:
    return f"## Part {number}\n\nThe harbour crane number {number} {words}.\n\n"


def _change(chance: random.Random, parts: dict[int, tuple[int, str]]) -> None:
    """Let a few sections move to another file, change, go and come."""
    for number in chance.sample(sorted(parts), 8):
        place, words = parts[number]
        deed = chance.choice(("move", "change", "go"))
        if deed == "move":
            parts[number] = chance.randrange(FILES), words
        elif deed == "change":
            parts[number] = place, f"lifts {chance.randrange(10**6)} crates of {number}"
        else:
            del parts[number]
    for _ in range(3):
        number = max(parts) + 1
        parts[number] = chance.randrange(FILES), f"is new and lifts {number} barrels"


def _write(notes: Path, parts: dict[int, tuple[int, str]]) -> None:
    for place in range(FILES):
        own = [_section(n, words) for n, (at, words) in sorted(parts.items()) if at == place]
        path = notes / f"{place}.md"
        if own:
            path.write_text("".join(own))
        else:
            path.unlink(missing_ok=True)


def _scan(service: RunningService) -> dict[str, Any]:
    answer = service.client.post("/ingest/scan", json={})
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def _stored(service: RunningService) -> list[dict[str, Any]]:
    memories: list[dict[str, Any]] = service.client.get("/memories?limit=1000").json()["memories"]
    return memories


def _wanted(parts: dict[int, tuple[int, str]]) -> list[tuple[str, str, bool]]:
    """Return file, text and whether it is pinned of each section."""
    return sorted(
        (f"{place}.md", f"The harbour crane number {number} {words}.", _is_pinned(number))
        for number, (place, words) in parts.items()
    )


def _has_vote(number: int) -> bool:
    return number < SECTIONS and number % 3 == 0


async def _voted(opened: OpenStore) -> list[tuple[str, str]]:
    """Return file and text of the sections that have the one vote that was given each."""
    text = "SELECT source.uri AS uri, content, votes FROM memory WHERE votes IS NOT NONE"
    rows = await opened.ask(text)
    assert isinstance(rows, list)
    assert [row["votes"] for row in rows] == [[["local", True]]] * len(rows)
    return sorted((row["uri"], row["content"]) for row in rows)


def _is_pinned(number: int) -> bool:
    return number < SECTIONS and number % 4 == 0


async def test_what_both_read_stands_once_and_as_the_files_have_it(
    tmp_path: Path, embedding_url: str
) -> None:
    notes = tmp_path / "memory"
    notes.mkdir()
    lay_store(tmp_path / "store")
    chance = random.Random(1)
    parts = {n: (n % FILES, f"lifts {n} crates") for n in range(SECTIONS)}
    async with SurrealProcess(tmp_path / "store") as database:
        with (
            replica(database, embedding_url, notes) as first,
            replica(database, embedding_url, notes) as second,
            ThreadPoolExecutor(2) as threads,
        ):
            _write(notes, parts)
            _scan(first)
            for one in _stored(first):
                number = int(one["title"].removeprefix("Part "))
                path = f"/memories/{one['id']}"
                if _is_pinned(number):
                    assert first.client.patch(path, json={"pinned": True}).status_code == 200
                if _has_vote(number):
                    vote = second.client.post(f"{path}/feedback", json={"helpful": True})
                    assert vote.json()["helpful"] == 1
            for turn in range(ROUNDS):
                _change(chance, parts)
                _write(notes, parts)
                for told in list(threads.map(_scan, (first, second))):
                    assert told["failed"] == [], turn
                held = [
                    (one["source"]["uri"], one["content"], one["pinned"]) for one in _stored(first)
                ]
                assert sorted(held) == _wanted(parts), turn
            again = _scan(first)
            assert (again["created"], again["updated"], again["removed"]) == (0, 0, 0), again
        with outer_embeddings() as embeddings:
            opened = OpenStore(tmp_path, embeddings, StoreAddress(database.url, "root", PASSWORD))
            try:
                assert await opened.complaints() == []
                assert await _voted(opened) == [
                    (place, words)
                    for place, words, _ in _wanted(parts)
                    if _has_vote(int(words.split()[4]))
                ]
            finally:
                await opened.close()
