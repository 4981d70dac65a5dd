"""How decisions are listed: with what took their place, by an index in RAM or the store."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from service.decisions.decisions import decide
from service.decisions.holding import DECISION
from service.decisions.route import PLACE, Decision, DecisionParameters, get_decisions
from service.index.resident.engine import ResidentEngine
from service.memories.changing import change_memory
from service.memories.screening import Pushed
from service.memories.storing import find, remove, store
from service.records import QUARANTINED
from service.store.database import record
from service.store.vector_forms import VectorForm
from service.trust.quarantine import set_tiers
from tests.stores.asked import note_asked, queries_of
from tests.stores.open_store import START, OpenStore, open_store

pytestmark = pytest.mark.anyio

# All that there is to a list of decisions, in one statement, which reads every one of them.
WHOLE: Final = """
SELECT id, tags, occurred_at, occurred_micros, content,
    (SELECT VALUE record::id(in) FROM $parent.id<-supersedes
        WHERE in.kind = "decision" AND in.trust_tier != "quarantined") AS superseded_by
FROM memory WHERE agent = "main" AND kind = "decision" AND archived_at IS NONE
    AND trust_tier != "quarantined" AND ($tag IS NONE OR tags CONTAINS $tag)
    AND ($since IS NONE OR occurred_micros >= time::micros($since))
    AND ($before IS NONE OR occurred_micros < time::micros($before)
        OR (occurred_micros = time::micros($before) AND id < $before_id))
ORDER BY occurred_micros DESC, id DESC LIMIT $limit;
"""


async def listed(
    world: OpenStore, last: int, after: Decision | None = None, **asked: Any
) -> list[Decision]:
    """Return one page; its cursor is there where more is to come."""
    cursor = PLACE.encode(after.at, after.id) if after else None
    told = DecisionParameters(agent="main", last=last, cursor=cursor, **asked)
    page = await get_decisions(world.db, world.pipeline, told)
    assert page.next_cursor is None or len(page.decisions) == last
    return page.decisions


async def expected(
    world: OpenStore, last: int, after: Decision | None = None, **asked: Any
) -> list[Any]:
    rows: Any = await world.ask(
        WHOLE, limit=last, before=after.at if after else None,
        before_id=record("memory", after.id) if after else None, **asked,
    )  # fmt: skip
    return [
        (r["id"], r["tags"], r["occurred_at"], r["content"], sorted(r["superseded_by"]))
        for r in rows
    ]


Deed = Callable[[OpenStore, str, Random], Awaitable[object]]


async def change(world: OpenStore, key: str, **fields: Any) -> None:
    await change_memory(world.pipeline, await find(world.db, ["main"], key), fields)


async def supersede(world: OpenStore, key: str, chance: Random) -> None:
    pushed = Pushed(f"Instead of {key}: {chance.random()}.", kind=DECISION, tags=("new",))
    if (await find(world.db, ["main"], key)).kind == DECISION:
        await decide(world.pipeline, pushed, key)


DEEDS: Final[tuple[Deed, ...]] = (
    supersede,
    supersede,
    lambda world, key, _: remove(world.pipeline, "main", key),
    lambda world, key, _: set_tiers(world.pipeline, {"main": [key]}, QUARANTINED),
    lambda world, key, _: change(world, key, archived=True),
    lambda world, key, _: change(world, key, kind="note"),
    lambda world, key, _: change(world, key, valid_until=START),
    lambda world, key, _: change(world, key, occurred_at=START + timedelta(days=2), tags=["a"]),
)


@pytest.mark.parametrize("form", ["bytes", "array"])
async def test_decisions_are_listed_as_one_statement_tells_them(
    tmp_path: Path, form: VectorForm
) -> None:
    chance = Random(7)
    async with open_store(tmp_path, form=form) as world:
        await store(
            world.pipeline,
            [
                Pushed(
                    f"We take number {n}.", kind=DECISION, tags=("a", "b")[: n % 3],
                    occurred_at=START + timedelta(days=n % 4),
                )
                for n in range(16)
            ],
        )  # fmt: skip
        await world.push("A kettle.", tags=("a",))
        if isinstance(world.engine, ResidentEngine):
            await world.engine.residency.index_of("main")
        every = await listed(world, 1000)
        for _ in range(20):
            # Of those that took a place each second deed is one to them.
            took = [key for one in every for key in one.superseded_by]
            ids = took if took and chance.random() < 0.5 else await world.ids()
            await chance.choice(DEEDS)(world, chance.choice(ids), chance)
            every = await listed(world, 1000)
            for _ in range(6):
                asked = {
                    "tag": chance.choice([None, None, "a", "b", "new", "none"]),
                    "since": chance.choice([None, START + timedelta(days=chance.randrange(4))]),
                }
                after, last = chance.choice([None, *every]), chance.choice([1, 3, 1000])
                found = await listed(world, last, after, **asked)
                shown = [(d.id, d.tags, d.at, d.text, d.superseded_by) for d in found]
                assert shown == await expected(world, last, after, **asked)
        assert any(one.superseded_by for one in every)


async def test_the_store_reads_no_decision_for_a_tag_that_none_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(tmp_path, form="bytes") as world:
        await world.push("We take a log.", kind=DECISION)
        assert isinstance(world.engine, ResidentEngine)
        await world.engine.residency.index_of("main")
        asked = note_asked(monkeypatch)
        assert await listed(world, 10, tag="none") == []
        assert asked == []
        assert len(await listed(world, 10)) == 1
        # What took its place.
        assert [query.name for query in queries_of(asked)] == ["superseded_by"]
