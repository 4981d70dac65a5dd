"""A memory deleted for good: neither a transcript nor a handoff made of it says it again."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from service.access.caller import LOCAL, Caller
from service.fixes.fixes import Proof, put_fix
from service.memories.changing import change_memory
from service.memories.storing import find, remove
from service.observe.fold import Failure, State
from service.observe.observing import Delta, Observed, Observer
from service.observe.taking_back import AUTOMATIC_HANDOFFS, CAME_UP, without
from service.recurrences.recurrences import Sighting, note
from tests.integration.test_deleted_stays_deleted import contents, everything
from tests.stores.open_store import START, OpenStore, open_store

pytestmark = pytest.mark.anyio

CODE = {"role": "user", "text": "Remember: the vault code is Quokkazebra nine."}
# A command fails and passes: what it said, what was changed.
FIX = (
    {"role": "assistant", "command": "make quokkazebra", "call": "1"},
    {"role": "tool", "call": "1", "exit": 2, "text": "Error: quokkazebra is missing"},
    {"role": "assistant", "tool": "edit", "file_path": "/a/quokkazebra.mk", "call": "2"},
    {"role": "assistant", "command": "make quokkazebra", "call": "3"},
    {"role": "tool", "call": "3", "exit": 0, "text": "done"},
)
# What is open: tasks, a file, a command that fails, and one that still runs.
OPEN = (
    {"role": "assistant", "text": "To do:\n- [ ] paint the shed\n- [ ] call Quokkazebra"},
    {"role": "assistant", "tool": "edit", "file_path": "/a/shed.py", "call": "4"},
    {"role": "assistant", "command": "quokkazebra --help", "call": "5"},
    {"role": "tool", "call": "5", "exit": 2, "text": ""},
    {"role": "assistant", "command": "quokkazebra --version", "call": "6"},
)
LEFT = """Automatic handoff, as nobody wrote one.

Files touched: /a/shed.py

Open:
- [ ] paint the shed"""


async def observe(
    world: OpenStore,
    *entries: dict[str, Any],
    session: str = "s1",
    is_final: bool = False,
    sender: Caller = LOCAL,
) -> Observed:
    delta = Delta(session, "generic", None, entries, None, is_final)
    return await Observer(world.pipeline).observe("main", None, delta, sender)


async def forget(world: OpenStore, start: str) -> None:
    """Delete the one memory that begins so."""
    found: Any = await world.ask(
        "SELECT VALUE id FROM memory WHERE string::starts_with(content, $start)", start=start
    )
    [key] = found
    await remove(world.pipeline, "main", key)


async def test_no_table_keeps_a_word_of_what_a_session_said(tmp_path: Path) -> None:
    async with open_store(tmp_path) as world:
        await observe(world, CODE, *FIX, *OPEN)
        # Said in another session it is the same memory: that one's transcript keeps it no more.
        await observe(world, CODE, session="s2")
        for start in ("Remember: the vault", "`make quokkazebra` failed", "Tasks of a session"):
            await forget(world, start)
        assert "quokkazebra" not in await everything(world)
        # The sessions go on, are read from where they were, and end.
        assert (await observe(world, session="s2", is_final=True)).memories == []
        await observe(world, {"role": "tool", "call": "6", "exit": 1, "text": ""}, is_final=True)
        assert await contents(world) == []
        assert "quokkazebra" not in await everything(world)
        assert await world.complaints() == []


async def test_a_handoff_is_made_anew_without_what_is_deleted(tmp_path: Path) -> None:
    async with open_store(tmp_path) as world:
        await observe(world, *OPEN, CODE, is_final=True)
        before = await world.ids()
        # Its text was changed since: it still tells which words are meant.
        [key] = [
            row["id"]
            for row in await rows(world)
            if row["content"].startswith("Remember: the vault code")
        ]
        memory = await find(world.db, ["main"], key)
        await change_memory(world.pipeline, memory, {"text": "Quokkazebra."})
        await remove(world.pipeline, "main", key)
        told = {row["id"]: row["content"] for row in await rows(world)}
        assert set(told) == set(before) - {key}
        assert LEFT in told.values()
        assert await world.complaints() == []


async def test_a_handoff_of_which_nothing_is_left_goes(tmp_path: Path) -> None:
    async with open_store(tmp_path) as world:
        for session, said in (("s1", CODE), ("s2", {"role": "user", "text": "Always use tabs."})):
            await observe(world, said, session=session, is_final=True)
        # So long ago that no more is known of it than the handoff itself.
        await world.ask("DELETE transcript WHERE in_session = 's2' RETURN NONE")
        assert len(await contents(world)) == 4
        await forget(world, "Remember")
        assert len(await contents(world)) == 2
        await forget(world, "Always")
        assert await contents(world) == []
        assert await world.complaints() == []


async def test_a_handoff_is_made_anew_by_what_shares_its_words_alone(tmp_path: Path) -> None:
    """Deleted itself it stays so, although its session has gone on since."""
    shed, lamp = ({"tool": "edit", "file_path": f"/a/{name}.py"} for name in ("shed", "lamp"))
    async with open_store(tmp_path) as world:
        await observe(world, {"role": "assistant", **shed}, is_final=True)
        await observe(world, {"role": "assistant", **lamp})
        [handoff] = await contents(world)
        [other] = await world.push("As a walrus.", session="s1")
        await remove(world.pipeline, "main", other)
        assert await contents(world) == [handoff]
        await forget(world, "Automatic handoff")
        assert await contents(world) == []
        assert await world.complaints() == []


async def test_a_handoff_that_is_made_anew_is_of_the_lowest_who_sent_turns(tmp_path: Path) -> None:
    """The session has gone on since, by words of somebody else's."""
    mine, theirs = ({"role": "user", "text": f"Mend the {what}."} for what in ("crane", "zebra"))
    async with open_store(tmp_path) as world:
        await observe(world, mine, is_final=True)
        await observe(world, theirs, sender=Caller(origin="untrusted"))
        told: Any = await world.ask("SELECT VALUE origin FROM memory")
        assert told == ["agent"]
        [other] = await world.push("A crane.", session="s1")
        await remove(world.pipeline, "main", other)
        told = await world.ask("SELECT content, origin, trust_tier FROM memory")
        [made] = told
        assert "zebra" in made["content"]
        assert (made["origin"], made["trust_tier"]) == ("untrusted", "untrusted")


