"""`graph-memory handoff`: what one session leaves to the next."""

import asyncio
from typing import Annotated

import typer

from service.client.sessions import HandoffStored, LastHandoff, PlaceOptions
from service.commands.connect import connect
from service.commands.here import Agent, Project, as_text, find_place
from service.commands.terminal import begin
from service.settings import Settings

commands = typer.Typer(
    help="What one session leaves to the next; works with and without the service running.",
    no_args_is_help=True,
)


@commands.command("write")
def write(
    text: Annotated[str, typer.Argument(help="What was done, what comes next.")],
    agent: Agent = None,
    project: Project = None,
) -> None:
    """Leave a handoff to the next session."""
    stored = asyncio.run(_write(begin(), text, find_place(agent, project)))
    typer.echo(f"Handoff written ({stored['chars']} chars)")


@commands.command("read")
def read(agent: Agent = None, project: Project = None) -> None:
    """Read what the last session left."""
    last = asyncio.run(_read(begin(), find_place(agent, project)))
    if last["text"] is None:
        typer.echo("No handoff was written yet.")
        return
    typer.echo(f"# Session Handoff\nUpdated: {minute(last['at'])}\n\n{last['text']}")


def minute(moment: str | None) -> str:
    """Return a moment as it stands in lines: to the minute, in UTC."""
    return (moment or "")[:16].replace("T", " ")


async def _write(settings: Settings, text: str, place: PlaceOptions) -> HandoffStored:
    async with connect(settings) as memory:
        return await memory.write_handoff(text, **place)


async def _read(settings: Settings, place: PlaceOptions) -> LastHandoff:
    async with connect(settings) as memory:
        return await memory.read_handoff(**as_text(place))
