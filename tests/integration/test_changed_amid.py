"""What others write to a memory between its being read by a writer and its being written stays."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from service.access.caller import LOCAL, Caller, called_by
from service.access.errors import Forbidden
from service.errors import InvalidRequest, MemoryNotFound
from service.memories import changing
from service.memories.changing import change_memory
from service.memories.screening import Pushed
from service.memories.storing import find, remove, store
from service.records import QUARANTINED, Memory
from service.trust.quarantine import set_tiers
from service.writing import pipeline, pushes, removing
from service.writing.together import _group
from tests.integration.test_written_amid import once_before
from tests.stores.open_store import START, OpenStore, open_store

pytestmark = pytest.mark.anyio
REF = "note-1"
END = datetime(2030, 1, 1, tzinfo=UTC)

Deed = Callable[[OpenStore, str], Awaitable[object]]


async def push(world: OpenStore, text: str, **fields: Any) -> tuple[str, str]:
    """Store the one memory; returns its id and what became of it."""
    [key], synced = await store(world.pipeline, [Pushed(text, source_ref=REF, **fields)])
    return key, synced.actions[0]


async def change(world: OpenStore, key: str, **fields: Any) -> None:
    await change_memory(world.pipeline, await found(world, key), fields)


async def found(world: OpenStore, key: str) -> Memory:
    return await find(world.db, ["main"], key)


async def quarantine(world: OpenStore, key: str) -> None:
    await set_tiers(world.pipeline, {"main": [key]}, QUARANTINED)


async def pin(world: OpenStore, key: str) -> None:
    await change(world, key, pinned=True)


async def label(world: OpenStore, key: str) -> None:
    await change(world, key, tags=["old"], scope="private")


async def send_anew(world: OpenStore, key: str) -> None:
    assert await push(world, "A second bell rings.") == (key, "updated")


@pytest.mark.parametrize(
    ("deed", "told"),
    [
        (quarantine, {"trust_tier": QUARANTINED}),
        (pin, {"pinned": True}),
        (label, {"tags": ("old",), "scope": "private"}),
        (send_anew, {"content": "A second bell rings."}),
    ],
    ids=["quarantined", "pinned", "labelled", "sent anew"],
)
async def test_a_change_leaves_what_others_set_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deed: Deed, told: dict[str, Any]
) -> None:
    async with open_store(tmp_path) as world:
        key, _ = await push(world, "A bell rings.")
        once_before(monkeypatch, changing, "commit", lambda: deed(world, key))
        await change(world, key, importance=0.9)
        memory = await found(world, key)
        assert {name: getattr(memory, name) for name in told} == told
        assert memory.importance == 0.9
        assert await world.complaints() == []


async def test_a_vector_is_never_of_another_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The title is embedded with the text that the memory had when it was read."""
    async with open_store(tmp_path) as world:
        key, _ = await push(world, "A bell rings.")
        once_before(monkeypatch, pipeline, "commit_embedded", lambda: send_anew(world, key))
        await change(world, key, title="The harbour")
        memory = await found(world, key)
        assert (memory.title, memory.content) == ("The harbour", "A second bell rings.")
        assert await world.ask("SELECT VALUE is_embedded FROM memory") == [False]
        assert world.pipeline.has_pending.is_set()
        assert await world.complaints() == []


async def test_what_was_deleted_meanwhile_is_not_changed_back_into_being(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(tmp_path) as world:
        key, _ = await push(world, "A bell rings.")
        deed = lambda: remove(world.pipeline, "main", key)  # noqa: E731
        once_before(monkeypatch, changing, "commit", deed)
        with pytest.raises(MemoryNotFound):
            await change(world, key, text="A bell rang.")
        assert await world.ids() == []


@pytest.mark.parametrize("deed", [quarantine, pin], ids=["quarantined", "pinned"])
async def test_what_is_sent_again_leaves_what_others_set_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deed: Deed
) -> None:
    async with open_store(tmp_path) as world:
        key, _ = await push(world, "A bell rings.")
        once_before(monkeypatch, pushes, "commit_embedded", lambda: deed(world, key))
        await push(world, "A second bell rings.")
        memory = await found(world, key)
        assert memory.content == "A second bell rings."
        assert (memory.trust_tier == QUARANTINED) == (deed is quarantine)
        assert memory.pinned == (deed is pin)
        assert await world.complaints() == []


@pytest.mark.parametrize("deed", [quarantine, pin], ids=["quarantined", "pinned"])
async def test_a_scan_leaves_what_others_set_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deed: Deed
) -> None:
    async with open_store(tmp_path) as world:
        await world.read("a.md", "# Bells\n\nA bell rings.\n")
        [key] = await world.ids()
        once_before(monkeypatch, pipeline, "commit_embedded", lambda: deed(world, key))
        await world.read("a.md", "# Bells\n\nA second bell rings.\n")
        memory = await found(world, key)
        assert memory.content == "A second bell rings."
        assert (memory.trust_tier == QUARANTINED) == (deed is quarantine)
        assert memory.pinned == (deed is pin)


async def test_a_change_amid_a_scan_keeps_no_older_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(tmp_path) as world:
        await world.read("a.md", "# Bells\n\nA bell rings.\n")
        [key] = await world.ids()
        text = "# Bells\n\nA second bell rings.\n"
        once_before(monkeypatch, changing, "commit", lambda: world.read("a.md", text))
        await change(world, key, pinned=True)
        memory = await found(world, key)
        assert (memory.content, memory.pinned) == ("A second bell rings.", True)


SAID: dict[str, Any] = {
    "pinned": True, "importance": 0.9, "sensitivity": "private", "valid_until": END,
    "occurred_at": START + timedelta(days=1), "trust_tier": QUARANTINED,
}  # fmt: skip


