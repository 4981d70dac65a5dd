"""`graph-memory reembed`: forget all vectors and have every memory embedded by another model."""

import asyncio
import time
from collections.abc import Callable
from typing import Final

import typer
from rich.console import Console

from service.commands.given_options import told_as_json, with_json
from service.commands.progress import progress_bar
from service.commands.terminal import begin, console
from service.errors import EmbedderForbids, EmbedderRefused
from service.opening import open_parts, read_schema
from service.plurals import how_many
from service.settings import Settings
from service.store.database_indexes import switch_indexes
from service.store.queries import load_query
from service.writing.embed_later import PENDING, Walk, embed_pending
from service.writing.pipeline import Pipeline

FORGET_VECTORS: Final = load_query(__package__, "forget_vectors")
_PAGE: Final = 1000


@with_json
def command() -> None:
    """Have every memory embedded anew by the configured model; the service must be stopped."""
    settings = begin()
    started = time.perf_counter()
    count, unembedded = asyncio.run(reembed(settings, console))
    if not told_as_json({"embedded": count, "unembedded": unembedded}):
        took_seconds = time.perf_counter() - started
        told = how_many(count, "memory", "memories")
        typer.echo(f"Embedded {told} in {took_seconds:.1f}s")
    if unembedded:
        told = how_many(len(unembedded), "memory has no vector", "memories have no vector")
        told += ", as the embedding server refuses what is said there:"
        console.print(told, *unembedded, soft_wrap=True, highlight=False)


async def reembed(settings: Settings, console: Console) -> tuple[int, list[str]]:
    """Embed every memory anew; returns how many, and the ids of those whose texts are refused.

    The new model is asked first: without an answer from it, nothing is forgotten. Interrupted
    half-way, the service embeds the rest when it starts. Raises what opening and embedding raise; a
    refusal only where not one text is taken.
    """
    async with open_parts(settings, fits_engine=False) as parts:
        await parts.vectors.reach()
        await switch_indexes(parts.db, await read_schema(settings), settings.search_engine)
        waiting = await parts.db.run(FORGET_VECTORS)
        await parts.vectors.prepare()
        with progress_bar(console, "Embedding", waiting) as show:
            done = await _embed(parts.pipeline, show)
        return done, await _unembedded(parts.pipeline)


async def _embed(pipeline: Pipeline, show: Callable[..., None]) -> int:
    done, walk = 0, Walk()
    try:
        while count := await embed_pending(pipeline, walk=walk):
            done += count
            show(completed=done)
    except EmbedderForbids:
        raise
    except EmbedderRefused:
        # At the end, once all others have theirs.
        if not done:
            raise
    return done


async def _unembedded(pipeline: Pipeline) -> list[str]:
    found, after = list[str](), None
    while rows := await pipeline.db.run(PENDING, agent=None, after=after, limit=_PAGE):
        found += [row["id"] for row in rows]
        after = rows[-1]["waiting"]
    return found
