"""`graph-memory working-memory`: what is in focus now."""

import asyncio
from typing import Annotated, Literal

import typer

from service.client.sessions import PlaceOptions, WorkingMemory
from service.commands.connect import connect
from service.commands.given_options import told_as_json, with_json
from service.commands.handoff import in_doubt, minute
from service.commands.here import as_text, at_place
from service.commands.piped import words_of
from service.commands.terminal import begin, printable
from service.plurals import how_many
from service.settings import Settings

commands = typer.Typer(
    help="What is in focus now; works with and without the service running.",
    no_args_is_help=True,
)

Text = Annotated[
    str, typer.Argument(help="What is in focus, or what came to it; '-' reads a pipe.")
]


@commands.command("show")
@with_json
@at_place
def show(place: PlaceOptions) -> None:
    """Show what is in focus."""
    found = asyncio.run(_read(begin(), place))
    if told_as_json(found):
        return
    if found["text"] is None:
        typer.echo("The working memory is empty.")
        return
    updated = minute(found["updated_at"]) + in_doubt(found["trust_tier"])
    typer.echo(printable(f"# Working Memory\nUpdated: {updated}\n\n{found['text']}"))


@commands.command("set")
@with_json
@at_place
def set_text(text: Text, place: PlaceOptions) -> None:
    """Set what is in focus, in place of what was."""
    text = words_of(text)
    stored = asyncio.run(_write(begin(), "set", text, place))
    if not told_as_json(stored):
        typer.echo(f"Working memory set ({how_many(len(text.strip()), 'char')})")


@commands.command("update")
@with_json
@at_place
def update(text: Text, place: PlaceOptions) -> None:
    """Add to what is in focus, under a heading with the time."""
    text = words_of(text)
    stored = asyncio.run(_write(begin(), "update", text, place))
    if not told_as_json(stored):
        typer.echo(f"Working memory updated ({how_many(len(text.strip()), 'char')})")


@commands.command("clear")
@with_json
@at_place
def clear(place: PlaceOptions) -> None:
    """Let nothing be in focus."""
    asyncio.run(_clear(begin(), place))
    if not told_as_json({}):
        typer.echo("Working memory cleared")


async def _read(settings: Settings, place: PlaceOptions) -> WorkingMemory:
    async with connect(settings) as memory:
        return await memory.read_working_memory(**as_text(place))


async def _write(
    settings: Settings, what: Literal["set", "update"], text: str, place: PlaceOptions
) -> WorkingMemory:
    async with connect(settings) as memory:
        if what == "set":
            return await memory.set_working_memory(text, **place)
        return await memory.update_working_memory(text, **place)


async def _clear(settings: Settings, place: PlaceOptions) -> None:
    async with connect(settings) as memory:
        await memory.clear_working_memory(**as_text(place))
