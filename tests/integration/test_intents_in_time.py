"""When intents are said: from when they are due to their end, so often, after their rest."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from service.access.caller import LOCAL
from service.intents.matching import Intent
from service.intents.standing import due_intents, fire, intend
from tests.stores.open_store import OpenStore, open_store

pytestmark = pytest.mark.anyio
NOW = datetime(2026, 2, 13, 9, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[OpenStore]:
    async with open_store(tmp_path) as store:
        yield store


async def _intend(opened: OpenStore, text: str, **more: Any) -> Intent:
    """Have something said that is due since now, thrice, without a rest."""
    fields: dict[str, Any] = {
        "id": "", "when": (), "text": text, "scope": None, "due": NOW, "cooldown_hours": 0.0,
        "fires": 3, "fired": 0, "fired_at": None, "expires_at": None, "created_at": NOW,
        "origin": "agent", "trust_tier": "trusted",
    }  # fmt: skip
    sanitiser = opened.pipeline.sanitiser
    stored, _ = await intend(opened.db, sanitiser, Intent(**fields | more), "main", LOCAL)
    return stored


async def _due(opened: OpenStore, now: datetime, scope: str | None = None) -> list[str]:
    return [one.text for one in await due_intents(opened.db, "main", scope, now)]


async def test_it_is_said_from_when_it_is_due_to_its_end(opened: OpenStore) -> None:
    end = NOW + timedelta(hours=1)
    await _intend(opened, "Renew it.", expires_at=end)
    moments = (NOW - SECOND, NOW, end - SECOND, end)
    said = [await _due(opened, moment) for moment in moments]
    assert said == [[], ["Renew it."], ["Renew it."], []]


@pytest.mark.parametrize("days", [-30, 0, 30])
async def test_unless_an_end_is_named_it_ends_90_days_after_it_is_due(
    opened: OpenStore, days: int
) -> None:
    """What was due before it was sent ends 90 days after that."""
    stored = await _intend(opened, "Renew it.", due=NOW + timedelta(days=days))
    assert stored.expires_at == NOW + timedelta(days=90 + max(days, 0))


async def test_what_was_said_rests_for_its_hours(opened: OpenStore) -> None:
    stored = await _intend(opened, "Renew it.", cooldown_hours=1.5)
    awake = NOW + timedelta(hours=1.5)
    assert await fire(opened.db, "main", [stored.id], NOW) == {stored.id}
    assert await _due(opened, awake - SECOND) == []
    # Who found it before it was said comes too late.
    assert await fire(opened.db, "main", [stored.id], awake - SECOND) == set()
    assert await _due(opened, awake) == ["Renew it."]
    assert await fire(opened.db, "main", [stored.id], awake) == {stored.id}


async def test_it_is_said_as_often_as_it_may_be(opened: OpenStore) -> None:
    stored = await _intend(opened, "Renew it.", fires=2)
    for _ in range(2):
        assert await _due(opened, NOW) == ["Renew it."]
        assert await fire(opened.db, "main", [stored.id], NOW) == {stored.id}
    assert await _due(opened, NOW) == []
    assert await fire(opened.db, "main", [stored.id], NOW) == set()


async def test_in_a_project_its_own_are_said_and_those_of_none(opened: OpenStore) -> None:
    for scope in ("app", "other", None):
        await _intend(opened, f"Of {scope}.", scope=scope)
    assert sorted(await _due(opened, NOW, "app")) == ["Of None.", "Of app."]
    assert await _due(opened, NOW) == ["Of None."]


async def test_sent_again_after_its_end_it_is_another_one(opened: OpenStore) -> None:
    end = NOW + timedelta(days=90)
    first = await _intend(opened, "Ask Mina.")
    again = [
        await _intend(opened, "Ask Mina.", created_at=moment) for moment in (end - SECOND, end)
    ]
    assert [one.id == first.id for one in again] == [True, False]
    assert await _due(opened, end) == ["Ask Mina."]


async def test_what_waits_for_words_alone_is_not_due(opened: OpenStore) -> None:
    await _intend(opened, "Ask Mina.", due=None, when=("release",))
    assert await _due(opened, NOW) == []


async def test_what_is_due_first_is_said_first(opened: OpenStore) -> None:
    for hours in (2, 3, 1):
        await _intend(opened, f"Since {hours} hours.", due=NOW - timedelta(hours=hours))
    assert await _due(opened, NOW) == [f"Since {hours} hours." for hours in (3, 2, 1)]
