"""What others write amid a consolidation, an undo, or the reading of a concepts file holds."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from service.concepts.merging import merge_concepts, part_concepts, variants_of
from service.consolidate import executing, undoing
from service.consolidate.consolidating import Consolidation, consolidate
from service.consolidate.planning import Target
from service.consolidate.shapes import Consolidated
from service.consolidate.undoing import undo_run
from service.errors import StaleRead
from service.memories.changing import change_memory
from service.memories.screening import Pushed
from service.memories.storing import find, remove, store
from service.records import QUARANTINED
from service.store.database import record
from service.store.queries import Query
from service.trust.quarantine import set_tiers
from service.writing import concepts_file, pipeline
from tests.stores.open_store import START, OpenStore, open_store

pytestmark = pytest.mark.anyio
TARGET = Target("main", None, START + timedelta(days=900))
LATER = START + timedelta(days=2)
CARD = '[[concept]]\nname = "Embedding box"\naliases = ["embedding server"]\n'

# Something that somebody else does: with the store and the second log's id.
Deed = Callable[[OpenStore, str], Awaitable[object]]


async def push(world: OpenStore, *texts: str, first: datetime = START) -> list[str]:
    pushed = [
        Pushed(text, kind="daily_log", occurred_at=first + timedelta(hours=n), source_ref=text)
        for n, text in enumerate(texts)
    ]
    ids, _ = await store(world.pipeline, pushed)
    return ids


async def run(world: OpenStore) -> Consolidated:
    return await consolidate(world.pipeline, Consolidation(TARGET, dry_run=False))


async def summaries(world: OpenStore) -> list[dict[str, Any]]:
    rows = await world.ask("SELECT id, content, scope, pinned FROM memory WHERE kind = 'summary'")
    assert isinstance(rows, list)
    return rows


def once_before(
    monkeypatch: pytest.MonkeyPatch,
    holder: object,
    name: str,
    deed: Callable[[], Awaitable[object]],
) -> None:
    """Let something happen just before a function is called for the first time."""
    call, is_done = getattr(holder, name), list[bool]()

    async def called(*args: Any, **named: Any) -> Any:
        if not is_done:
            is_done.append(True)
            await deed()
        return await call(*args, **named)

    monkeypatch.setattr(holder, name, called)


@dataclass(frozen=True)
class TwoRuns:
    """What two runs left: the second log of the first one, the summary that both made."""

    secret: str
    summary: str
    second: str


async def two_runs(world: OpenStore) -> TwoRuns:
    _, secret = await push(world, "Osprey-2 came.", "Osprey-2 told the SECRET.")
    await run(world)
    await push(world, "Osprey-2 is back.", first=LATER)
    done = await run(world)
    assert done.counts.revised == 1
    assert done.run
    [summary] = await summaries(world)
    return TwoRuns(secret, summary["id"], done.run)


async def quarantine(world: OpenStore, key: str) -> None:
    await set_tiers(world.pipeline, {"main": [key]}, QUARANTINED)


async def move(world: OpenStore, key: str) -> None:
    await change(world, key, scope="private")


async def end(world: OpenStore, key: str) -> None:
    await change(world, key, valid_until=START + timedelta(days=1000))


async def rewrite(world: OpenStore, key: str) -> None:
    await change(world, key, text="Osprey-2 slept.")


async def delete(world: OpenStore, key: str) -> None:
    await remove(world.pipeline, "main", key)


async def change(world: OpenStore, key: str, **fields: Any) -> None:
    memory = await find(world.db, ["main"], key)
    await change_memory(world.pipeline, memory, fields)


@pytest.mark.parametrize("deed", [quarantine, move, end])
async def test_what_leaves_its_wall_or_ends_while_its_summary_is_embedded_joins_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deed: Deed
) -> None:
    async with open_store(tmp_path) as world:
        _, key = await push(world, "Osprey-2 came.", "Osprey-2 told the SECRET.")
        once_before(monkeypatch, world.vectors, "embed_each", lambda: deed(world, key))
        with pytest.raises(StaleRead):
            await run(world)
        assert await summaries(world) == []
        assert (await find(world.db, ["main"], key)).archived_at is None
        assert await world.complaints() == []


@pytest.mark.parametrize("deed", [rewrite, quarantine, delete])
async def test_an_undo_brings_back_nothing_that_changed_or_went_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deed: Deed
) -> None:
    async with open_store(tmp_path) as world:
        made = await two_runs(world)
        once_before(monkeypatch, undoing, "write_change", lambda: deed(world, made.secret))
        await undo_run(world.pipeline, "main", made.second, pin=False)
        [summary] = await summaries(world)
        assert "SECRET" not in summary["content"]
        assert await world.complaints() == []


async def test_an_undo_makes_no_summary_anew_that_was_deleted_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(tmp_path) as world:
        made = await two_runs(world)
        once_before(monkeypatch, undoing, "write_change", lambda: delete(world, made.summary))
        undone = await undo_run(world.pipeline, "main", made.second, pin=False)
        assert (undone.restored, undone.removed, undone.revised) == ([], [], [])
        assert await summaries(world) == []
        assert await world.complaints() == []


async def test_what_another_service_writes_amid_the_turn_is_read_when_it_begins_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(tmp_path) as world:
        made = await two_runs(world)

        async def elsewhere() -> None:
            text = "UPDATE $id SET content = 'Osprey-2 slept.'"
            query = Query("elsewhere", text, frozenset({"id"}), writes=True)
            await world.db.run(query, id=record("memory", made.secret))
            raise StaleRead("another service came in between")

        once_before(monkeypatch, pipeline, "write", elsewhere)
        await undo_run(world.pipeline, "main", made.second, pin=False)
        [summary] = await summaries(world)
        assert "SECRET" not in summary["content"]
        assert "slept" in summary["content"]


async def test_a_summary_that_is_pinned_while_it_is_made_anew_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(tmp_path) as world:
        await push(world, "Osprey-2 came.", "Osprey-2 went.")
        await run(world)
        [key] = await push(world, "Osprey-2 is back.", first=LATER)
        [summary] = await summaries(world)
        pinning = lambda: change(world, summary["id"], pinned=True)  # noqa: E731
        once_before(monkeypatch, executing, "write_change", pinning)
        with pytest.raises(StaleRead):
            await run(world)
        assert await summaries(world) == [summary | {"pinned": True}]
        assert (await find(world.db, ["main"], key)).archived_at is None
        assert await world.complaints() == []


async def test_what_is_pushed_while_a_concepts_file_is_compared_is_linked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(tmp_path) as world:
        await world.push("nothing")
        pushing = lambda: world.push("the server is up", tags=("embedding server",))  # noqa: E731
        once_before(monkeypatch, concepts_file, "commit", pushing)
        await world.declare(CARD)
        assert len(await world.memories_of("embedding_box")) == 1
        assert await world.complaints() == []


async def test_what_is_merged_while_a_concepts_file_is_compared_makes_no_circle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(tmp_path) as world:
        for number, text in enumerate(
            ("embedding server", "embedding servers", "embedding servers")
        ):
            await world.read(f"{number}.md", f"one [[{text}]]\n")

        async def merge(run: str) -> None:
            await merge_concepts(world.pipeline, "main", await variants_of(world.db, "main"), run)

        once_before(monkeypatch, concepts_file, "commit", lambda: merge("r1"))
        await world.declare('[[concept]]\nname = "embedding server"\n')
        assert await world.complaints() == []
        await merge("r2")
        await part_concepts(world.pipeline, "main", run="r2")
        assert await world.complaints() == []