async def test_a_handoff_goes_once_a_session_that_goes_on_has_done_it_all(tmp_path: Path) -> None:
    async with open_store(tmp_path) as world:
        for box, handoffs in ((" ", 1), ("x", 0)):
            said = f"To do:\n- [{box}] paint the shed"
            await observe(world, {"role": "assistant", "text": said}, is_final=True)
            told = [one for one in await contents(world) if one.startswith("Automatic handoff")]
            assert len(told) == handoffs
            # Written by somebody, it is theirs.
            await world.push("Mine.", kind="handoff", session="s1")
        assert "Mine." in await contents(world)


async def test_what_is_taken_back_while_a_stretch_is_read_stays_so(tmp_path: Path) -> None:
    async with open_store(tmp_path) as world:
        await observe(world, CODE)
        world.embeddings.hangs_on = "handoff"
        ending = asyncio.create_task(
            observe(world, {"role": "assistant", "text": "Noted."}, is_final=True)
        )
        assert await asyncio.to_thread(world.embeddings.is_hanging.wait, 30)
        await forget(world, "Remember")
        world.embeddings.let_go.set()
        assert (await ending).offset == 2
        assert await contents(world) == []
        assert "quokkazebra" not in await everything(world)


async def rows(world: OpenStore) -> list[dict[str, Any]]:
    found: Any = await world.ask("SELECT id, content FROM memory")
    return list(found)


def test_a_task_is_called_by_its_number_whatever_was_taken_back() -> None:
    state = State(tasks={"a red one": False, "b": True}, added=["a red one", "b"], failing="red")
    left = without(state, {"red"})
    assert (left.tasks, left.added, left.failing) == ({"b": True}, ["", "b"], None)


def test_a_failure_goes_with_any_of_its_words() -> None:
    every = (Failure("red", "x"), Failure("y", "so red"), Failure("z", "x", ["ran `red`"]))
    state = State(failures={one.command: one for one in every} | {"w": Failure("w", "x")})
    assert without(state, {"red"}).failures == {"w": Failure("w", "x")}


async def test_a_sessions_handoffs_are_looked_up_by_its_chain(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        params = {"agent": "main", "chain": "session:a"}
        plan = str(await opened.ask(f"EXPLAIN {AUTOMATIC_HANDOFFS.text}", **params))
        # By the kind all handoffs that an agent has are read.
        assert "[index: by_chain_moment, access: ['main', 'session:a']" in plan


async def test_what_came_up_of_a_memory_is_looked_up_by_its_keys(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        [mended] = await opened.push("The crane was red.")
        await put_fix(opened.db, Proof("main", None, "red", "make", "s1", START), mended)
        # Another agent's error says the same, a third one is of neither.
        for agent, key in (("main", "red"), ("anna", "red"), ("main", "blue"), ("main", mended)):
            sighting = Sighting("error", key, "It is so.", None, START)
            await note(opened.db, agent, None, f"{agent} {key}", [sighting])
        params = {"agent": "main", "memories": [mended]}
        found = await opened.db.run(CAME_UP, **params)
        assert sorted(row["sessions"] for row in found) == sorted(
            [["main red"], [f"main {mended}"]]
        )
        plan = str(await opened.ask(CAME_UP.text.replace("\nSELECT", "\nEXPLAIN SELECT"), **params))
        assert plan.count("[index: by_key, access: = ") == 2
        # By the agent all that ever came up is read.
        assert "by_kind" not in plan
