"""What a search shows is as it is stored now, also before the index has read it."""

from pathlib import Path
from typing import Any

import pytest

from service.access.caller import Caller, called_by
from service.errors import MemoryNotFound
from service.index.resident.engine import ResidentEngine
from service.index.resident.fetching import unread
from service.index.resident.residency import Residency
from service.memories.changing import change_memory
from service.memories.screening import Pushed
from service.memories.storing import find, remove, store
from service.records import Filters
from tests.stores.open_store import open_store
from tests.stores.resident_index import PLENTY_BYTES

pytestmark = pytest.mark.anyio

FILTERS = Filters()


async def test_what_is_written_and_not_read_yet_is_asked_of_the_store(tmp_path: Path) -> None:
    async with open_store(tmp_path, form="bytes") as opened:
        [changed, removed, kept], _ = await store(
            opened.pipeline,
            [Pushed("A kettle."), Pushed("A harbour crane."), Pushed("A lighthouse.")],
        )
        keys = [changed, removed, kept]
        # Nobody tells the index of writes: it stays as it was loaded.
        opened.db.after_write = None
        engine = ResidentEngine(Residency(opened.db, PLENTY_BYTES, None), threads=1)
        index = await engine.residency.index_of("main")
        before = await engine.fetch(keys, FILTERS)
        assert {before[key].content for key in keys} == {
            "A kettle.", "A harbour crane.", "A lighthouse.",
        }  # fmt: skip
        assert engine.residency.follower.feed.unread(keys) == set()
        memory = await find(opened.db, ["main"], changed)
        await change_memory(opened.pipeline, memory, {"text": "A kettle of copper."})
        await remove(opened.pipeline, "main", removed)
        assert index.holds(removed)
        assert engine.residency.follower.feed.unread(keys) == {changed, removed}
        after = await engine.fetch(keys, FILTERS)
        assert {key: one.content for key, one in after.items()} == {
            changed: "A kettle of copper.", kept: "A lighthouse.",
        }  # fmt: skip
        engine.close()


async def test_anothers_memory_does_not_leave_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it would take longer to be unknown than none, by as much as it is long."""
    async with open_store(tmp_path, form="bytes") as opened:
        [key], _ = await store(opened.pipeline, [Pushed("A kettle.", agent="ann", scope="red")])
        assert (await find(opened.db, ["bob", "ann"], key)).scope == "red"
        with called_by(Caller(name="b", memory_scopes=("blue", "red"))):
            assert (await find(opened.db, ["ann"], key)).scope == "red"
        given = opened.db.run
        answers: list[object] = []

        async def run(*asked: Any, **params: Any) -> Any:
            answers.append(await given(*asked, **params))
            return answers[-1]

        monkeypatch.setattr(opened.db, "run", run)
        with pytest.raises(MemoryNotFound):
            await find(opened.db, ["bob"], key)
        with called_by(Caller(name="b", memory_scopes=("blue",))), pytest.raises(MemoryNotFound):
            await find(opened.db, ["ann"], key)
        assert answers == [[], []]


async def test_of_an_index_in_doubt_everything_is_asked_of_the_store(tmp_path: Path) -> None:
    async with open_store(tmp_path, form="bytes") as opened:
        [key], _ = await store(opened.pipeline, [Pushed("A kettle.")])
        engine = ResidentEngine(Residency(opened.db, PLENTY_BYTES, None), threads=1)
        await engine.residency.index_of("main")
        assert unread(engine.residency, [key], ["main"]) == set()
        engine.residency.doubts["main"] += 1
        assert unread(engine.residency, [key], ["main"]) == {key}
        # A hand changes a row past us: what the index holds of it is not shown.
        await opened.ask(
            "UPDATE type::record('memory', $key) SET content = 'A kettle of copper.'", key=key
        )
        assert (await engine.fetch([key], FILTERS))[key].content == "A kettle of copper."
        engine.close()
