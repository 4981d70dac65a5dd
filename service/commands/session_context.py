"""`graph-memory session-context`: what a session that begins should know."""

import asyncio
from typing import Annotated

import typer

from service.client.sessions import ContextOptions, PlaceOptions, SessionContext, why_empty
from service.commands.connect import connect
from service.commands.given_options import told_as_json, with_json
from service.commands.here import at_place
from service.commands.terminal import begin, printable
from service.settings import Settings


@with_json
@at_place
def command(
    place: PlaceOptions,
    session: Annotated[
        str | None, typer.Option(help="The session that begins: it is noted what it was given.")
    ] = None,
    max_tokens: Annotated[int | None, typer.Option(min=0, help="Most tokens.")] = None,
    max_chars: Annotated[int | None, typer.Option(min=0, help="Most characters.")] = None,
) -> None:
    """Print what a session should know: rules, handoff, focus, decisions and what is active."""
    choices: ContextOptions = {
        "session": session, "max_tokens": max_tokens, "max_chars": max_chars,
    }  # fmt: skip
    choices |= place  # type: ignore[typeddict-item]
    told = asyncio.run(_ask(begin(), choices))
    if told_as_json(told):
        return
    typer.echo(printable(told["text"] or why_empty(told)))


async def _ask(settings: Settings, choices: ContextOptions) -> SessionContext:
    async with connect(settings) as memory:
        return await memory.session_context(**choices)
