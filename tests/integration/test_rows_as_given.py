"""Rows are written as they are given: what the store's checks would make of them."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from service.errors import StaleRead
from service.memories.changing import change_memory
from service.memories.screening import Pushed
from service.memories.storing import find, remove, store
from service.store import database
from service.store.database import Database, record
from service.store.queries import checked
from service.store.vector_forms import VectorForm
from service.writing.tables.memory import QUERY
from tests.stores.graph_check import TABLES
from tests.stores.open_store import OpenStore, open_store
from tests.stores.template import SCHEMA

pytestmark = pytest.mark.anyio

BOTH = pytest.mark.parametrize("form", ["bytes", "array"])
NOTE = "---\ntags: [gpu]\nimportance: 1\n---\n# Rush\n\nA GPU.\n\n## Blue Harbour\n\nRAG.\n"
DECLARED = '[[concept]]\nname = "Hardware"\nrelated_to = ["GPU"]\nis_a = ["thing"]\n'
EAST = timezone(timedelta(hours=9))
# The tables whose rows are written so.
GIVEN = {"memory", "embedding", "concept", "references", "related_to", "follows"}
# Told by the clock of each store: what is pushed has its place in a chain by when it was told.
_OWN = ("created_at", "updated_at", "position")


def pushed() -> list[Pushed]:
    at = datetime(2026, 2, 13, 9, 0, 0, 123_457, tzinfo=UTC)
    return [
        Pushed("Words.", occurred_at=at),
        Pushed("Words of the first year.", occurred_at=datetime(1, 1, 2, tzinfo=UTC)),
        Pushed("Words of the last year.", occurred_at=datetime(9999, 12, 31, 23, 59, tzinfo=UTC)),
        Pushed(
            "Retrieval Augmented Generation (RAG) at Blue Harbour, and a GPU.", title="About Rush",
            occurred_at=at.astimezone(EAST), importance=1, pinned=True,
            tags=("gpu", "Rush"), concepts=("Blue Harbour",), session="s", scope="one",
            valid_from=at.astimezone(EAST), valid_until=at + timedelta(days=1), source_ref="r",
            sensitivity="private",
        ),
        Pushed("Blue Harbour has a GPU.", occurred_at=at + timedelta(hours=1), session="s"),
        Pushed("RAG and Rush.", occurred_at=at + timedelta(hours=2), session="s", importance=0),
    ]  # fmt: skip


async def fill(opened: OpenStore) -> None:
    """Write what every table has rows of, change some and remove some."""
    await opened.declare(DECLARED)
    keys, _ = await store(opened.pipeline, pushed())
    await opened.read("a.md", NOTE)
    await opened.read("a.md", NOTE.replace("RAG", "Blue Harbour and RAG"))
    await remove(opened.pipeline, "main", keys[0])
    # Each row that changes, to more and to less than it had.
    await opened.read("a.md", NOTE.replace("# Rush\n", "# Rush\n\n\n"))
    less = Pushed(
        "RAG at last.", occurred_at=datetime(2, 3, 4, tzinfo=UTC), source_ref="r",
        said=frozenset({"pinned", "valid_from", "valid_until", "scope", "importance"}),
    )  # fmt: skip
    await store(opened.pipeline, [less])
    first_year = await find(opened.db, ["main"], keys[1])
    await change_memory(opened.pipeline, first_year, {"importance": 0, "title": "First"})
    await opened.push("Rush at Blue Harbour.", "Another GPU of Rush.", session="s", tags=("gpu",))


async def rows_of(opened: OpenStore) -> dict[str, list[str]]:
    """Return every row, with the type of each number, but for when it was written."""
    found = {}
    for table in set(TABLES) - {"meta"}:
        rows = await opened.ask(f"SELECT * FROM {table} ORDER BY id")  # noqa: S608
        assert isinstance(rows, list)
        told = [{name: row[name] for name in sorted(row.keys() - set(_OWN))} for row in rows]
        found[table] = [repr(row) for row in told]
    return found


@asynccontextmanager
async def filled(folder: Path, form: VectorForm) -> AsyncIterator[OpenStore]:
    async with open_store(folder, form) as opened:
        await fill(opened)
        yield opened


@BOTH
async def test_they_are_what_the_checks_would_make_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: VectorForm
) -> None:
    for name in ("given", "checked"):
        (tmp_path / name).mkdir()
    async with filled(tmp_path / "given", form) as opened:
        given = await rows_of(opened)
        assert await opened.complaints() == []
    write, texts = Database._write, list[str]()

    async def with_checks(db: Database, text: str, *more: Any) -> Any:
        texts.append(text)
        return await write(db, checked(text), *more)

    monkeypatch.setattr(database.Database, "_write", with_checks)
    async with filled(tmp_path / "checked", form) as opened:
        expected = await rows_of(opened)
    assert sum("OPTION IMPORT" in text for text in texts) > 3
    assert given == expected
    assert all(given[table] for table in GIVEN)


def test_no_definition_makes_a_value_that_would_be_missing() -> None:
    definitions = re.findall(r"^DEFINE FIELD [^;]*;", SCHEMA, re.MULTILINE)
    made = [
        re.findall(r" (\S+) ON (\w+) ", one)[0]
        for one in definitions
        if re.search(r"\b(?:VALUE|DEFAULT) ", one)
    ]
    assert ("lines", "derived_from") in made
    of_given = [name for name, table in made if table in GIVEN]
    # This one the writer gives too.
    assert of_given == ["occurred_micros"]


async def test_what_the_checks_would_refuse_is_found(tmp_path: Path) -> None:
    async with open_store(tmp_path, "bytes") as opened:
        await opened.push("Words.")
        assert await opened.complaints() == []
        await opened.db.apply(
            "BEGIN; OPTION IMPORT = TRUE; UPDATE memory SET importance = 'much'; COMMIT;"
        )
        assert "importance" in str(await opened.complaints())


async def test_a_row_that_is_gone_is_not_changed_in_silence(tmp_path: Path) -> None:
    async with open_store(tmp_path, "bytes") as opened:
        await opened.push("Words.")
        rows = await opened.ask("SELECT * FROM memory")
        assert isinstance(rows, list)
        gone = rows[0] | {"id": record("memory", "gone")}
        with pytest.raises(StaleRead):
            await opened.db.run(
                QUERY, gone_memories=[], gone_waiting=[], memories=[], changed_memories=[gone],
                moved_votes=[],
            )  # fmt: skip
        assert await opened.ask("SELECT * FROM memory") == rows
