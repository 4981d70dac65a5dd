"""A scan that ends between the file that a section left and the one that takes it in."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from service.errors import StoreUnavailable
from service.ingest import scan
from service.memories.changing import change_memory
from service.metadata import KEPT
from service.writing import pipeline
from tests.integration.test_crash import Killable, service_on, stored, wait_for_job
from tests.integration.test_moved_sections import OTHERS, OURS, SAID, begin, lay, put, told
from tests.integration.test_scanned_folders import Notes
from tests.servers.outer_embeddings import outer_embeddings
from tests.stores.graph_check import check
from tests.stores.killed import Killed
from tests.stores.open_store import START, open_store

LEFT: Final = "# Z\n\nAll the rest.\n"
# Long enough for a group of its own: what comes behind it is written later.
LONG: Final = "# B\n\n" + "A drill stands beside the crane and waits for the tide.\n" * 800


@pytest.fixture
async def notes(tmp_path: Path) -> AsyncIterator[Notes]:
    async with open_store(tmp_path) as opened:
        yield Notes(opened, tmp_path)


async def break_off(
    folder: Notes, monkeypatch: pytest.MonkeyPatch, *, files: int = 1, written: int = 1
) -> None:
    """Scan so many files at a time, and end after so many transactions."""
    with monkeypatch.context() as patched:
        patched.setattr(scan, "_GROUP_FILES", files)
        patched.setattr(pipeline, "write", Killed(written))
        with pytest.raises(StoreUnavailable):
            await folder.scan("notes")


async def rows(folder: Notes) -> list[dict[str, Any]]:
    found = await folder.opened.ask("SELECT * FROM leaving")
    assert isinstance(found, list)
    return found


async def set_ones(folder: Notes) -> dict[tuple[str, str], str]:
    return {place: one for place, one in (await told(folder)).items() if one}


def texts(service: Killable) -> dict[str, tuple[bool, str, str]]:
    """Return by text whether it is pinned, its tier and its file, with all that is quarantined."""
    asked = {"trust": ["trusted", "untrusted", "quarantined"], "limit": "1000"}
    found = httpx.get(f"{service.url}/memories", params=asked).json()["memories"]
    return {
        one["content"]: (one["pinned"], one["trust_tier"], one["source"]["uri"]) for one in found
    }


def address(service: Killable, text: str) -> str:
    found = httpx.get(f"{service.url}/memories", params={"limit": "1000"}).json()["memories"]
    [key] = [one["id"] for one in found if one["content"] == text]
    return f"{service.url}/memories/{key}"


def change(service: Killable, text: str, fields: dict[str, Any]) -> None:
    assert httpx.patch(address(service, text), json=fields).status_code == 200


@pytest.mark.slow
def test_what_was_set_outlives_a_process_that_is_killed_in_between(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text(OURS + "\n## Two\n\nNothing is set here.\n")
    with outer_embeddings() as embeddings:
        with service_on(tmp_path, embeddings.url) as service:
            assert httpx.post(f"{service.url}/ingest/scan", json={}).json()["failed"] == []
            change(service, "A crane.", {"pinned": True})
            vote = f"{address(service, 'A crane.')}/feedback"
            assert httpx.post(vote, json={"helpful": False}).json()["unhelpful"] == 1
            change(service, SAID, {"trust_tier": "quarantined"})
            for name, text in (("a.md", LEFT), ("b.md", LONG), ("c.md", OURS)):
                (folder / name).write_text(text)
            embeddings.hangs_on = SAID
            job = httpx.post(f"{service.url}/ingest/scan", json={"wait": False}).json()["job"]
            assert embeddings.is_hanging.wait(30)
            assert texts(service).keys().isdisjoint({"A crane.", SAID})
            service.kill()
        kept = stored(tmp_path).rows["leaving"]
        assert len(kept) == 2
        assert "crane" not in str(kept)
        assert "stranger" not in str(kept)
        embeddings.hangs_on = None
        embeddings.let_go.set()
        with service_on(tmp_path, embeddings.url) as service:
            assert wait_for_job(service, job)["failed"] == []
            found = texts(service)
            assert found["A crane."] == (True, "trusted", "c.md")
            assert found[SAID] == (False, "quarantined", "c.md")
            assert httpx.get(address(service, "A crane.")).json()["unhelpful"] == 1
    store = stored(tmp_path)
    assert store.rows["leaving"] == []
    assert check(store) == []


@pytest.mark.anyio
async def test_it_is_kept_until_a_scan_comes_to_its_end(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    await begin(notes, {"a.md": OURS, "b.md": OTHERS})
    lay(notes, {"a.md": LEFT, "b.md": OTHERS, "c.md": OURS})
    await break_off(notes, monkeypatch)
    assert await set_ones(notes) == {("b.md", "A pump."): "p"}
    assert len(await rows(notes)) == 2
    assert await notes.opened.complaints() == []
    # Nothing is written now: what is kept stays.
    await break_off(notes, monkeypatch, written=0)
    await notes.scan("notes")
    assert await set_ones(notes) == {
        ("b.md", "A pump."): "p", ("c.md", "A crane."): "p", ("c.md", SAID): "q",
    }  # fmt: skip
    assert await rows(notes) == []
    assert await notes.opened.complaints() == []


@pytest.mark.anyio
async def test_all_that_was_set_comes_back_as_it_was(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    await begin(notes, {"a.md": OURS})
    fields = {
        "importance": 0.9, "sensitivity": "private", "valid_from": START,
        "valid_until": START + timedelta(days=900, microseconds=1),
    }  # fmt: skip
    await put(notes, "A crane.", **fields)
    before = (await notes.sections())["a.md", "A crane."]
    lay(notes, {"a.md": LEFT, "c.md": OURS})
    await break_off(notes, monkeypatch)
    await notes.scan("notes")
    after = (await notes.sections())["c.md", "A crane."]
    assert {name: getattr(after, name) for name in KEPT} == {**fields, "pinned": True} | {
        "trust_tier": "trusted"
    }
    # A file that was touched is not news.
    assert after.occurred_at == before.occurred_at


@pytest.mark.anyio
async def test_a_scan_that_came_to_its_end_keeps_nothing_of_what_is_gone(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    await begin(notes, {"a.md": OURS})
    lay(notes, {"a.md": LEFT, "b.md": OTHERS})
    await break_off(notes, monkeypatch)
    lay(notes, {"a.md": LEFT})
    await notes.scan("notes")
    assert await rows(notes) == []
    lay(notes, {"a.md": LEFT, "c.md": OURS})
    await notes.scan("notes")
    assert await set_ones(notes) == {}


@pytest.mark.anyio
async def test_what_left_for_a_file_that_a_narrow_scan_does_not_read_is_kept(notes: Notes) -> None:
    await begin(notes, {"a.md": OURS})
    lay(notes, {"a.md": LEFT, "c.md": OURS})
    await notes.scan("notes", paths=(str(notes.place / "notes" / "a.md"),))
    assert await set_ones(notes) == {}
    await notes.scan("notes")
    assert await set_ones(notes) == {("c.md", "A crane."): "p", ("c.md", SAID): "q"}
    assert await rows(notes) == []


@pytest.mark.anyio
async def test_of_two_that_said_the_same_the_quarantined_one_counts(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    await begin(notes, {"a.md": OURS, "b.md": OURS})
    sections, pipe = await notes.sections(), notes.opened.pipeline
    pin = {"trust_tier": "trusted", "pinned": True}
    await change_memory(pipe, sections["b.md", SAID], pin)
    # The other way round, so that one of both is read first, whatever the ids.
    await change_memory(pipe, sections["b.md", "A crane."], {"trust_tier": "quarantined"})
    lay(notes, {"a.md": LEFT, "b.md": LEFT, "c.md": OURS, "d.md": OURS.replace("# A\n", "# D\n")})
    await break_off(notes, monkeypatch, files=2)
    assert len(await rows(notes)) == 4
    await notes.scan("notes")
    assert await set_ones(notes) == {
        ("c.md", "A crane."): "pq", ("c.md", SAID): "q", ("d.md", SAID): "q",
    }  # fmt: skip
