"""`graph-memory handoff`: what one session leaves to the next."""

import asyncio
from typing import Annotated

import typer

from service.access.origins import doubt_of
from service.client.sessions import HandoffStored, LastHandoff, PlaceOptions
from service.commands.connect import connect
from service.commands.given_options import told_as_json, with_json
from service.commands.here import as_text, at_place
from service.commands.piped import words_of
from service.commands.terminal import begin, printable
from service.plurals import how_many
from service.settings import Settings

commands = typer.Typer(
    help="What one session leaves to the next; works with and without the service running.",
    no_args_is_help=True,
)


@commands.command("write")
@with_json
@at_place
def write(
    text: Annotated[str, typer.Argument(help="What was done, what comes next; '-' reads a pipe.")],
    place: PlaceOptions,
) -> None:
    """Leave a handoff to the next session."""
    stored = asyncio.run(_write(begin(), words_of(text), place))
    if not told_as_json(stored):
        typer.echo(f"Handoff written ({how_many(stored['chars'], 'char')})")


@commands.command("read")
@with_json
@at_place
def read(place: PlaceOptions) -> None:
    """Read what the last session left."""
    last = asyncio.run(_read(begin(), place))
    if told_as_json(last):
        return
    if last["text"] is None:
        typer.echo("No handoff was written yet.")
        return
    head = f"# Session Handoff\nUpdated: {minute(last['at'])}{in_doubt(last['trust_tier'])}"
    typer.echo(printable(f"{head}\n\n{last['text']}"))


def minute(moment: str | None) -> str:
    """Return a moment as it stands in lines: to the minute, in UTC."""
    return (moment or "")[:16].replace("T", " ")


def in_doubt(trust_tier: str | None) -> str:
    """Return what a line ends with of words that are not trusted: agents read them."""
    doubt = doubt_of(trust_tier)
    return f" ({doubt})" if doubt else ""


async def _write(settings: Settings, text: str, place: PlaceOptions) -> HandoffStored:
    async with connect(settings) as memory:
        return await memory.write_handoff(text, **place)


async def _read(settings: Settings, place: PlaceOptions) -> LastHandoff:
    async with connect(settings) as memory:
        return await memory.read_handoff(**as_text(place))
