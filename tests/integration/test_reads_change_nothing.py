"""No GET changes anything: every row of the store is the same after all of them, asked thrice.

A page may send a GET without leave, so none may do more than tell.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import orjson
import pytest

from service.app import create_app
from service.settings import Settings
from service.store.database import Database
from service.store.queries import Query
from tests.stores.graph_check import frozen

pytestmark = pytest.mark.anyio

NOTE: Final = (
    "# Harbour\n\nThe crane is red, as [[Ada]] said.\n\n## Tides\n\nHigh at noon. #harbour\n"
)
# A client, the store, and an id by each path that asks for one.
Filled = tuple[httpx.AsyncClient, Database, dict[str, str]]
# What a route must be given, beside an id.
REQUIRED: Final = {"q": "crane", "path": "harbour.md"}
# Longer than what works beside requests waits: the audit writes its lines after a second.
REST_SECONDS: Final = 2.5


async def rows(db: Database) -> dict[str, bytes]:
    """Return every row of every table."""

    async def ask(text: str) -> Any:
        return await db.run(Query("own", text, frozenset(), writes=False))

    tables = (await ask("INFO FOR DB"))["tables"]
    found = {name: await ask(f"SELECT * FROM {name}") for name in tables}  # noqa: S608 - its own
    told = {
        name: [{str(field): frozen(value) for field, value in row.items()} for row in table]
        for name, table in found.items()
    }
    return {name: orjson.dumps(table, default=str) for name, table in told.items()}


async def at_rest(db: Database) -> dict[str, bytes]:
    """Return the rows once the work that goes on beside requests has changed none for a while."""
    last = await rows(db)
    for _ in range(20):
        await asyncio.sleep(REST_SECONDS)
        now = await rows(db)
        if now == last:
            return now
        last = now
    raise TimeoutError([name for name, table in now.items() if table != last[name]])


@asynccontextmanager
async def filled(
    settings: Settings,
) -> AsyncIterator[tuple[httpx.AsyncClient, Database, dict[str, str]]]:
    """Run a service with something of everything; yields the ids by the path that asks for one."""
    app = create_app(settings)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://127.0.0.1", timeout=60
        ) as client,
    ):
        await client.post("/ingest/scan")
        scanned = await client.post("/ingest/scan", json={"wait": False})
        memory = (await client.post("/memories", json={"text": "The crane is blue."})).json()["id"]
        work = {"dry_run": False, "wait": False}
        consolidation = (await client.post("/consolidate", json=work)).json()["job"]
        concept = (await client.get("/concepts")).json()["concepts"][0]["id"]
        ids = {
            "/memories/{id}": memory, "/memories/{id}/lineage": memory, "/concepts/{id}": concept,
            "/sessions/{id}": "a session/with a slash",
            "/ingest/jobs/{id}": scanned.json()["job"], "/consolidate/jobs/{id}": consolidation,
        }  # fmt: skip
        yield client, app.state.parts[Database], ids


async def test_no_get_changes_anything(tmp_path: Path, embedding_url: str) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "harbour.md").write_text(NOTE, encoding="utf-8")
    settings = Settings(
        _env_file=None, data_dir=tmp_path / "data", embedding_url=embedding_url, sources=(notes,)
    )
    async with filled(settings) as (client, db, ids):
        paths = (await client.get("/openapi.json")).json()["paths"]
        before, asked = await at_rest(db), []
        for path, methods in paths.items():
            for method in methods.keys() & {"get", "head", "options"}:
                told = methods[method].get("parameters", ())
                needed = [
                    one["name"] for one in told if one.get("required") and one["in"] == "query"
                ]
                place = path.replace("{id}", ids[path]) if "{id}" in path else path
                for _ in range(3):
                    answer = await client.request(
                        method, place, params={name: REQUIRED[name] for name in needed}
                    )
                    assert answer.status_code in {200, 409, 422}, (path, answer.text)
                    asked.append((path, answer.status_code))
        await asyncio.sleep(REST_SECONDS)
        after = await rows(db)
        assert [name for name in before if before[name] != after[name]] == []
        assert sum(status == 200 for _, status in asked) >= 3 * 15, asked
        assert len([name for name, table in before.items() if table != b"[]"]) >= 8
