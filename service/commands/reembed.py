"""`graph-memory reembed`: forget all vectors and have every memory embedded by another model."""

import asyncio
import time
from typing import Final

import typer
from rich.console import Console

from service.commands.given_options import told_as_json, with_json
from service.commands.progress import progress_bar
from service.commands.terminal import begin, console
from service.opening import open_parts, read_schema
from service.settings import Settings
from service.store.database_indexes import switch_indexes
from service.store.queries import load_query
from service.writing.embed_later import Walk, embed_pending

FORGET_VECTORS: Final = load_query(__package__, "forget_vectors")


@with_json
def command() -> None:
    """Have every memory embedded anew by the configured model; the service must be stopped."""
    settings = begin()
    started = time.perf_counter()
    count = asyncio.run(reembed(settings, console))
    if not told_as_json({"embedded": count}):
        typer.echo(f"Embedded {count} memories in {time.perf_counter() - started:.1f}s")


async def reembed(settings: Settings, console: Console) -> int:
    """Embed every memory anew; returns how many.

    The new model is asked first: without an answer from it, nothing is forgotten. Interrupted
    half-way, the service embeds the rest when it starts. Raises what opening and embedding raise.
    """
    async with open_parts(settings, fits_engine=False) as parts:
        await parts.vectors.reach()
        await switch_indexes(parts.db, await read_schema(settings), settings.search_engine)
        waiting = await parts.db.run(FORGET_VECTORS)
        await parts.vectors.prepare()
        done, walk = 0, Walk()
        with progress_bar(console, "Embedding", waiting) as show:
            while count := await embed_pending(parts.pipeline, walk=walk):
                done += count
                show(completed=done)
        return done
