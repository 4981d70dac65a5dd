"""A service that is killed while a scan moves sections with votes: each has its own in the end."""

import random
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.integration.test_crash import Killable, service_on, stored, wait_for_job
from tests.servers.outer_embeddings import outer_embeddings
from tests.stores.graph_check import Store, check
from tests.waiting import until

pytestmark = pytest.mark.slow

FILES = 120
KILLS = 2
# Where each section lies: the number of its file by its own.
Places = dict[int, int]


def _text(number: int) -> str:
    return f"The harbour crane number {number} lifts crates."


def _lay(folder: Path, places: Places, name: str) -> None:
    """Let the notes be these sections, in files of this name and a number."""
    folder.mkdir(exist_ok=True)
    files = dict.fromkeys(range(FILES), "")
    for number, file in sorted(places.items()):
        files[file] += f"## Part {number}\n\n{_text(number)}\n\n"
    kept = {f"{name}-{file}.md": text for file, text in files.items() if text}
    for path in folder.iterdir():
        if path.name not in kept:
            path.unlink()
    for called, text in kept.items():
        (folder / called).write_text(text, encoding="utf-8")


def _votes(store: Store) -> dict[str, list[list[Any]]]:
    """Return what is said of each section that has votes, by its text."""
    return {row["content"]: row["votes"] for row in store.rows["memory"] if row.get("votes")}


def _vote(service: Killable) -> None:
    """Say of every other section whether it helped."""
    found = httpx.get(f"{service.url}/memories", params={"limit": "1000"}).json()["memories"]
    for one in found:
        number = int(one["title"].removeprefix("Part "))
        if number % 2:
            path = f"{service.url}/memories/{one['id']}/feedback"
            told = httpx.post(path, json={"helpful": number % 3 == 0})
            assert told.status_code == 200, told.text


def _kill_amid(service: Killable, known: int) -> None:
    """Kill it as soon as there are more or fewer documents than were known, or soon."""
    ends = time.monotonic() + 5

    def is_time() -> bool:
        documents: int = httpx.get(f"{service.url}/stats").json()["documents"]
        return documents != known or time.monotonic() > ends

    until(is_time, every=0.01)
    service.kill()


def test_votes_are_where_the_words_are_however_often_it_is_killed(tmp_path: Path) -> None:
    chance = random.Random(7)
    notes, places = tmp_path / "notes", {number: number % FILES for number in range(2 * FILES)}
    _lay(notes, places, "first")
    with outer_embeddings() as embeddings:
        with service_on(tmp_path, embeddings.url) as service:
            scanned = httpx.post(f"{service.url}/ingest/scan", json={}, timeout=60).json()
            assert scanned["created"] == 2 * FILES
            _vote(service)
        wanted = _votes(stored(tmp_path))
        assert len(wanted) == FILES
        with service_on(tmp_path, embeddings.url) as service:
            # Most move to another file, and all files are called otherwise.
            moved = {number: chance.randrange(FILES) for number in places}
            _lay(notes, moved, "second")
            job = httpx.post(f"{service.url}/ingest/scan", json={"wait": False}).json()["job"]
            _kill_amid(service, FILES)
        amid = 0
        for _ in range(KILLS):
            state = stored(tmp_path)
            assert check(state) == []
            documents = state.rows["document"]
            amid += len({row["uri"].partition("-")[0] for row in documents}) == 2
            with service_on(tmp_path, embeddings.url) as service:
                _kill_amid(service, len(documents))
        assert amid
        with service_on(tmp_path, embeddings.url) as service:
            assert wait_for_job(service, job)["failed"] == []
    end = stored(tmp_path)
    assert check(end) == []
    assert _votes(end) == wanted
    assert end.rows["leaving"] == []
