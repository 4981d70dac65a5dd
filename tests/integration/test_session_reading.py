"""What a session at a place is told: of its project and beside all projects, of nobody else."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from service.drafts.ids import digest
from service.memories.screening import Pushed
from service.memories.storing import store
from service.reflect.reflecting import REPLACE_HOT
from service.session_context.reading import find_all
from service.store.database import record
from service.working_memory.texts import PUT, Place
from tests.stores.open_store import START, OpenStore, open_store

pytestmark = pytest.mark.anyio

HERE = "github.com/ann/app"
ELSEWHERE = "github.com/ann/other"


async def _push(opened: OpenStore, text: str, **fields: Any) -> str:
    [key], _ = await store(opened.pipeline, [Pushed(text, **({"occurred_at": START} | fields))])
    return key


async def _keep_hot(opened: OpenStore, memory: str, scope: str, score: float) -> None:
    one = {
        "id": record("hot_memory", digest("main", scope, memory)), "memory": memory,
        "why": "marked", "score": score, "promoted_at": START,
    }  # fmt: skip
    await opened.db.run(REPLACE_HOT, kept=[one], agent="main", scope=scope)


async def test_each_kind_is_found_where_it_holds(tmp_path: Path) -> None:
    async with open_store(tmp_path, form="bytes") as opened:
        rules = {
            await _push(opened, f"Rule of {kind}.", kind=kind, tags=("constraint",))
            for kind in ("preference", "decision")
        }
        await _push(opened, "A note with the tag.", tags=("constraint",))
        others = {
            await _push(opened, f"One {kind} here.", kind=kind, scope=HERE)
            for kind in ("note", "fact", "entity", "observation", "daily_log", "summary")
        }
        await _push(opened, "A note elsewhere.", scope=ELSEWHERE)
        mine = await _push(opened, "Next here.", kind="handoff", scope=HERE)
        for n, scope in enumerate((ELSEWHERE, None)):
            later = START + timedelta(days=1 + n)
            await _push(opened, "Next.", kind="handoff", scope=scope, occurred_at=later)
        hot = [await _push(opened, f"Hot {name}.") for name in ("here", "beside", "elsewhere")]
        for n, scope in enumerate((HERE, "", ELSEWHERE)):
            await _keep_hot(opened, hot[n], scope, 0.9 - n / 10)
        found = await find_all(opened.engine, opened.db, Place("main", HERE, None))
    assert {one.id for one in found.constraints} == rules
    assert {one.id for one in found.others} >= others
    assert "A note elsewhere." not in {one.content for one in found.others}
    assert [one.id for one in found.handoffs] == [mine]
    assert [one.id for one in found.hot] == hot[:2]


async def test_what_somebody_left_is_told_beside_what_nobody_wrote(tmp_path: Path) -> None:
    automatic: dict[str, Any] = {"kind": "handoff", "scope": HERE, "tags": ("automatic",)}

    async def told() -> list[str]:
        found = await find_all(opened.engine, opened.db, Place("main", HERE, None))
        return [one.content for one in found.handoffs]

    async with open_store(tmp_path, form="bytes") as opened:
        for days, text in ((-1, "Left before."), (0, "Left.")):
            at = START + timedelta(days=days)
            await _push(opened, text, kind="handoff", scope=HERE, occurred_at=at)
        assert await told() == ["Left."]
        for days in (1, 7, 8):
            at = START + timedelta(days=days)
            await _push(opened, f"Day {days}.", **automatic, occurred_at=at)
            # For a week, counted from the last one: no clock is looked at.
            assert await told() == [f"Day {days}.", *(["Left."] if days < 8 else [])]
        await _push(
            opened, "Left anew.", kind="handoff", scope=HERE, occurred_at=START + timedelta(days=9)
        )
        assert await told() == ["Left anew."]


async def test_nobody_elses_words_are_told(tmp_path: Path) -> None:
    strangers: tuple[dict[str, Any], ...] = (
        {"origin": "untrusted", "trust_tier": "trusted"},
        {"origin": "agent", "trust_tier": "untrusted"},
    )
    async with open_store(tmp_path, form="bytes") as opened:
        for n, whose in enumerate(strangers):
            for kind in ("note", "preference", "decision", "handoff"):
                await _push(opened, f"Stranger {n} said a {kind}.", kind=kind, **whose)
        focus: dict[str, Any] = {
            "id": Place("main").id, "agent": "main", "text": "Obey.", "origin": "agent",
            "trust_tier": "quarantined", "client": None, "key": None, "clients": [], "keys": [],
            "now": START,
        }  # fmt: skip
        await opened.db.run(PUT, **focus)
        found = await find_all(opened.engine, opened.db, Place("main", None, None))
        rules = (*found.decisions, *found.preferences)
        assert (found.handoffs, found.focus, rules, found.others) == ((), (), (), ())
        key = await _push(opened, "The owner said so.", kind="decision", origin="owner")
        found = await find_all(opened.engine, opened.db, Place("main", None, None))
    assert [one.id for one in found.decisions] == [key]
