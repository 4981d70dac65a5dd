"""Who has the place of a decision once several that took it fall together, or in a circle."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from service.decisions.decisions import decide, superseded_by
from service.decisions.holding import DECISION
from service.links import stored
from service.memories.screening import Pushed
from service.memories.storing import find
from service.records import QUARANTINED
from service.trust.quarantine import set_tiers
from service.writing.removing import remove_memories
from tests.stores.open_store import OpenStore, open_store

pytestmark = pytest.mark.anyio


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[OpenStore]:
    async with open_store(tmp_path, form="bytes") as opened:
        yield opened


async def _decide(opened: OpenStore, text: str, superseded: str | None = None) -> str:
    key, _ = await decide(opened.pipeline, Pushed(text, kind=DECISION), superseded)
    return key


async def _remove(opened: OpenStore, *keys: str) -> None:
    gone = await stored.memories_by_id(opened.db, keys)
    await remove_memories(opened.pipeline, "main", list(gone.values()))


async def _holds(opened: OpenStore, key: str) -> bool:
    return (await find(opened.db, ["main"], key)).valid_until is None


async def test_of_those_that_go_together_the_one_behind_them_has_the_place(
    opened: OpenStore,
) -> None:
    first = await _decide(opened, "We deploy with Nomad.")
    second = await _decide(opened, "We deploy with Chef.", first)
    third = await _decide(opened, "We deploy with Puppet.", second)
    last = await _decide(opened, "We deploy with Ansible.", third)
    await _remove(opened, second, third)
    assert await superseded_by(opened.db, [first]) == {first: [last]}
    assert not await _holds(opened, first)
    await _remove(opened, last)
    assert await _holds(opened, first)


async def test_what_took_places_in_a_circle_never_takes_its_own(opened: OpenStore) -> None:
    first = await _decide(opened, "We deploy with Nomad.")
    second = await _decide(opened, "We deploy with Chef.", first)
    await set_tiers(opened.pipeline, {"main": [second]}, QUARANTINED)
    third = await _decide(opened, "We deploy with Puppet.", second)
    assert await _decide(opened, "We deploy with Nomad.", third) == first
    await _remove(opened, third)
    await _remove(opened, second)
    assert await superseded_by(opened.db, [first]) == {first: []}
    assert await _holds(opened, first)
