"""What is written while its project is moved is where that went, by whatever way it comes in."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from service.access.caller import Caller, called_by
from service.decisions import route as decisions
from service.handoff import route as handoff
from service.intents import route as intents
from service.memories import route as memories
from service.memories.changing import change_memory
from service.memories.requests import BatchRequest, StoreRequest
from service.memories.storing import find
from service.observe import route as observe
from service.observe.observing import Observer
from service.opt_outs import route as opt_outs
from service.projects import registry
from service.projects.identity import Identity
from service.projects.moving import MOVE, move
from service.projects.registry import find_scope, register
from service.search.searcher import Searcher
from service.session_end import route as session_end
from service.settings import Settings
from service.store.database import Database
from service.store.queries import Query
from service.working_memory import route as working_memory
from service.writing import pipeline
from tests.integration.test_written_amid import once_before
from tests.stores.open_store import OpenStore, open_store

pytestmark = pytest.mark.anyio
HARBOUR: Final = Identity(name="harbour")
PORT: Final = Identity(name="port")
OWN: Final[dict[str, Any]] = {"project": "harbour", "text": "The crane is red."}
ERROR: Final = "error: the crane is stuck on the rail"


@dataclass(frozen=True)
class Way:
    """A way in: what is held up until the project is moved, and the request."""

    holder: Any
    name: str
    send: Callable[[OpenStore], Awaitable[object]]


async def leave(world: OpenStore) -> object:
    return await handoff.post_handoff(world.db, world.pipeline, handoff.HandoffRequest(**OWN))


async def log(world: OpenStore) -> object:
    request = decisions.DecisionRequest(title="The crane", **OWN)
    return await decisions.post_decision(world.db, world.pipeline, request)


async def push(world: OpenStore) -> object:
    return await memories.post_memory(world.db, world.pipeline, StoreRequest(**OWN))


async def push_some(world: OpenStore) -> object:
    request = BatchRequest(memories=[OWN, {"text": "Of no project."}])
    return await memories.post_batch(world.db, world.pipeline, request)


async def focus(world: OpenStore) -> object:
    request = working_memory.WorkingMemoryRequest(**OWN)
    return await working_memory.put_working_memory(world.db, world.pipeline, request)


async def add_to_focus(world: OpenStore) -> object:
    request = working_memory.WorkingMemoryRequest(**OWN)
    return await working_memory.patch_working_memory(world.db, world.pipeline, request)


async def intend(world: OpenStore) -> object:
    request = intents.IntentRequest(when=["crane"], **OWN)
    return await intents.post_intent(world.db, world.pipeline, request)


async def switch_off(world: OpenStore) -> object:
    return await opt_outs.post_opt_out(world.db, opt_outs.OptOutRequest(project="harbour"))


async def listen(world: OpenStore) -> object:
    failed = {"type": "tool_result", "tool_use_id": "t1", "content": ERROR, "is_error": True}
    entries = [
        {"role": "user", "content": "From now on the crane is red."},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make crane"}}
        ]},
        {"role": "user", "content": [failed]},
    ]  # fmt: skip
    request = observe.ObserveRequest(
        session="s1", client="generic", project="harbour", entries=entries
    )
    return await observe.post_observe(world.db, Observer(world.pipeline), request)


async def end_session(world: OpenStore) -> object:
    request = working_memory.WorkingMemoryRequest(session="s1", **OWN)
    await working_memory.put_working_memory(world.db, world.pipeline, request)
    searcher = Searcher(world.db, world.vectors, Settings(_env_file=None), world.engine)
    ending = session_end.SessionEndRequest(session="s1", project="harbour", threshold=0)
    return await session_end.post_session_end(searcher, world.pipeline, ending)


WAYS: Final = {
    "handoff": Way(handoff, "store_one", leave),
    "decision": Way(decisions, "decide", log),
    "memory": Way(memories, "store_one", push),
    "memories": Way(memories, "store", push_some),
    "focus": Way(working_memory, "put", focus),
    "more in focus": Way(working_memory, "append", add_to_focus),
    "intent": Way(intents, "intend", intend),
    "opt-out": Way(opt_outs, "switch_off", switch_off),
    "transcript": Way(Observer, "observe", listen),
    "end of a session": Way(session_end, "end", end_session),
}
TABLES: Final = ("memory", "working_memory", "intent", "opt_out", "fix", "recurrence", "transcript")


async def scopes(world: OpenStore) -> set[str]:
    """Return all scopes that anything stands under."""
    found: set[str] = set()
    for table in TABLES:
        text = "SELECT VALUE [scope, record::id(id)] FROM type::table($name)"
        rows = await world.ask(text, name=table)
        assert isinstance(rows, list)
        for scope, key in rows:
            parts = key if isinstance(key, list) else []
            found.update(one for one in (scope, *parts) if one in {"harbour", "port"})
    return found


async def join(world: OpenStore) -> None:
    await move(world.pipeline, "main", HARBOUR, PORT, 1000)


@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
async def test_it_is_where_its_project_went(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: Way
) -> None:
    async with open_store(tmp_path) as world:
        await register(world.db, "main", HARBOUR)
        once_before(monkeypatch, way.holder, way.name, lambda: join(world))
        told = await way.send(world)
        assert await scopes(world) == {"port"}
        assert getattr(told, "scope", "port") == "port"
        assert await world.complaints() == []


async def test_it_is_there_too_where_the_write_is_under_way_before_the_move(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(tmp_path) as world:
        await register(world.db, "main", HARBOUR)
        moving = list[asyncio.Task[None]]()

        async def begin() -> None:
            moving.append(asyncio.create_task(join(world)))
            # Time to end, if it did not wait for the turn of the write.
            await asyncio.wait(moving, timeout=0.5)

        once_before(monkeypatch, pipeline, "write", begin)
        await push(world)
        await moving[0]
        assert await scopes(world) == {"port"}
        assert await world.complaints() == []


async def test_what_comes_into_focus_as_the_move_has_read_what_is_there_moves_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(tmp_path) as world:
        await register(world.db, "main", HARBOUR)
        run, is_done = Database.run, list[bool]()

        async def run_behind(db: Database, query: Query, **params: Any) -> Any:
            if query is MOVE and not is_done:
                is_done.append(True)
                await focus(world)
            return await run(db, query, **params)

        monkeypatch.setattr(Database, "run", run_behind)
        await join(world)
        assert is_done
        assert await scopes(world) == {"port"}


async def test_what_is_sent_again_stays_where_it_was_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(tmp_path) as world:
        named = StoreRequest(**OWN, source_ref="crane")
        await memories.post_memory(world.db, world.pipeline, named)
        once_before(monkeypatch, memories, "store_one", lambda: join(world))
        again = named.model_copy(update={"text": "The crane is blue."})
        await memories.post_memory(world.db, world.pipeline, again)
        rows = await world.ask("SELECT VALUE [content, scope] FROM memory")
        assert rows == [["The crane is blue.", "port"]]


async def test_what_is_moved_on_meanwhile_is_where_that_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(tmp_path) as world:
        await register(world.db, "main", HARBOUR)

        async def move_twice() -> None:
            await move(world.pipeline, "main", HARBOUR, Identity(name="quay"), 1000)
            await move(world.pipeline, "main", Identity(name="quay"), PORT, 1000)

        once_before(monkeypatch, memories, "store_one", move_twice)
        await push(world)
        assert await scopes(world) == {"port"}


async def test_a_scope_that_its_sender_named_or_alone_may_use_stays(tmp_path: Path) -> None:
    async with open_store(tmp_path) as world:
        await register(world.db, "main", HARBOUR)
        await join(world)
        request = StoreRequest.model_validate({"text": "The crane is red.", "scope": "harbour"})
        await memories.post_memory(world.db, world.pipeline, request)
        with called_by(Caller(key="k1", name="narrow", memory_scopes=("harbour",))):
            request = StoreRequest(text="The crane is blue.")
            await memories.post_memory(world.db, world.pipeline, request)
        [key] = await world.push("The crane is green.")
        memory = await find(world.db, ["main"], key)
        await change_memory(world.pipeline, memory, {"scope": "harbour"})
        assert await world.ask("SELECT VALUE scope FROM memory") == ["harbour"] * 3


async def test_who_names_it_for_the_first_time_in_an_hour_does_not_take_it_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(tmp_path) as world:
        await register(world.db, "main", HARBOUR)
        monkeypatch.setattr(registry, "_SEEN_LATELY", timedelta(0))
        known, is_done = registry._known, list[bool]()

        async def known_before(*args: Any) -> Any:
            found = await known(*args)
            if not is_done:
                is_done.append(True)
                await join(world)
            return found

        monkeypatch.setattr(registry, "_known", known_before)
        assert await register(world.db, "main", HARBOUR) == "port"
        assert await find_scope(world.db, "main", HARBOUR) == "port"
