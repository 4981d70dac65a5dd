"""Snapshots of the index in RAM: as good as a load, or refused; nothing deleted stays."""

import asyncio
import itertools
import json
import logging
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from service.access.caller import LOCAL, Caller
from service.errors import WriteConflict
from service.index.resident import array_file, own_writes
from service.index.resident import residency as residencies
from service.index.resident import snapshots as module
from service.index.resident.agent_index import AgentIndex
from service.index.resident.array_file import Unreadable, map_arrays, read_facts, write_arrays
from service.index.resident.index_file import restore_index
from service.index.resident.residency import Residency
from service.index.resident.saved import Saved
from service.index.resident.snapshots import Expected, facts_and_expected
from service.index.resident.vectors import VectorIndex
from service.memories.changing import change_memory
from service.memories.screening import Pushed
from service.memories.storing import find, remove, store
from service.memories.voting import vote
from service.opening import open_parts
from service.settings import Settings
from service.store import engine_memory, room, write_log
from service.store.database import Database
from service.store.schema import SCHEMA_VERSION
from service.text.digests import digest
from tests.servers.running import REPOSITORY
from tests.stores.open_store import START, OpenStore, open_store
from tests.stores.resident_index import PLENTY_BYTES, Row, told
from tests.stores.template import SCHEMA

pytestmark = pytest.mark.anyio

WORDS = ("kettle", "harbour", "driver", "secret", "memory", "anna", "gpu")
VOCABULARY = [
    "kettle", "harbour", "driver", "running", "memories", "기억을", "東京", "v2.3.1", "the",
    "Anna Berg", "RTX 5070", "src/app.py",
]  # fmt: skip
CONCEPTS = """
[[concept]]
name = "GPU"
aliases = ["graphics card"]
is_a = ["hardware"]
related_to = ["driver", "kettle"]
"""


@pytest.fixture(autouse=True)
def of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FEWEST_MEMORIES", 1)


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[OpenStore]:
    async with open_store(tmp_path, form="bytes") as open_one:
        yield open_one


def residency_of(db: Database, folder: Path | None) -> Residency:
    """Return the indexes of a service that has just started."""
    return Residency(db, PLENTY_BYTES, None, snapshots=folder)


async def fresh(db: Database, folder: Path | None = None, agent: str = "main") -> AgentIndex:
    return await residency_of(db, folder).index_of(agent)


async def take(db: Database, folder: Path, agent: str = "main") -> Path:
    """Take a snapshot as a service does that ends; return its file."""
    residency = residency_of(db, folder)
    await residency.index_of(agent)
    await residency.take_snapshots()
    [file] = files_in(folder)
    return file


