"""What a writer tells of its rows is what the store holds: the index is as one that is loaded."""

import asyncio
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Final

import pytest

from service.errors import QueryFailed
from service.index.resident import follow
from service.index.resident.apply_commits import apply_to_all
from service.index.resident.engine import ResidentEngine
from service.index.resident.residency import Residency
from service.memories import storing
from service.memories.changing import change_memory
from service.memories.screening import Pushed
from service.memories.storing import find, remove, store
from service.store.database import Database, record
from service.store.queries import Query, load_query
from service.store.written_records import WrittenRecords
from tests.stores.open_store import INDEX_BYTES, OpenStore, open_store
from tests.stores.resident_index import told

pytestmark = pytest.mark.anyio

SEOUL: Final = timezone(timedelta(hours=9))
AT: Final = datetime(2026, 2, 13, 9, 30, 0, 123456, SEOUL)
WORDS: Final = ("kettle", "driver", "서울", "rag", "night")
DRIVERS: Final = '[[concept]]\nname = "Driver"\naliases = ["chauffeur"]\nrelated_to = ["Kettle"]\n'


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[OpenStore]:
    async with open_store(tmp_path, form="bytes") as own:
        yield own


def note(number: int, **more: Any) -> Pushed:
    """Return one of many notes that share names, sessions and tags."""
    text = (
        f"Kettle {number % 7} stands beside Driver {number % 3} in 서울 at night. "
        f"Retrieval Augmented Generation (RAG) of note{number} is told by Mara Lind."
    )
    return Pushed(
        text, title=f"Kettle {number % 5}", tags=("Steam", f"tag{number % 4}"),
        session=f"s{number // 9}", occurred_at=AT + timedelta(seconds=number),
        source_ref=f"note-{number}", importance=0.25, **more,
    )  # fmt: skip


async def followed(opened: OpenStore) -> dict[str, Any]:
    """Return all that the index holds which follows what is written."""
    assert isinstance(opened.engine, ResidentEngine)
    return told(await opened.engine.residency.index_of("main"), *WORDS)


async def loaded(opened: OpenStore) -> dict[str, Any]:
    """Return all that an index holds which is loaded at this moment."""
    return told(await Residency(opened.db, INDEX_BYTES, None).index_of("main"), *WORDS)


async def test_the_index_holds_what_one_that_is_loaded_would(opened: OpenStore) -> None:
    await followed(opened)  # from the beginning on
    until = AT + timedelta(days=9)
    notes = [
        note(n, valid_from=AT, valid_until=until) if n % 8 == 0 else note(n) for n in range(40)
    ]
    notes += [note(n, trust_tier="quarantined") for n in range(40, 44)]
    ids, _ = await store(opened.pipeline, notes)
    assert await followed(opened) == await loaded(opened)
    await opened.declare(DRIVERS)
    await store(opened.pipeline, [note(n, kind="decision", pinned=True) for n in range(30, 50)])
    assert await followed(opened) == await loaded(opened)
    await change_memory(opened.pipeline, await find(opened.db, ["main"], ids[3]), {"text": "Gone."})
    await change_memory(
        opened.pipeline, await find(opened.db, ["main"], ids[4]), {"archived": True}
    )
    for key in ids[5:12]:
        await remove(opened.pipeline, "main", key)
    await opened.read(
        "logs/night.md", "# Night\n\nThe Kettle boils.\n\n## Driver\n\nWaits in 서울.\n"
    )
    await opened.read("logs/night.md", "# Night\n\nThe Driver left.\n")
    assert await followed(opened) == await loaded(opened)
    assert await opened.complaints() == []