@pytest.mark.parametrize("name", SAID)
async def test_what_is_said_of_the_same_text_again_is_taken_over(tmp_path: Path, name: str) -> None:
    async with open_store(tmp_path) as world:
        key, _ = await push(world, "A bell rings.", occurred_at=START)
        said: dict[str, Any] = {"occurred_at": START, name: SAID[name]}
        said["said"] = frozenset({name} - {"occurred_at"})
        assert await push(world, "A bell rings.", **said) == (key, "updated")
        assert getattr(await found(world, key), name) == SAID[name]
        assert await push(world, "A bell rings.", **said) == (key, "duplicate")


async def test_what_is_not_said_again_stays_as_it_was_set(tmp_path: Path) -> None:
    async with open_store(tmp_path) as world:
        key, _ = await push(world, "A bell rings.", occurred_at=START)
        changes = {"pinned": True, "importance": 0.9, "sensitivity": "private", "valid_until": END}
        await change(world, key, **changes)
        await push(world, "A second bell rings.")
        memory = await found(world, key)
        assert memory.content == "A second bell rings."
        assert {name: getattr(memory, name) for name in changes} == changes
        assert memory.occurred_at == START


async def test_nobody_raises_trust_by_sending_again(tmp_path: Path) -> None:
    async with open_store(tmp_path) as world:
        key, _ = await push(world, "A bell rings.")
        await quarantine(world, key)
        said: dict[str, Any] = {"trust_tier": "trusted", "said": frozenset({"trust_tier"})}
        assert await push(world, "A bell rings.", **said) == (key, "duplicate")
        assert await push(world, "A bell rang.", **said) == (key, "updated")
        assert (await found(world, key)).trust_tier == QUARANTINED


async def test_who_changes_what_a_document_says_is_told_that_it_says_so_again(
    tmp_path: Path,
) -> None:
    async with open_store(tmp_path) as world:
        await world.read("a.md", "# Bells\n\nA bell rings.\n\n# Oil\n\nThe crane needs oil.\n")
        [key] = [one for one in await world.ids() if "bell" in (await found(world, one)).content]
        memory = await found(world, key)
        told = await change_memory(world.pipeline, memory, {"tags": ["old"], "pinned": True})
        assert [one.partition(":")[0] for one in told] == ["tags"]
        assert "a.md" in told[0]
        assert await change_memory(world.pipeline, memory, {"pinned": True}) == ()
        await world.read("a.md", "# Bells\n\nA bell rings.\n\n# Oil\n\nThe crane needs grease.\n")
        memory = await found(world, key)
        assert (memory.tags, memory.pinned) == ((), True)


NARROWED = Caller(key="k", scopes=frozenset({"read", "write"}), memory_scopes=("harbour",))


def into_the_zoo(world: OpenStore, key: str) -> Callable[[], Awaitable[None]]:
    """Return what gives a memory another scope, as somebody may who is good for all of them."""

    async def move() -> None:
        with called_by(LOCAL):
            await change(world, key, scope="zoo")

    return move


async def test_what_came_into_another_scope_meanwhile_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A narrowed key looks before its turn; in it, it may not be its memory any more."""
    async with open_store(tmp_path) as world:
        key, _ = await push(world, "A bell rings.", scope="harbour")
        with called_by(NARROWED):
            once_before(monkeypatch, pushes, "commit_embedded", into_the_zoo(world, key))
            with pytest.raises(Forbidden):
                await push(world, "A second bell rings.", scope="harbour")
        memory = await found(world, key)
        assert (memory.content, memory.scope) == ("A bell rings.", "zoo")


async def test_what_came_into_another_scope_meanwhile_is_not_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(tmp_path) as world:
        key, _ = await push(world, "A bell rings.", scope="harbour")
        with called_by(NARROWED):
            once_before(monkeypatch, removing, "commit", into_the_zoo(world, key))
            with pytest.raises(Forbidden):
                await remove(world.pipeline, "main", key)
        assert (await found(world, key)).scope == "zoo"


async def test_pushes_of_keys_for_different_scopes_are_not_written_as_one(tmp_path: Path) -> None:
    """What one of them may not write over another may: together nobody could tell."""
    async with open_store(tmp_path) as world:
        [others], _ = await store(world.pipeline, [Pushed("A zebra.", scope="zoo")])

        async def send(who: Caller, text: str) -> str:
            with called_by(who):
                pushed = Pushed(text, source_ref=text, scope="harbour")
                [key], _ = await store(world.pipeline, [pushed])
                return key

        async with world.pipeline.writing.of("main"):
            senders = (LOCAL, NARROWED, LOCAL, NARROWED)
            waiting = [
                asyncio.create_task(send(one, f"Bell {n}.")) for n, one in enumerate(senders)
            ]
            while len(world.pipeline.together._lines.get("main", ())) < len(senders):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            line = world.pipeline.together._lines["main"]
            assert [len(_group(one, line)) for one in line] == [2, 2, 2, 2]
        keys = await asyncio.gather(*waiting)
        assert set(await world.ids()) == {*keys, others}


async def test_two_pushes_of_one_moment_make_no_memory_that_never_holds(tmp_path: Path) -> None:
    begins = {"valid_from": END, "said": frozenset({"valid_from"})}
    ends = {"valid_until": START, "said": frozenset({"valid_until"})}
    async with open_store(tmp_path) as world:
        both = [push(world, "The bell rings.", **fields) for fields in (begins, ends)]
        told = await asyncio.gather(*both, return_exceptions=True)
        assert sorted(isinstance(one, InvalidRequest) for one in told) == [False, True]
        [key] = await world.ids()
        one = await found(world, key)
        assert (one.valid_from, one.valid_until) in {(END, None), (None, START)}