def files_in(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []


@asynccontextmanager
async def reopened(opened: OpenStore) -> AsyncIterator[Database]:
    await opened.db.close()
    db = Database(opened.db.address)
    await db.open(SCHEMA)
    try:
        yield db
    finally:
        await db.close()


@contextmanager
def log_of(caplog: pytest.LogCaptureFixture, level: int = logging.WARNING) -> Iterator[list[str]]:
    """Collect what the log says of snapshots from a level on."""
    said: list[str] = []
    caplog.clear()
    with caplog.at_level(level, module.__name__):
        yield said
    said += [one.getMessage() for one in caplog.records if one.name == module.__name__]


async def begin_to_take(
    residency: Residency, monkeypatch: pytest.MonkeyPatch
) -> tuple[asyncio.Task[None], threading.Event]:
    """Take a snapshot whose file is about to be written; it is, once the event is set."""
    begun, may_go_on = threading.Event(), threading.Event()

    def write_slowly(path: Path, saved: Saved) -> None:
        begun.set()
        assert may_go_on.wait(60)
        write_arrays(path, saved)

    monkeypatch.setattr(module, "write_arrays", write_slowly)
    taking = asyncio.create_task(residency.take_snapshots())
    assert await asyncio.to_thread(begun.wait, 60)
    return taking, may_go_on


async def fill(opened: OpenStore, chance: random.Random, count: int) -> list[str]:
    """Push random memories; returns their ids."""
    pushed = [
        Pushed(
            " ".join(chance.choices(VOCABULARY, k=chance.randint(1, 9))) + f" number {n}",
            title=chance.choice([None, "Blue Harbour", "GPU"]),
            scope=chance.choice([None, "home", "gpu"]),
            tags=tuple(chance.sample(["a", "b", "c"], chance.randint(0, 2))),
            concepts=tuple(chance.sample(["GPU", "driver", "kettle"], chance.randint(0, 2))),
            session=chance.choice([None, "s1", "s2"]),
            trust_tier=chance.choice(["trusted", "trusted", "untrusted"]),
            valid_until=chance.choice([None, None, START.replace(year=2126)]),
        )
        for n in range(count)
    ]
    ids, _ = await store(opened.pipeline, pushed)
    return ids


async def alter(opened: OpenStore, chance: random.Random, keys: list[str]) -> list[str]:
    """Change, delete and add some memories; returns those that are there."""
    left = list(dict.fromkeys(keys))
    for _ in range(6):
        deed = chance.choice(["delete", "archive", "scope", "vote", "add"]) if left else "add"
        if deed == "add":
            left = list(dict.fromkeys([*left, *await fill(opened, chance, 2)]))
            continue
        key = chance.choice(left)
        if deed == "delete":
            await remove(opened.pipeline, "main", key)
            left.remove(key)
            continue
        if deed == "vote":
            await vote(opened.db, LOCAL, "main", key, helpful=chance.choice([True, False, None]))
            continue
        memory = await find(opened.db, ["main"], key)
        change = {"archived": True} if deed == "archive" else {"scope": "office"}
        await change_memory(opened.pipeline, memory, change)
    return left


@pytest.mark.parametrize("seed", range(4))
async def test_random_stores_start_as_if_they_were_read(
    opened: OpenStore, tmp_path: Path, seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    chance = random.Random(seed)
    await opened.declare(CONCEPTS)
    keys = await alter(opened, chance, await fill(opened, chance, chance.choice([1, 8, 40])))
    keys += await fill(opened, chance, 1)
    await take(opened.db, tmp_path / "index")
    # Killed here: what is written now is in the store and in no file.
    await alter(opened, chance, keys)
    async with reopened(opened) as db:
        with log_of(caplog) as said:
            index = await fresh(db, tmp_path / "index")
        assert said == []
        assert told(index, *WORDS) == told(await fresh(db), *WORDS)
        # What is mapped can be written to: the file stays as it is.
        assert told(await fresh(db, tmp_path / "index")) == told(index)


async def test_a_snapshot_has_the_votes_and_those_behind_it_are_read(
    opened: OpenStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    keys = await opened.push("A kettle.", "A harbour.", "A driver.", "A bunny.")
    for key in keys[:3]:
        await vote(opened.db, LOCAL, "main", key, helpful=True)
    await take(opened.db, tmp_path / "index")
    await vote(opened.db, LOCAL, "main", keys[1], helpful=None)
    await vote(opened.db, Caller("another"), "main", keys[2], helpful=False)
    async with reopened(opened) as db:
        with log_of(caplog) as said:
            from_file = await fresh(db, tmp_path / "index")
        assert said == []
        for index in (from_file, await fresh(db)):
            assert told(index)["votes"] == {keys[0]: (1, 0), keys[2]: (1, 1)}


async def test_votes_that_moved_behind_a_snapshot_are_where_their_words_are(
    opened: OpenStore, tmp_path: Path
) -> None:
    await opened.read("a.md", "# A\n\n## One\n\nA crane.\n")
    [old] = await opened.ids()
    await vote(opened.db, LOCAL, "main", old, helpful=True)
    await take(opened.db, tmp_path / "index")
    await opened.read("a.md", "# A\n\n## Two\n\nA crane.\n")
    [new] = await opened.ids()
    assert new != old
    async with reopened(opened) as db:
        for index in (await fresh(db, tmp_path / "index"), await fresh(db)):
            assert told(index)["votes"] == {new: (1, 0)}


async def test_a_store_that_began_empty_starts_from_its_first_snapshot(
    opened: OpenStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    residency = residency_of(opened.db, tmp_path / "index")
    residency.expect(["main"])
    opened.db.after_write = residency.follower.after_write
    assert (await residency.index_of("main")).memories == 0
    await fill(opened, random.Random(31), 5)
    await residency.take_snapshots()
    [file] = files_in(tmp_path / "index")
    assert read_facts(file)["expected"]["fingerprint"]
    with log_of(caplog) as said:
        assert (await fresh(opened.db, tmp_path / "index")).memories == 5
    assert said == []


def test_an_index_that_began_empty_fits_no_model_that_is_scanned_in_part() -> None:
    index = AgentIndex("main", VectorIndex(8))
    assert Expected("main", "f", 8, None).fits(index)
    assert not Expected("main", "f", 8, 4).fits(index)
    assert Expected("main", "f", 8, 4).fits(AgentIndex("main", VectorIndex(8, 4)))


async def test_what_was_deleted_and_came_back_lost_what_hung_on_it(
    opened: OpenStore, tmp_path: Path
) -> None:
    await opened.declare(CONCEPTS)
    await opened.read("a.md", "# A\n\n## One\n\nA kettle, and its GPU.\n")
    await opened.read("b.md", "# B\n\n## Two\n\nA kettle, and its GPU.\n")
    await take(opened.db, tmp_path / "index")
    await opened.read("a.md", "")
    await opened.read("a.md", "# A\n\n## One\n\nNothing.\n")
    async with reopened(opened) as db:
        index = await fresh(db, tmp_path / "index")
        assert told(index) == told(await fresh(db))


@pytest.mark.parametrize("gone", range(3))
async def test_what_followed_a_memory_that_was_deleted_and_came_back_follows_it_no_more(
    opened: OpenStore, tmp_path: Path, gone: int
) -> None:
    pushed = [Pushed(f"Kettle {n}.", source_ref=f"note-{n}", session="s") for n in range(3)]
    keys, _ = await store(opened.pipeline, pushed)
    await take(opened.db, tmp_path / "index")
    await remove(opened.pipeline, "main", keys[gone])
    again, _ = await store(opened.pipeline, [replace(pushed[gone], session=None)])
    assert again == [keys[gone]]
    async with reopened(opened) as db:
        index = await fresh(db, tmp_path / "index")
        assert told(index) == told(await fresh(db))


@pytest.mark.parametrize("is_mapped", [True, False])
async def test_what_a_file_takes_in_ram_is_not_the_engines(
    opened: OpenStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_mapped: bool
) -> None:
    await opened.push("The kettle is blue.")
    await take(opened.db, tmp_path / "snapshots")
    held = itertools.count(500_000_000, 150_000_000)
    async with reopened(opened) as db:
        # Whatever is done makes the process grow by much.
        monkeypatch.setattr(engine_memory, "resident_bytes", lambda: next(held))
        await fresh(db, tmp_path / "snapshots" if is_mapped else None)
        monkeypatch.setattr(engine_memory, "resident_bytes", lambda: 10**12)
        assert db.memory.has_grown(0) != is_mapped


async def test_what_is_mapped_follows_new_writes(opened: OpenStore, tmp_path: Path) -> None:
    chance = random.Random(1)
    keys = await fill(opened, chance, 30)
    file = await take(opened.db, tmp_path / "index")
    before = file.read_bytes()
    residency = residency_of(opened.db, tmp_path / "index")
    index = await residency.index_of("main")
    for _ in range(3):
        keys = await alter(opened, chance, keys)
        await residency.follower.catch_up()
        assert told(index, *WORDS) == told(await fresh(opened.db), *WORDS)
        assert await residency.take_census("main") == {}
    assert file.read_bytes() == before


async def test_the_end_of_many_rounds_is_the_same(opened: OpenStore, tmp_path: Path) -> None:
    chance = random.Random(2)
    keys = await fill(opened, chance, 12)
    for _ in range(5):
        keys = await alter(opened, chance, keys)
        await take(opened.db, tmp_path / "index")
    index = await fresh(opened.db, tmp_path / "index")
    assert told(index, *WORDS) == told(await fresh(opened.db), *WORDS)


async def test_the_log_begins_anew_with_each_snapshot_and_ends_when_it_is_long(
    opened: OpenStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged = "SELECT VALUE records FROM written"
    await fill(opened, random.Random(3), 5)
    assert await opened.ask(logged) == []
    await take(opened.db, tmp_path / "index")
    await fill(opened, random.Random(4), 5)
    assert await opened.ask(logged) != []
    await take(opened.db, tmp_path / "index")
    assert await opened.ask(logged) == []
    monkeypatch.setattr(write_log, "MOST_LOGGED", 3)
    await fill(opened, random.Random(5), 5)
    assert await opened.ask(logged) == []
    assert await opened.db.meta("snapshot") == {}
    # Without a valid one nothing is logged, and none is used.
    async with reopened(opened) as db:
        assert not db.write_log.is_on


async def test_what_was_logged_before_a_restart_counts_towards_too_much(
    opened: OpenStore, tmp_path: Path
) -> None:
    await fill(opened, random.Random(3), 5)
    await take(opened.db, tmp_path / "index")
    await fill(opened, random.Random(4), 5)
    logged = opened.db.write_log.records
    async with reopened(opened) as db:
        await fresh(db, tmp_path / "index")
        assert 0 < db.write_log.records <= logged


async def test_a_file_cut_short_anywhere_is_not_used(
    opened: OpenStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await fill(opened, random.Random(3), 5)
    file = await take(opened.db, tmp_path / "index")
    whole, expected = file.read_bytes(), told(await fresh(opened.db), *WORDS)
    chance = random.Random(3)
    for length in [0, 1, 100, *(chance.randrange(len(whole) // 2) for _ in range(20))]:
        file.write_bytes(whole[:length])
        with log_of(caplog) as said:
            assert told(await fresh(opened.db, tmp_path / "index"), *WORDS) == expected
        assert "is not used: " in said[0]


async def test_flipped_bits_are_refused_or_do_no_harm(
    opened: OpenStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    keys = await fill(opened, random.Random(4), 20)
    file = await take(opened.db, tmp_path / "index")
    await remove(opened.pipeline, "main", keys[3])  # what the log tells comes in as well
    added = (await fill(opened, random.Random(5), 1))[0]
    whole, expected = file.read_bytes(), told(await fresh(opened.db), *WORDS)
    assert added in expected["memories"]
    # Most of so small a file is room to grow, which nothing is read of.
    full = [place for place, byte in enumerate(whole) if byte]
    chance, refused = random.Random(4), 0
    for number in range(100):
        flipped = bytearray(whole)
        place = chance.choice(full) if number % 2 else chance.randrange(len(whole))
        flipped[place] ^= 1 << chance.randrange(8)
        file.write_bytes(flipped)
        with log_of(caplog) as said:
            assert told(await fresh(opened.db, tmp_path / "index"), *WORDS) == expected
        refused += bool(said)
    assert refused >= 45


async def test_a_snapshot_of_another_store_is_not_used(
    opened: OpenStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await fill(opened, random.Random(6), 5)
    file = await take(opened.db, tmp_path / "index")
    async with open_store(tmp_path / "other", form="bytes") as other:
        await fill(other, random.Random(7), 5)
        with log_of(caplog) as said:
            index = await fresh(other.db, tmp_path / "index")
        assert "it is of another store, or of another moment" in said[0]
        assert told(index, *WORDS) == told(await fresh(other.db), *WORDS)
    assert file.exists()


async def test_a_snapshot_of_another_agent_is_not_used(
    opened: OpenStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await fill(opened, random.Random(6), 3)
    await store(opened.pipeline, [Pushed("the secret of another", agent="other")])
    file = await take(opened.db, tmp_path / "index")
    shutil.copy(file, file.with_name(f"{digest('other') & (2**64 - 1):016x}-copied.index"))
    with log_of(caplog) as said:
        index = await fresh(opened.db, tmp_path / "index", "other")
    assert "its agent is 'main', not 'other'" in said[0]
    assert told(index, *WORDS) == told(await fresh(opened.db, agent="other"), *WORDS)


@pytest.mark.parametrize(
    ("name", "level"),
    [("schema", logging.INFO), ("expected", logging.WARNING), ("format", logging.INFO),
     ("stamp", logging.WARNING)],
)  # fmt: skip
async def test_a_snapshot_of_other_circumstances_is_not_used(
    opened: OpenStore, tmp_path: Path, name: str, level: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Each start of another version meets one that the last left: nobody has to do anything."""
    await fill(opened, random.Random(8), 3)
    file = await take(opened.db, tmp_path / "index")
    saved = map_arrays(file)
    other = {"token": "another", "number": 0}
    write_arrays(file, Saved({**saved.facts, name: other}, saved.arrays, saved.by_row))
    with log_of(caplog, logging.INFO) as said:
        index = await fresh(opened.db, tmp_path / "index")
    assert "a snapshot of agent main is not used: " in said[0]
    assert level == next(one.levelno for one in caplog.records if one.getMessage() == said[0])
    assert told(index, *WORDS) == told(await fresh(opened.db), *WORDS)


async def test_a_store_brought_back_from_a_copy_is_read(
    opened: OpenStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await fill(opened, random.Random(11), 3)
    await take(opened.db, tmp_path / "index")
    await opened.db.close()
    shutil.copytree(tmp_path / "store", tmp_path / "backup")
    async with open_store(tmp_path, form="bytes") as later:
        await fill(later, random.Random(12), 3)
        await take(later.db, tmp_path / "index")
    shutil.rmtree(tmp_path / "store")
    shutil.move(tmp_path / "backup", tmp_path / "store")
    async with open_store(tmp_path, form="bytes") as back:
        await fill(back, random.Random(13), 5)
        with log_of(caplog) as said:
            index = await fresh(back.db, tmp_path / "index")
        assert "another moment" in said[0]
        assert told(index, *WORDS) == told(await fresh(back.db), *WORDS)


async def test_an_older_program_refuses_a_store_whose_writes_are_logged(opened: OpenStore) -> None:
    """It would log nothing, and the next start would believe an old file."""
    assert (await opened.db.meta("schema"))["version"] == SCHEMA_VERSION >= 3


async def test_a_disk_that_fills_up_is_told_and_the_old_file_stays(
    opened: OpenStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await fill(opened, random.Random(14), 30)
    file = await take(opened.db, tmp_path / "index")
    before = file.read_bytes()
    await fill(opened, random.Random(15), 2)
    residency = residency_of(opened.db, tmp_path / "index")
    await residency.index_of("main")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, limits[1]))
    try:
        with log_of(caplog) as said:
            await residency.take_snapshots()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "File too large" in said[0]
    assert [path.read_bytes() for path in (tmp_path / "index").iterdir()] == [before]
    # The old one is still good, with what was written since.
    with log_of(caplog) as said:
        index = await fresh(opened.db, tmp_path / "index")
    assert said == []
    assert told(index, *WORDS) == told(await fresh(opened.db), *WORDS)


@pytest.mark.parametrize("is_read", [True, False])
async def test_a_folder_that_is_none_is_told(
    opened: OpenStore, tmp_path: Path, caplog: pytest.LogCaptureFixture, *, is_read: bool
) -> None:
    await fill(opened, random.Random(16), 3)
    folder = tmp_path / "index"
    if is_read:
        file = await take(opened.db, folder)
        file.unlink()
        file.mkdir()
    else:
        folder.write_text("a file")
    residency = residency_of(opened.db, folder)
    with log_of(caplog) as said:
        index = await residency.index_of("main")
        if not is_read:
            await residency.take_snapshots()
    assert "Is a directory" in said[0] if is_read else "no snapshot was taken" in said[0]
    assert told(index, *WORDS) == told(await fresh(opened.db), *WORDS)


async def test_a_folder_that_nobody_may_look_into_is_told(
    opened: OpenStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The service would begin anew every five seconds, and never be ready."""
    await fill(opened, random.Random(16), 3)
    folder = tmp_path / ("x" * 300)  # no file system looks for such a name
    with log_of(caplog) as said:
        index = await fresh(opened.db, folder)
    assert f"no snapshot is looked for in {folder}: " in said[0]
    assert told(index, *WORDS) == told(await fresh(opened.db), *WORDS)


async def test_what_failed_is_not_tried_again_at_once_but_where_something_is_deleted(
    opened: OpenStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_QUIET_SECONDS", 0.0)
    monkeypatch.setattr(module, "_QUIET_SECONDS_AFTER_DELETION", 0.0)
    keys = await fill(opened, random.Random(52), 3)
    residency = residency_of(opened.db, tmp_path / "index")
    opened.db.after_write = residency.follower.after_write
    await residency.index_of("main")
    await fill(opened, random.Random(53), 3)
    assert residency.snapshots is not None
    assert residency.snapshots.is_due()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "write_arrays", full)
    await residency.take_snapshots()
    assert not residency.snapshots.is_due()
    await remove(opened.pipeline, "main", keys[0])
    assert residency.snapshots.is_due()


async def test_a_snapshot_leaves_the_room_that_the_store_keeps(
    opened: OpenStore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """What is made of the store must not keep anything out of it."""
    await fill(opened, random.Random(54), 30)
    file = await take(opened.db, tmp_path / "index")
    await fill(opened, random.Random(55), 2)
    address = replace(opened.db.address, reserve_bytes=1_000_000)
    monkeypatch.setattr(opened.db.room, "_address", address)
    kept = address.reserve_bytes + address.log_bytes + 1_000
    monkeypatch.setattr(room, "free_bytes", lambda _: kept)
    residency = residency_of(opened.db, tmp_path / "index")
    await residency.index_of("main")
    opened.db.room.check()
    with log_of(caplog) as said:
        await residency.take_snapshots()
    assert "MEMORY_DISK_RESERVE_MB" in said[0]
    assert files_in(tmp_path / "index") == [file]


async def test_of_several_agents_of_which_one_finds_no_room_no_file_is_left(
    opened: OpenStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each try left the files of the others behind, until the disk was full of them."""
    await fill(opened, random.Random(56), 5)
    await store(opened.pipeline, [Pushed("A kettle of another agent.", agent="other")])
    residency = residency_of(opened.db, tmp_path / "index")
    await residency.index_of("main")
    await residency.index_of("other")

    def fill_up(path: Path, saved: Saved) -> None:
        if files_in(tmp_path / "index"):
            raise OSError(28, "No space left on device")
        write_arrays(path, saved)

    monkeypatch.setattr(module, "write_arrays", fill_up)
    await residency.take_snapshots()
    assert files_in(tmp_path / "index") == []


def holds(folder: Path, *texts: str | bytes) -> list[bool]:
    """Return which of the texts stand in any file of a folder."""
    data = b"".join(path.read_bytes() for path in folder.iterdir())
    return [(text.encode() if isinstance(text, str) else text) in data for text in texts]


async def test_what_is_deleted_leaves_the_disk(
    opened: OpenStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Pushed("a kettle of the harbour", concepts=("Harbour",))
    gone = Pushed("the secret of Zanzibar", concepts=("Zanzibar",), session="tonight", scope="quay")
    [_, deleted], _ = await store(opened.pipeline, [kept, gone])
    await take(opened.db, tmp_path / "index")
    residency = residency_of(opened.db, tmp_path / "index")
    index = await residency.index_of("main")
    assert index.vectors is not None
    assert index.packed is not None
    assert residency.snapshots is not None
    row = index.rows[deleted]
    told_of = (
        deleted, "zanzibar", "tonight", "quay",
        index.vectors._fine[row].tobytes(), index.vectors._coarse[row].tobytes(),
        digest("zanzibar").to_bytes(8, "little", signed=True), index.packed.get(row) or "nothing",
    )  # fmt: skip
    assert all(holds(tmp_path / "index", *told_of))
    assert (residency.snapshots.is_due(), residency.snapshots.is_good) == (False, True)
    await remove(opened.pipeline, "main", deleted)
    await residency.follower.catch_up()
    monkeypatch.setattr(module, "_QUIET_SECONDS_AFTER_DELETION", 0.0)
    assert (residency.snapshots.is_due(), residency.snapshots.is_good) == (True, False)
    await residency.take_snapshots()
    assert not any(holds(tmp_path / "index", *told_of))
    assert (residency.snapshots.is_due(), residency.snapshots.is_good) == (False, True)
    assert told(await fresh(opened.db, tmp_path / "index"), *WORDS) == told(index, *WORDS)


async def test_what_is_deleted_does_not_come_back_from_the_file(
    opened: OpenStore, tmp_path: Path
) -> None:
    keys = await fill(opened, random.Random(16), 10)
    await take(opened.db, tmp_path / "index")
    await remove(opened.pipeline, "main", keys[0])
    # Killed here: the file still tells of it.
    assert holds(tmp_path / "index", keys[0]) == [True]
    async with reopened(opened) as db:
        residency = residency_of(db, tmp_path / "index")
        index = await residency.index_of("main")
        assert keys[0] not in told(index)["memories"]
        await residency.close()
        assert holds(tmp_path / "index", keys[0]) == [False]


async def test_a_deletion_that_no_file_can_follow_takes_the_old_one_away(
    opened: OpenStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = await fill(opened, random.Random(17), 10)
    await take(opened.db, tmp_path / "index")
    residency = residency_of(opened.db, tmp_path / "index")
    await residency.index_of("main")
    await remove(opened.pipeline, "main", keys[0])
    await residency.follower.catch_up()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "write_arrays", full)
    await residency.take_snapshots()
    assert files_in(tmp_path / "index") == []


async def test_a_file_that_cannot_be_removed_is_given_to_no_reader(
    opened: OpenStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = await fill(opened, random.Random(29), 10)
    residency = residency_of(opened.db, tmp_path / "index")
    await residency.index_of("main")
    await residency.take_snapshots()
    assert residency.snapshots is not None
    assert residency.snapshots.current("main") in files_in(tmp_path / "index")
    await remove(opened.pipeline, "main", keys[0])
    opened.db.written.doubt(frozenset({("memory", "late")}))
    await residency.follower.catch_up()

    def fails(*_: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(module, "remove_files", fails)
    await residency.take_snapshots()
    assert holds(tmp_path / "index", keys[0]) == [True]
    assert residency.snapshots.current("main") is None


async def test_an_agent_that_is_read_later_makes_no_older_file_current(
    opened: OpenStore, tmp_path: Path
) -> None:
    for agent in ("main", "other"):
        await store(opened.pipeline, [Pushed("the kettle", agent=agent)])
    first = residency_of(opened.db, tmp_path / "index")
    for agent in ("main", "other"):
        await first.index_of(agent)
    await first.take_snapshots()
    residency = residency_of(opened.db, tmp_path / "index")
    await residency.index_of("main")
    assert residency.snapshots is not None
    assert residency.snapshots.current("main") is not None
    await store(opened.pipeline, [Pushed("the harbour")])
    await residency.follower.catch_up()
    _, expected = await facts_and_expected(opened.db, "other", None)
    assert await residency.snapshots.restore(expected, PLENTY_BYTES) is not None
    assert residency.snapshots.current("main") is None


async def test_a_rebuilt_index_does_not_come_from_its_snapshot(
    opened: OpenStore, tmp_path: Path
) -> None:
    keys = await fill(opened, random.Random(17), 5)
    await take(opened.db, tmp_path / "index")
    residency = residency_of(opened.db, tmp_path / "index")
    await residency.index_of("main")
    # A hand deletes a row past us, which nothing tells of.
    await opened.ask("DELETE type::record('memory', $key)", key=keys[0])
    assert await residency.take_census("main")
    await residency.rebuild(["main"])
    index = await residency.index_of("main")
    assert keys[0] not in told(index)["memories"]
    # Nor does a start after a kill bring it back, and the next file is due.
    assert files_in(tmp_path / "index") == []
    assert residency.snapshots is not None
    assert not residency.snapshots.is_good
    assert keys[0] not in told(await fresh(opened.db, tmp_path / "index"))["memories"]


async def test_a_file_is_private(opened: OpenStore, tmp_path: Path) -> None:
    await fill(opened, random.Random(18), 2)
    file = await take(opened.db, tmp_path / "index")
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert file.stat().st_mode & 0o777 == 0o600


async def test_a_write_in_doubt_lets_no_snapshot_be_taken(
    opened: OpenStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await fill(opened, random.Random(21), 2)
    opened.db.written.doubt(frozenset({("memory", "late")}))
    residency = residency_of(opened.db, tmp_path / "index")
    await residency.index_of("main")
    with log_of(caplog) as said:
        await residency.take_snapshots()
    assert "a write was given up lately" in said[0]
    assert not (tmp_path / "index").exists()


async def test_an_index_that_lacks_something_is_in_no_file(
    opened: OpenStore, tmp_path: Path
) -> None:
    await fill(opened, random.Random(22), 5)
    residency = residency_of(opened.db, tmp_path / "index")
    (await residency.index_of("main")).beyond_budget = 1
    await residency.take_snapshots()
    assert not (tmp_path / "index").exists()


OTHER_PROCESS = """
import json, sys
from pathlib import Path
from service.index.resident.array_file import map_arrays, write_arrays
from service.index.resident.index_file import restore_index, save_index
from tests.stores.resident_index import told

file = Path(sys.argv[1])
saved = map_arrays(file)
index = restore_index(saved)
if sys.argv[2] == "read":
    print(json.dumps(told(index, *sys.argv[3:]), default=str, sort_keys=True))
else:
    again = save_index(index)
    again.facts |= saved.facts
    print("writes", flush=True)
    while True:
        write_arrays(file, again)
"""


def other_process(file: Path, *args: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", OTHER_PROCESS, str(file), *args],
        cwd=REPOSITORY, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )  # fmt: skip


def as_json(row: Row) -> Any:
    return json.loads(json.dumps(row, default=str, sort_keys=True))


async def test_two_processes_share_a_file(opened: OpenStore, tmp_path: Path) -> None:
    await fill(opened, random.Random(19), 25)
    process = other_process(await take(opened.db, tmp_path / "index"), "read", *WORDS)
    said, _ = await asyncio.to_thread(process.communicate, timeout=60)
    assert json.loads(said) == as_json(told(await fresh(opened.db), *WORDS))


async def test_a_writer_killed_at_any_moment_leaves_a_whole_file(
    opened: OpenStore, tmp_path: Path
) -> None:
    await fill(opened, random.Random(20), 25)
    file = await take(opened.db, tmp_path / "index")
    expected, chance = told(await fresh(opened.db), *WORDS), random.Random(20)
    for _ in range(4):
        process = other_process(file, "write")
        assert process.stdout is not None
        await asyncio.to_thread(process.stdout.readline)
        await asyncio.sleep(chance.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        await asyncio.to_thread(process.wait)
        process.stdout.close()
        assert told(restore_index(map_arrays(file)), *WORDS) == expected
    # What a killed one has begun goes with the next snapshot.
    await take(opened.db, tmp_path / "index")


def test_what_is_no_file_of_arrays_is_told(tmp_path: Path) -> None:
    for content in (b"", b"GMINDEX\x01", b"something else, and long enough to be a header of one"):
        (tmp_path / "one.index").write_bytes(content)
        with pytest.raises(Unreadable):
            map_arrays(tmp_path / "one.index")


async def test_what_stands_in_the_room_to_grow_is_refused(
    opened: OpenStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A row that comes later takes over what its vector's place says until it has a vector."""
    await fill(opened, random.Random(30), 5)
    file = await take(opened.db, tmp_path / "index")
    whole = file.read_bytes()
    with file.open("rb") as opened_file:
        arrays = array_file._read_header(opened_file)["arrays"]
    for name, told_of in arrays.items():
        if not told_of["by_row"]:
            continue
        flipped = bytearray(whole)
        flipped[told_of["place"] + told_of["bytes"]] ^= 1
        file.write_bytes(flipped)
        with log_of(caplog) as said:
            await fresh(opened.db, tmp_path / "index")
        assert "is not used: its room to grow is damaged" in "".join(said), name


async def test_a_write_that_is_tried_again_is_logged_once(
    opened: OpenStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(opened, random.Random(31), 5)
    await take(opened.db, tmp_path / "index")
    lost: list[Any] = []
    carry_out = opened.db._execute

    async def lose_once(text: str, *args: Any) -> list[Any]:
        if "UPSERT $log_id" in text and not lost:
            lost.append(await carry_out(text.replace("BEGIN;", "").split("RETURN NONE;")[0], *args))
            raise WriteConflict("another writer was faster")
        return await carry_out(text, *args)

    monkeypatch.setattr(opened.db, "_execute", lose_once)
    keys = await fill(opened, random.Random(32), 2)
    assert lost
    index = await fresh(opened.db, tmp_path / "index")
    assert set(keys) <= told(index)["memories"].keys()


async def test_no_log_outlives_what_is_deleted(
    opened: OpenStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its entries name concepts: they must go where no snapshot follows the deletion."""
    gone = [Pushed("the secret of Zanzibar", concepts=("Zanzibar",)), Pushed("a kettle")]
    for fails in (False, True):
        [deleted, _], _ = await store(opened.pipeline, gone)
        monkeypatch.setattr(module, "FEWEST_MEMORIES", 1)
        await take(opened.db, tmp_path / str(fails))
        residency = residency_of(opened.db, tmp_path / str(fails))
        await residency.index_of("main")
        await remove(opened.pipeline, "main", deleted)
        await residency.follower.catch_up()
        assert "zanzibar" in str(await opened.ask("SELECT * FROM written"))
        if fails:
            monkeypatch.setattr(module, "write_arrays", refuse)
        else:
            monkeypatch.setattr(module, "FEWEST_MEMORIES", 1000)
        await residency.take_snapshots()
        assert files_in(tmp_path / str(fails)) == []
        assert await opened.ask("SELECT * FROM written") == []
        assert await opened.db.meta("snapshot") == {}
        assert not opened.db.write_log.is_on


def refuse(*_: object) -> None:
    raise OSError(28, "No space left on device")


async def test_the_other_engine_leaves_neither_files_nor_a_log(tmp_path: Path) -> None:
    async with open_store(tmp_path, form="bytes") as opened:
        await fill(opened, random.Random(33), 3)
        await take(opened.db, tmp_path / "snapshots")
        await fill(opened, random.Random(34), 3)
        assert await opened.ask("SELECT * FROM written") != []
    settings = Settings(
        data_dir=tmp_path, search_engine="database", embedding_url="http://127.0.0.1:9",
        _env_file=None,
    )  # fmt: skip
    async with open_parts(settings, fits_engine=False) as parts:
        assert await parts.db.meta("snapshot") == {}
        assert not parts.db.write_log.is_on
    assert files_in(tmp_path / "snapshots") == []


async def test_a_command_that_loads_nothing_leaves_snapshots_alone(tmp_path: Path) -> None:
    async with open_store(tmp_path, form="bytes") as opened:
        await fill(opened, random.Random(35), 3)
        file = await take(opened.db, tmp_path / "snapshots")
    settings = Settings(data_dir=tmp_path, embedding_url="http://127.0.0.1:9", _env_file=None)
    async with open_parts(settings):
        pass
    assert files_in(tmp_path / "snapshots") == [file]


async def test_a_command_that_deletes_and_loads_nothing_leaves_none_of_it(tmp_path: Path) -> None:
    async with open_store(tmp_path, form="bytes") as opened:
        [key, *_] = await opened.push("the secret of nobody", "a kettle")
        await take(opened.db, tmp_path / "snapshots")
        assert holds(tmp_path / "snapshots", key) == [True]
    settings = Settings(data_dir=tmp_path, embedding_url="http://127.0.0.1:9", _env_file=None)
    async with open_parts(settings) as parts:
        await remove(parts.pipeline, "main", key)
    assert holds(tmp_path / "snapshots", key) == [False]
    async with open_parts(settings) as parts:
        assert await parts.db.meta("snapshot") == {}


@pytest.mark.parametrize("seed", range(36, 40))
async def test_writers_do_not_wait_for_the_file(
    opened: OpenStore, tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What they write meanwhile may be in the file or not, and is caught up with."""
    chance = random.Random(seed)
    keys = await fill(opened, chance, 20)
    residency = residency_of(opened.db, tmp_path / "index")
    await residency.index_of("main")
    opened.db.after_write = residency.follower.after_write
    taking, may_go_on = await begin_to_take(residency, monkeypatch)
    for _ in range(3):
        keys = await asyncio.wait_for(alter(opened, chance, keys), 60)
    may_go_on.set()
    await taking
    assert len(files_in(tmp_path / "index")) == 1
    # Something may have been deleted meanwhile: then another is due.
    assert residency.snapshots is not None
    assert not residency.snapshots.is_good or residency.follower.deleted_at is None
    index = await fresh(opened.db, tmp_path / "index")
    assert told(index, *WORDS) == told(await fresh(opened.db), *WORDS)


@pytest.mark.parametrize("is_stopped", [True, False])
async def test_a_snapshot_that_comes_to_nothing_leaves_nothing_of_what_was_deleted(
    opened: OpenStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_stopped: bool
) -> None:
    """By a stop amid it, or by a full disk; the deletion is taken in as the index is copied."""
    keys = await opened.push("the secret of nobody", "a kettle")
    residency = residency_of(opened.db, tmp_path / "index")
    await residency.index_of("main")
    await residency.take_snapshots()
    assert holds(tmp_path / "index", *keys) == [True, True]
    await remove(opened.pipeline, "main", keys[0])
    if is_stopped:
        taking, may_go_on = await begin_to_take(residency, monkeypatch)
        taking.cancel()
        may_go_on.set()
        await asyncio.gather(taking, return_exceptions=True)
        monkeypatch.setattr(module, "write_arrays", write_arrays)
        await residency.close()
        assert holds(tmp_path / "index", *keys) == [False, True]
    else:
        monkeypatch.setattr(module, "write_arrays", refuse)
        await residency.take_snapshots()
        assert files_in(tmp_path / "index") == []


@pytest.mark.parametrize("is_rebuilt", [False, True])
async def test_a_log_that_is_forgotten_while_a_file_is_written_makes_it_no_snapshot(
    opened: OpenStore, tmp_path: Path, *, is_rebuilt: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By too much that was written, or by an index that is made anew: nothing was logged since."""
    await fill(opened, random.Random(41), 5)
    await take(opened.db, tmp_path / "index")
    residency = residency_of(opened.db, tmp_path / "index")
    opened.db.after_write = residency.follower.after_write
    await residency.index_of("main")
    await fill(opened, random.Random(42), 2)
    taking, may_go_on = await begin_to_take(residency, monkeypatch)
    if is_rebuilt:
        await residency.rebuild(["main"])
    else:
        monkeypatch.setattr(write_log, "MOST_LOGGED", 15)
        await fill(opened, random.Random(43), 20)
    may_go_on.set()
    await taking
    assert not opened.db.write_log.is_on
    assert await opened.db.meta("snapshot") == {}
    await fill(opened, random.Random(44), 20)
    await residency.close()
    async with reopened(opened) as db:
        index = await fresh(db, tmp_path / "index")
        assert told(index, *WORDS) == told(await fresh(db), *WORDS)


async def test_another_snapshot_amid_a_start_leaves_no_gap(
    opened: OpenStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(opened, random.Random(45), 5)
    await store(opened.pipeline, [Pushed("a kettle of another", agent="other")])
    first = residency_of(opened.db, tmp_path / "index")
    for agent in ("main", "other"):
        await first.index_of(agent)
    await first.take_snapshots()
    await store(opened.pipeline, [Pushed("a second kettle of another", agent="other")])
    async with reopened(opened) as db:
        residency = residency_of(db, tmp_path / "index")
        db.after_write = residency.follower.after_write
        await residency.index_of("main")
        # The older file was opened before it goes.
        monkeypatch.setattr(module, "remove_files", lambda *_: None)
        for name in ("valid_snapshot", "logged_since"):
            ask = getattr(own_writes, name)

            async def ask_and_take(*given: Any, ask: Any = ask) -> Any:
                answer = await ask(*given)
                await residency.take_snapshots()
                return answer

            monkeypatch.setattr(own_writes, name, ask_and_take)
            index = await residency.index_of("other")
            assert told(index) == told(await fresh(db, agent="other"))
            monkeypatch.setattr(own_writes, name, ask)
            residency._forget("other")


async def test_a_file_that_goes_while_the_folder_is_listed_is_passed_over(
    opened: OpenStore, tmp_path: Path
) -> None:
    await fill(opened, random.Random(46), 5)
    file = await take(opened.db, tmp_path / "index")
    file.unlink()
    file.symlink_to(tmp_path / "gone")
    index = await fresh(opened.db, tmp_path / "index")
    assert told(index, *WORDS) == told(await fresh(opened.db), *WORDS)


async def test_an_index_that_comes_into_doubt_while_it_is_copied_is_in_no_file(
    opened: OpenStore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    await fill(opened, random.Random(47), 5)
    residency = residency_of(opened.db, tmp_path / "index")
    await residency.index_of("main")
    read = residency.follower._read

    async def find_a_gap() -> None:
        await read()
        residency.follower._doubt_all()

    monkeypatch.setattr(residency.follower, "_read", find_a_gap)
    with log_of(caplog) as said:
        await residency.take_snapshots()
    assert "come into doubt" in said[0]
    assert files_in(tmp_path / "index") == []


async def test_a_flipped_bit_in_what_a_file_says_of_itself_is_refused(
    opened: OpenStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    keys = await fill(opened, random.Random(48), 20)
    file = await take(opened.db, tmp_path / "index")
    await remove(opened.pipeline, "main", keys[3])
    whole = file.read_bytes()
    begins, (_, length, _) = struct.calcsize("<8sQI"), struct.unpack_from("<8sQI", whole)
    numbers = [m.end() for m in re.finditer(b'"number":', whole[: begins + length])]
    assert numbers
    for place in [*numbers, *random.Random(48).sample(range(begins, begins + length), 60)]:
        flipped = bytearray(whole)
        flipped[place] ^= 1
        file.write_bytes(flipped)
        with log_of(caplog) as said:
            assert keys[3] not in (await fresh(opened.db, tmp_path / "index")).rows
        assert "is not used: " in said[0]


async def test_a_file_for_which_there_is_no_room_is_not_used(
    opened: OpenStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await fill(opened, random.Random(49), 5)
    await take(opened.db, tmp_path / "index")
    residency = residency_of(opened.db, tmp_path / "index")
    assert residency.snapshots is not None
    _, expected = await facts_and_expected(opened.db, "main", None)
    assert await residency.snapshots.restore(expected, PLENTY_BYTES) is not None
    with log_of(caplog) as said:
        assert await residency.snapshots.restore(expected, 1000) is None
    assert "larger than MEMORY_INDEX_MEMORY_MB leaves room for" in said[0]


async def test_a_service_takes_one_in_quiet_minutes_and_starts_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "_QUIET_SECONDS", 0.0)
    monkeypatch.setattr(residencies, "_WATCH_SECONDS", 0.05)
    async with open_store(tmp_path, form="bytes") as opened:
        await fill(opened, random.Random(50), 5)
    settings = Settings(data_dir=tmp_path, embedding_url="http://127.0.0.1:9", _env_file=None)
    for told_of in ("took", "is read from a snapshot"):
        caplog.clear()
        async with open_parts(settings) as parts, asyncio.timeout(60):
            residency = parts.by_type()[Residency]
            residency.expect(["main"])
            with caplog.at_level(logging.INFO, module.__name__):
                running = asyncio.create_task(residency.run())
                while not any(told_of in one.getMessage() for one in caplog.records):
                    assert not running.done()
                    await asyncio.sleep(0.02)
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
        assert len(files_in(tmp_path / "snapshots")) == 1