async def test_new_rows_are_not_read_again(
    opened: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await followed(opened)
    asked = list[dict[str, Any]]()
    run = Database.run

    async def watched(self: Database, query: Query, **params: Any) -> Any:
        if query.name == "current_rows":
            asked.append(params)
        return await run(self, query, **params)

    monkeypatch.setattr(Database, "run", watched)
    await store(opened.pipeline, [note(number) for number in range(12)])
    for table in ("memory", "embedding", "references", "follows", "related_to"):
        assert [params[table] for params in asked if params[table]] == []
    assert await followed(opened) == await loaded(opened)


async def test_one_that_is_mentioned_and_was_removed_by_hand_is_made_anew(
    opened: OpenStore,
) -> None:
    await store(opened.pipeline, [note(1), note(2)])
    for slug in ("mara_lind", "steam"):
        await opened.ask("DELETE type::record('concept', ['main', $slug])", slug=slug)
    ids, _ = await store(opened.pipeline, [note(3), note(4)])
    assert set(ids) <= set(await opened.memories_of("steam"))
    again = await opened.ask("SELECT VALUE record::id(id)[1] FROM concept")
    assert isinstance(again, list)
    assert "steam" in again


async def test_a_batch_of_several_groups_tells_what_became_of_each(
    opened: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storing, "_TRANSACTION_MEMORIES", 5)
    notes = [note(number) for number in range(17)]
    # Of another group: the same once more, and another text under the same name.
    notes[8] = notes[2]
    notes[14] = note(3, kind="decision")
    ids, synced = await store(opened.pipeline, notes)
    expected = ["created"] * 17
    expected[8], expected[14] = "duplicate", "updated"
    assert list(synced.actions) == expected
    assert sorted(set(ids)) == await opened.ids()
    assert await opened.complaints() == []


async def test_a_group_that_fails_leaves_those_before_it(
    opened: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storing, "_TRANSACTION_MEMORIES", 4)
    write = Database.write

    async def failing(self: Database, query: Query, params: dict[str, Any]) -> Any:
        texts = [row["content"] for row in params.get("memories", ())]
        if any("note9 " in text for text in texts):
            raise QueryFailed("the disk is not well")
        return await write(self, query, params)

    monkeypatch.setattr(Database, "write", failing)
    notes, tasks = [note(number) for number in range(20)], asyncio.all_tasks()
    with pytest.raises(QueryFailed):
        await store(opened.pipeline, notes)
    assert asyncio.all_tasks() <= tasks  # nobody goes on with the next group
    assert len(await opened.ids()) == 8
    # What is stored can be searched, and nothing is learned of what is not.
    assert await followed(opened) == await loaded(opened)
    monkeypatch.undo()
    _, synced = await store(opened.pipeline, notes)
    assert [synced.actions.count(one) for one in ("duplicate", "created")] == [8, 12]
    assert await opened.complaints() == []
    assert await followed(opened) == await loaded(opened)


async def test_a_group_is_linked_to_those_that_the_index_has_not_taken_in(
    opened: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storing, "_TRANSACTION_MEMORIES", 3)
    await store(opened.pipeline, [note(0)])  # of an agent who owns nothing no index is kept
    taken = (await followed(opened))["memories"]
    opened.db.after_write, take_in = None, opened.db.after_write
    # The tag of the last is a name that texts before it hold, also one of the group before.
    texts = ["The blue kiln smokes.", "A red one.", "Clay.", "Of the blue kiln.", "Two blue kilns."]
    pushed = [Pushed(text, source_ref=text) for text in texts]
    ids, _ = await store(
        opened.pipeline, [*pushed, Pushed("Ash."), Pushed("Soot.", tags=("blue kiln",))]
    )
    assert (await followed(opened))["memories"] == taken
    assert await opened.memories_of("blue_kiln") == sorted([ids[0], ids[3], ids[6]])
    opened.db.after_write = take_in
    await opened.db.taken_in()
    assert await followed(opened) == await loaded(opened)
    assert await opened.complaints() == []


async def test_a_memory_goes_before_the_one_after_it_was_taken_in(opened: OpenStore) -> None:
    await store(opened.pipeline, [note(20)])
    await followed(opened)
    opened.db.after_write, take_in = None, opened.db.after_write
    ids, _ = await store(opened.pipeline, [note(0), note(1), note(2)])
    await remove(opened.pipeline, "main", ids[0])
    opened.db.after_write = take_in
    await opened.db.taken_in()
    assert await followed(opened) == await loaded(opened)


async def test_a_memory_comes_again_before_its_end_was_taken_in(opened: OpenStore) -> None:
    ids, _ = await store(opened.pipeline, [note(0), note(1), note(2)])
    await followed(opened)
    opened.db.after_write, take_in = None, opened.db.after_write
    await remove(opened.pipeline, "main", ids[1])
    again, _ = await store(opened.pipeline, [Pushed("No name.", source_ref="note-1")])
    assert again == [ids[1]]
    opened.db.after_write = take_in
    await opened.db.taken_in()
    assert await followed(opened) == await loaded(opened)


async def test_what_followed_a_memory_that_came_again_follows_it_no_more(
    opened: OpenStore,
) -> None:
    pushed = [Pushed(f"Kettle {n}.", source_ref=f"note-{n}", session="s") for n in range(2)]
    ids, _ = await store(opened.pipeline, pushed)
    await followed(opened)
    opened.db.after_write, take_in = None, opened.db.after_write
    await remove(opened.pipeline, "main", ids[0])
    again, _ = await store(opened.pipeline, [replace(pushed[0], session=None)])
    assert again == [ids[0]]
    opened.db.after_write = take_in
    await opened.db.taken_in()
    assert await followed(opened) == await loaded(opened)


async def test_who_is_broken_off_leaves_no_older_row_behind(
    opened: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    [key], _ = await store(opened.pipeline, [note(0)])
    await followed(opened)
    opened.db.after_write, take_in = None, opened.db.after_write
    await change_memory(opened.pipeline, await find(opened.db, ["main"], key), {"text": "Kettle."})
    begun, may_go_on, apply = threading.Event(), threading.Event(), apply_to_all

    def slowly(*args: Any) -> list[str]:
        if not begun.is_set():
            begun.set()
            may_go_on.wait(10)
        return apply(*args)

    monkeypatch.setattr(follow, "apply_to_all", slowly)
    opened.db.after_write = take_in
    taking_in = asyncio.create_task(opened.db.taken_in())
    assert await asyncio.to_thread(begun.wait, 10)
    taking_in.cancel()
    asyncio.get_running_loop().call_later(1, may_go_on.set)
    await asyncio.wait([taking_in])
    await change_memory(opened.pipeline, await find(opened.db, ["main"], key), {"text": "Driver."})
    await asyncio.to_thread(may_go_on.wait, 10)
    await asyncio.sleep(0.1)
    assert await followed(opened) == await loaded(opened)


async def test_a_group_is_taken_in_while_the_next_is_written(
    opened: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storing, "_TRANSACTION_MEMORIES", 4)
    await store(opened.pipeline, [note(99)])
    assert isinstance(opened.engine, ResidentEngine)
    index = await opened.engine.residency.index_of("main")
    held, write = list[int](), Database.write

    async def watched(self: Database, query: Query, params: dict[str, Any]) -> Any:
        held.append(index.memories)
        return await write(self, query, params)

    monkeypatch.setattr(Database, "write", watched)
    await store(opened.pipeline, [note(number) for number in range(12)])
    # None waits for the one before it, but whoever sent them for all.
    assert held == [1, 1, 5]
    assert index.memories == 13
    assert await followed(opened) == await loaded(opened)


def test_what_else_a_write_names_is_read() -> None:
    written = WrittenRecords()
    news = written.reader()
    query = Query("own", "", frozenset({"rows", "counts"}), writes=True, whole=frozenset({"rows"}))
    rows = [{"id": record("concept", ["main", slug]), "name": slug} for slug in ("one", "two")]
    counts = [{"id": record("concept", ["main", "two"]), "by": 1, "of": record("memory", "m")}]
    written.add(*written.told_by(query, {"rows": rows, "counts": counts}))
    # What a row refers to is not written by it.
    assert news.take() == {
        ("concept", ("main", "one")): rows[0],
        ("concept", ("main", "two")): None,
    }
    written.add(*written.told_by(query, {"rows": rows, "counts": []}))
    written.add(frozenset({("concept", ("main", "one"))}))
    assert news.take()["concept", ("main", "one")] is None
    # Nobody listens, nobody is told.
    del news
    assert written.told_by(query, {"rows": rows, "counts": []})[1] == {}


def test_whole_variables_are_taken_ones() -> None:
    for table in ("memory", "embedding", "references", "related_to", "follows"):
        query = load_query("service.writing.tables", table)
        assert query.whole
        assert query.whole <= query.takes


def test_moments_are_told_in_utc() -> None:
    row = storing.draft_of(note(1, valid_from=AT)).row()
    assert row["occurred_at"].tzinfo is UTC
    assert row["valid_from"] == AT.astimezone(UTC)
