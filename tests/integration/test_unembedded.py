"""Memories that wait for a vector stand in a table of their own, for as long as they wait."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from service.commands.reembed import FORGET_VECTORS
from service.memories.storing import remove
from service.operate.metrics import WAITING
from service.store.database import record
from service.store.queries import Query
from service.writing.embed_later import AGENTS_PENDING, embed_pending
from tests.servers.outer_embeddings import Answer
from tests.stores.open_store import NO_DIGEST, OpenStore, open_store

pytestmark = pytest.mark.anyio

# As in the versions that had no such table.
INDEX = "DEFINE INDEX by_embedded ON memory FIELDS is_embedded"
INSERT = Query("own", "INSERT INTO unembedded $rows", frozenset({"rows"}), writes=True)


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[OpenStore]:
    async with open_store(tmp_path, "bytes") as own:
        yield own


async def push_without_vectors(opened: OpenStore, *texts: str, agent: str = "main") -> list[str]:
    opened.embeddings.next_answers.append(Answer({"data": []}))
    return await opened.push(*texts, agent=agent)


async def waiting(opened: OpenStore) -> list[list[str]]:
    rows = await opened.ask("SELECT VALUE record::id(id) FROM unembedded")
    assert isinstance(rows, list)
    return rows


async def test_only_what_waits_has_a_row(opened: OpenStore) -> None:
    await opened.push("Words that have a vector.")
    assert await waiting(opened) == []
    [key] = await push_without_vectors(opened, "Words that must wait.")
    [other] = await push_without_vectors(opened, "Another's words.", agent="zoe")
    assert await waiting(opened) == [["main", key], ["zoe", other]]
    assert await opened.db.run(AGENTS_PENDING) == ["main", "zoe"]
    assert await embed_pending(opened.pipeline, "zoe") == 1
    assert await waiting(opened) == [["main", key]]
    assert await embed_pending(opened.pipeline) == 1
    assert await waiting(opened) == []
    assert await opened.complaints() == []


async def test_a_changed_memory_waits_once_or_no_more(opened: OpenStore) -> None:
    async def push(text: str) -> None:
        await opened.push(text, source_ref="r")

    for text in ("First words.", "Second words."):
        opened.embeddings.next_answers.append(Answer({"data": []}))
        await push(text)
        assert len(await waiting(opened)) == 1
    await push("Third words.")
    assert await waiting(opened) == []
    opened.embeddings.next_answers.append(Answer({"data": []}))
    await push("Fourth words.")
    assert len(await waiting(opened)) == 1
    assert await opened.complaints() == []


@pytest.mark.parametrize("is_by_hand", [False, True])
async def test_a_memory_that_goes_waits_no_more(opened: OpenStore, is_by_hand: bool) -> None:
    gone, stays = await push_without_vectors(opened, "Words that go.", "Words that stay.")
    if is_by_hand:
        await opened.ask("DELETE type::record('memory', $key)", key=gone)
    else:
        await remove(opened.pipeline, "main", gone)
    assert await waiting(opened) == [["main", stays]]


async def test_what_goes_while_it_is_embedded_waits_no_more(opened: OpenStore) -> None:
    [gone, stays] = await push_without_vectors(opened, "Words that go.", "Words that stay.")
    loop = asyncio.get_running_loop()

    def delete() -> None:
        deleting = opened.ask("DELETE type::record('memory', $key)", key=gone)
        asyncio.run_coroutine_threadsafe(deleting, loop).result(5)

    opened.embeddings.before_answering = delete
    assert await embed_pending(opened.pipeline) == 2
    opened.embeddings.before_answering = None
    assert await waiting(opened) == []
    assert await opened.ask("SELECT VALUE id FROM embedding") == [stays]


async def test_rows_that_a_hand_left_behind_hold_up_nothing(
    opened: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.writing.embed_later._PAGE", 2)
    [done] = await opened.push("Words that have a vector.")
    keys = await push_without_vectors(opened, *[f"Words number {n}." for n in range(3)])
    left = [(f"00{n}", f"nobody{n}") for n in range(4)] + [("0000", done)]
    strays = [
        {"id": record("unembedded", ["main", key]), "memory": record("memory", memory)}
        for key, memory in left
    ]
    strays += [
        {"id": record("unembedded", key), "memory": record("memory", keys[0])}
        for key in ("stray", ["main"], ["main", "1", "2"])
    ]
    await opened.db.run(INSERT, rows=strays)
    assert (await opened.db.run(WAITING))["vectors"] == 6
    counts = [await embed_pending(opened.pipeline, "main") for _ in range(5)]
    assert sum(counts) >= 3
    assert counts[-1] == 0
    assert await opened.ask("SELECT VALUE id FROM memory WHERE !is_embedded") == []
    assert (await opened.db.run(WAITING))["vectors"] == 0


async def test_all_wait_once_vectors_are_forgotten(opened: OpenStore) -> None:
    keys = await opened.push("One.", "Two.") + await push_without_vectors(opened, "Three.")
    assert await opened.db.run(FORGET_VECTORS) == 3
    assert await waiting(opened) == sorted(["main", key] for key in keys)


async def test_a_memory_without_an_agent_waits_for_nobody(tmp_path: Path) -> None:
    async with open_store(tmp_path, "bytes") as old:
        spoilt, whole = sorted(await push_without_vectors(old, "One.", "Two."))
        await old.ask("DELETE unembedded")
        await old.db.apply(f"{INDEX}; DEFINE FIELD OVERWRITE agent ON memory TYPE any")
        await old.ask("UPDATE type::record('memory', $key) SET agent = NONE", key=spoilt)
        await old.db.set_meta("schema", NO_DIGEST)
    async with open_store(tmp_path, "bytes") as new:
        assert await waiting(new) == [["main", whole]]
        assert await new.db.run(FORGET_VECTORS) == 2
        assert await waiting(new) == [["main", whole]]
        await new.ask("DELETE memory")
        assert await waiting(new) == []


async def test_an_older_store_is_brought_over(tmp_path: Path) -> None:
    async with open_store(tmp_path, "bytes") as old:
        [left] = await push_without_vectors(old, "Of a program that knew no such table.")
        assert await embed_pending(old.pipeline) == 1
        keys = await push_without_vectors(old, "One.", "Two.")
        [other] = await push_without_vectors(old, "Three.", agent="zoe")
        await old.push("Words that have a vector.")
        await old.ask("DELETE unembedded")
        # An older program that opened a newer store embedded one without taking its row away.
        row = {"id": record("unembedded", ["main", left]), "memory": record("memory", left)}
        await old.db.run(INSERT, rows=[row])
        await old.db.apply(INDEX)
        await old.db.set_meta("schema", NO_DIGEST)
    async with open_store(tmp_path, "bytes") as new:
        assert await waiting(new) == [*sorted(["main", key] for key in keys), ["zoe", other]]
        assert "by_embedded" not in str(await new.ask("INFO FOR TABLE memory"))
        assert await new.complaints() == []
        assert await embed_pending(new.pipeline) == 3
        assert await waiting(new) == []
        assert await new.complaints() == []
