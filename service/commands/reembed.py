"""`graph-memory reembed`: forget all vectors and have every memory embedded by another model."""

from typing import Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from service.opening import open_parts, read_schema
from service.settings import Settings
from service.store.queries import load_query
from service.store.text_index import switch_text_index
from service.writing.embed_later import embed_pending

FORGET_VECTORS: Final = load_query(__package__, "forget_vectors")


async def reembed(settings: Settings, console: Console) -> int:
    """Embed every memory anew; returns how many.

    The new model is asked first: without an answer from it, nothing is forgotten. Interrupted
    half-way, the service embeds the rest when it starts. Raises what opening and embedding raise.
    """
    async with open_parts(settings, fits_engine=False) as parts:
        await parts.vectors.reach()
        await switch_text_index(parts.db, await read_schema(settings), settings.search_engine)
        waiting = await parts.db.run(FORGET_VECTORS)
        await parts.vectors.prepare()
        done = 0
        with Progress(
            TextColumn("Embedding"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
            console=console, transient=True,
        ) as progress:  # fmt: skip
            bar = progress.add_task("Embedding", total=waiting)
            while count := await embed_pending(parts.pipeline):
                done += count
                progress.update(bar, completed=done)
        return done
