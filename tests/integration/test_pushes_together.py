"""What waits for one turn to write memories is one change; nobody's failure is another's."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from service.errors import MemoryNotFound, QueryFailed
from service.links.change import Change
from service.memories.changing import change_memory
from service.memories.screening import Pushed
from service.memories.storing import draft_of, find, remove, store_one
from service.store.database import Database
from service.writing.pipeline import Pipeline
from service.writing.together import Together, Written
from tests.stores.open_store import START, OpenStore, open_store

pytestmark = pytest.mark.anyio


def push(ref: str, text: str = "", agent: str = "main") -> Change:
    pushed = Pushed(text or f"The pump of {ref} runs.", agent=agent, source_ref=ref)
    return Change(agent, (draft_of(pushed),))


class Writer:
    """Writes nothing, remembers what it was given; refuses what holds a bad memory."""

    def __init__(self) -> None:
        self.together = Together()
        self.turn = asyncio.Lock()
        self.given: list[list[str]] = []

    async def write(self, change: Change, vectors: Mapping[str, Any]) -> Written:
        del vectors
        texts = [draft.content for draft in change.drafts]
        self.given.append(texts)
        await asyncio.sleep(0)
        if "bad" in texts:
            raise QueryFailed("a bad memory")
        links: Any = None  # not looked at
        return change, links

    async def push(self, change: Change) -> list[str]:
        written, _ = await self.together.write(self.turn, change, {}, self.write)
        return [draft.content for draft in written.drafts]

    async def push_all(self, *changes: Change) -> list[list[str] | BaseException]:
        """Have all of them wait for one turn."""
        async with self.turn:
            waiting = [asyncio.create_task(self.push(change)) for change in changes]
            await asyncio.sleep(0)
        return await asyncio.gather(*waiting, return_exceptions=True)


async def test_who_waits_together_is_written_together_and_told_of_its_own() -> None:
    writer = Writer()
    told = await writer.push_all(push("a", "one"), push("b", "two"), push("c", "three"))
    assert writer.given == [["one", "two", "three"]]
    assert told == [["one"], ["two"], ["three"]]


async def test_two_versions_of_one_memory_are_written_in_their_order() -> None:
    writer = Writer()
    await writer.push_all(push("a", "old"), push("a", "new"), push("b", "else"))
    assert writer.given == [["old", "else"], ["new"]]


async def test_a_bad_memory_fails_alone() -> None:
    writer = Writer()
    told = await writer.push_all(push("a", "one"), push("b", "bad"), push("c", "three"))
    assert writer.given == [["one", "bad", "three"], ["one"], ["bad"], ["three"]]
    assert [told[0], told[2]] == [["one"], ["three"]]
    assert isinstance(told[1], QueryFailed)


async def test_what_does_more_than_push_is_written_alone() -> None:
    writer = Writer()
    removal = Change("main", audit="deleted")
    await writer.push_all(push("a", "one"), removal, push("b", "two"))
    assert writer.given == [["one", "two"], []]


async def test_what_says_in_its_turn_what_it_is_is_not_written_with_pushes() -> None:
    async def as_planned(_: Database, change: Change) -> Change:
        return change

    writer = Writer()
    later = [replace(push(ref, ref), in_turn=as_planned) for ref in "xy"]
    told = await writer.push_all(push("a", "a"), later[0], push("b", "b"), later[1])
    assert writer.given == [["a", "b"], ["x", "y"]]
    assert told == [["a"], ["x"], ["b"], ["y"]]


async def test_who_gives_up_waiting_is_not_written() -> None:
    writer = Writer()
    async with writer.turn:
        waiting = [asyncio.create_task(writer.push(push(ref, ref))) for ref in "abc"]
        await asyncio.sleep(0)
        waiting[1].cancel()
        await asyncio.sleep(0)
    await asyncio.gather(*waiting, return_exceptions=True)
    assert writer.given == [["a", "c"]]


async def test_others_are_written_when_the_one_whose_turn_it_is_gives_up() -> None:
    writer = Writer()
    async with writer.turn:
        waiting = [asyncio.create_task(writer.push(push(ref, ref))) for ref in "abc"]
        await asyncio.sleep(0)
    while not writer.given:  # noqa: ASYNC110 - the loop itself moves on
        await asyncio.sleep(0)
    waiting[0].cancel()
    told = await asyncio.gather(*waiting, return_exceptions=True)
    assert told[1:] == [["b"], ["c"]]


async def _rows(opened: OpenStore, query: str, agent: str) -> list[Any]:
    rows = await opened.ask(query, who=agent)
    assert isinstance(rows, list)
    return rows


async def _writes(pipeline: Pipeline) -> int:
    return int((await pipeline.db.meta(["dictionary", "main"])).get("version", 0))


async def test_pushes_of_one_moment_leave_what_pushes_in_turn_leave(tmp_path: Path) -> None:
    texts = [f"`Harbour Gate` and RTX 50{number} stand beside Postgres." for number in range(12)]
    links = (
        "SELECT VALUE [type::record('memory', record::id(id)).content, "
        "concepts.map(|$one| $one[1])] FROM references "
        "WHERE type::record('memory', record::id(id)).agent = $who"
    )
    chain = (
        "SELECT VALUE [type::record('memory', record::id(id)).content, "
        "earlier.map(|$one| type::record('memory', $one).content)] "
        "FROM follows WHERE earlier != [] AND type::record('memory', record::id(id)).agent = $who"
    )
    async with open_store(tmp_path) as opened:
        for text in texts:
            await opened.push(text, session="s", agent="in-turn")
        await asyncio.gather(*[opened.push(text, session="s") for text in texts])
        assert await _writes(opened.pipeline) < len(texts)
        told = {
            agent: [sorted(map(str, await _rows(opened, query, agent))) for query in (links, chain)]
            for agent in ("main", "in-turn")
        }
        assert [len(found) for found in told["main"]] == [12, 11]
        assert told["main"][0] == told["in-turn"][0]
        assert await opened.complaints() == []


async def test_changes_of_one_moment_are_written_together_and_each_holds(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        keys = await opened.push(*[f"Pump {number} runs." for number in range(9)])
        memories = [await find(opened.db, ["main"], key) for key in keys]
        before = await _writes(opened.pipeline)
        await asyncio.gather(
            *[change_memory(opened.pipeline, one, {"tags": ["pump"]}) for one in memories],
            *[change_memory(opened.pipeline, one, {"importance": 0.9}) for one in memories],
        )
        assert await _writes(opened.pipeline) - before < len(keys)
        now = [await find(opened.db, ["main"], key) for key in keys]
        assert [(one.tags, one.importance) for one in now] == [(("pump",), 0.9)] * len(keys)
        assert await opened.complaints() == []


async def test_a_change_of_what_is_deleted_amid_harms_no_other(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        keys = await opened.push(*[f"Pump {number} runs." for number in range(4)])
        memories = [await find(opened.db, ["main"], key) for key in keys]
        async with opened.pipeline.writing.of("main"):
            removal = asyncio.create_task(remove(opened.pipeline, "main", keys[0]))
            await asyncio.sleep(0.05)  # it is the first in line
            changes = [
                asyncio.create_task(change_memory(opened.pipeline, one, {"importance": 0.9}))
                for one in memories
            ]
            await asyncio.sleep(0.05)
        await removal
        told = await asyncio.gather(*changes, return_exceptions=True)
        assert isinstance(told[0], MemoryNotFound)
        assert told[1:] == [()] * 3
        assert await opened.complaints() == []


@pytest.mark.parametrize("fields", [{"source_ref": "pump"}, {"occurred_at": START}])
async def test_of_equal_pushes_of_one_moment_one_is_written(
    tmp_path: Path, fields: dict[str, Any]
) -> None:
    async def push_five(text: str) -> list[str]:
        same = Pushed(text, tags=("pump",), **fields)
        told = await asyncio.gather(*[store_one(opened.pipeline, same) for _ in range(5)])
        assert len({key for key, _ in told}) == 1
        return sorted(action for _, synced in told for action in synced.actions)

    async with open_store(tmp_path) as opened:
        assert await push_five("The pump runs.") == ["created", *["duplicate"] * 4]
        [key] = await opened.ids()
        before = await find(opened.db, ["main"], key)
        assert await push_five("The pump runs.") == ["duplicate"] * 5
        assert await find(opened.db, ["main"], key) == before
        if "source_ref" in fields:
            assert await push_five("It stands.") == [*["duplicate"] * 4, "updated"]
        assert await opened.complaints() == []
