"""`graph-memory store`: one memory from a shell."""

import asyncio
from typing import Annotated, cast

import typer

from service.client.answers import Stored
from service.client.options import MemoryOptions
from service.client.sessions import PlaceOptions
from service.commands.connect import connect
from service.commands.given_options import Form, in_form
from service.commands.here import at_place
from service.commands.piped import words_of
from service.commands.terminal import begin, console, leave_to_the_answer, printable, tell_json
from service.settings import Settings


@at_place
@in_form
def command(
    place: PlaceOptions,
    form: Form,
    text: Annotated[
        str | None, typer.Argument(help="What to remember; '-' or nothing reads it from a pipe.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="A title in a few words.")] = None,
    kind: Annotated[str, typer.Option(help="note, fact, preference, decision, …")] = "note",
    tag: Annotated[list[str] | None, typer.Option(help="A label; may be repeated.")] = None,
) -> None:
    """Store one memory; the next search finds it. In a repository it belongs to that project."""
    words = words_of(text)
    more = cast("MemoryOptions", {"title": title, "kind": kind, "tags": tag or [], **place})
    settings = begin()
    leave_to_the_answer()
    stored = asyncio.run(_store(settings, words, more))
    if form.is_json:
        tell_json(stored)
        return
    linked = f", linked to {', '.join(stored['concepts'])}" if stored["concepts"] else ""
    typer.echo(printable(f"{stored['action'].capitalize()} {stored['id']}{linked}."))
    for warning in stored["warnings"]:
        told = printable(warning)
        console.print(told, style="yellow", soft_wrap=True, highlight=False, markup=False)


async def _store(settings: Settings, text: str, more: MemoryOptions) -> Stored:
    async with connect(settings) as memory:
        return await memory.store_memory(text, **more)
