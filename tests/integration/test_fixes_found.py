"""Which of several fixes of one error is told."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from service.fixes.fixes import Proof, find_fix, put_fix
from service.fixes.signature import signature_of
from tests.stores.open_store import START, OpenStore, open_store

pytestmark = pytest.mark.anyio
ERROR = "Error: Cannot find module 'left-pad'"


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[OpenStore]:
    async with open_store(tmp_path) as store:
        yield store


async def _mend(
    opened: OpenStore, text: str, scope: str | None = None, command: str = "make", hours: int = 0
) -> None:
    """Let an error be mended by what a text tells, so many hours after the others."""
    [key] = await opened.push(text, scope=scope)
    at = START + timedelta(hours=hours)
    proof = Proof("main", scope, signature_of(ERROR), command, "s1", at)
    await put_fix(opened.db, proof, key)


async def _found(
    opened: OpenStore, scope: str | None = None, command: str | None = None
) -> str | None:
    found = await find_fix(opened.db, "main", scope, ERROR, command)
    return found.text if found else None


async def test_the_last_one_is_told(opened: OpenStore) -> None:
    for hours, command in ((1, "make"), (3, "make test"), (2, "make all")):
        await _mend(opened, f"After {hours} hours.", command=command, hours=hours)
    assert await _found(opened) == "After 3 hours."


async def test_proven_again_it_is_the_later_one(opened: OpenStore) -> None:
    for hours, command in ((1, "make"), (2, "npm test"), (3, "make")):
        await _mend(opened, f"After {hours} hours.", command=command, hours=hours)
    assert await _found(opened, command="make") == "After 3 hours."
    assert await opened.ask("RETURN array::len((SELECT VALUE id FROM fix))") == 2


async def test_one_of_the_same_project_is_told_before_a_later_one_of_none(
    opened: OpenStore,
) -> None:
    await _mend(opened, "In the app.", "app")
    await _mend(opened, "Of none.", hours=1)
    await _mend(opened, "In another.", "other", hours=2)
    assert await _found(opened, "app") == "In the app."
    assert await _found(opened, "third") == "Of none."
    assert await _found(opened) == "Of none."


async def test_one_of_the_same_command_is_told_before_a_later_one_of_the_project(
    opened: OpenStore,
) -> None:
    await _mend(opened, "By npm test.", command="npm test")
    await _mend(opened, "By make.", "app", hours=1)
    assert await _found(opened, "app", "cd src && npm test 2>&1") == "By npm test."
    assert await _found(opened, "app", "npm run lint") == "By make."
    assert await _found(opened, "app") == "By make."
