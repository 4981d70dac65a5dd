"""`graph-memory switch-engine`: give the store what the search engine needs, and no more."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Final

import typer
from rich.console import Console

from service.commands.given_options import told_as_json, with_json
from service.commands.progress import progress_bar
from service.commands.terminal import begin, console
from service.inference.fitting import stored_form
from service.inference.vectors import Vectors
from service.opening import open_parts, read_schema
from service.plurals import how_many
from service.settings import Settings
from service.store.database import Database, record
from service.store.database_indexes import switch_indexes
from service.store.queries import load_query
from service.store.vector_forms import ENGINE_OF_FORM, read_vector, stored_vector

COUNT_VECTORS: Final = load_query(__package__, "count_vectors")
VECTORS_TO_SWITCH: Final = load_query(__package__, "vectors_to_switch")
SWITCH_VECTORS: Final = load_query(__package__, "switch_vectors")

# One page is one transaction: 0.5 s when 384 numbers a row are written as arrays.
_PAGE: Final = 500


@with_json
def command() -> None:
    """Make the store fit MEMORY_SEARCH_ENGINE; the service must be stopped."""
    settings = begin()
    started = time.perf_counter()
    count = asyncio.run(switch_engine(settings, console))
    engine = settings.search_engine
    if told_as_json({"switched": count, "engine": engine}):
        return
    if count is None:
        typer.echo(f"The store fits the {engine} engine already")
    else:
        took_seconds = time.perf_counter() - started
        typer.echo(
            f"Switched {how_many(count, 'vector')} to the {engine} engine in {took_seconds:.1f}s"
        )


async def switch_engine(settings: Settings, console: Console) -> int | None:
    """Make the store fit MEMORY_SEARCH_ENGINE; returns how many vectors changed their form.

    None says that the store fits already. The embedding server is not asked. Raises what opening
    raises, and what the store raises.
    """
    async with open_parts(settings, fits_engine=False) as parts:
        return await switch_store(parts.db, parts.vectors, await read_schema(settings), console)


async def switch_store(db: Database, vectors: Vectors, schema: str, console: Console) -> int | None:
    """Fit the indexes to the form of `vectors`, bring every vector into it, mark the store.

    Interrupted half-way, the store stays marked as mixed, and another run finishes. Returns how
    many vectors changed, None when the store fits already.
    """
    with console.status("Fitting the indexes"):
        has_switched = await switch_indexes(db, schema, ENGINE_OF_FORM[vectors.form])
    facts = await db.meta("embedding")
    if not facts or stored_form(facts) == vectors.form:
        return 0 if has_switched else None
    await vectors.fitting.begin_switch(facts)
    switched = 0
    total = await db.run(COUNT_VECTORS) or 0
    with progress_bar(console, "Switching", total) as show:
        async for rows in _pages(db, vectors):
            switched += await _switch(db, vectors, rows)
            show(advance=len(rows))
        if vectors.form == "array":
            show(description="Building the index")
        await vectors.fitting.end_switch(facts)
    return switched


async def _pages(db: Database, vectors: Vectors) -> AsyncIterator[Sequence[Mapping[str, Any]]]:
    """Yield all vectors, page by page; those that need no change come as None."""
    after, is_bytes = "", vectors.form == "bytes"
    while rows := await db.run(VECTORS_TO_SWITCH, after=after, is_bytes=is_bytes, limit=_PAGE):
        yield rows
        after = rows[-1]["id"]


async def _switch(db: Database, vectors: Vectors, rows: Sequence[Mapping[str, Any]]) -> int:
    switched = [
        {
            "id": record("embedding", row["id"]),
            "vector": stored_vector(read_vector(row["vector"]), vectors.form),
        }
        for row in rows
        if row["vector"] is not None
    ]
    if switched:
        await db.run(SWITCH_VECTORS, switched=switched)
    return len(switched)
