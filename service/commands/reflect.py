"""`graph-memory reflect`: a look back over a week, and what belongs near at hand."""

import asyncio
from typing import Annotated

import typer

from service.client.reflections import Reflection, ReflectOptions
from service.client.sessions import PlaceOptions
from service.commands.connect import connect
from service.commands.given_options import told_as_json, with_json
from service.commands.here import at_place
from service.commands.spans import seconds_of
from service.commands.terminal import begin, printable
from service.settings import Settings

_DAY_SECONDS = 86_400


@with_json
@at_place
def command(
    place: PlaceOptions,
    since: Annotated[str, typer.Option(help="How far back: 24h, 7d, 4w.")] = "7d",
    max_tokens: Annotated[
        int | None, typer.Option(min=0, help="Most tokens of the hot memory.")
    ] = None,
    *,
    execute: Annotated[
        bool, typer.Option("--execute", help="Change the hot memory; without it is only told.")
    ] = False,
) -> None:
    """Tell what recurs, grows and contradicts itself, and what belongs into the hot memory."""
    days = max(1, seconds_of(since, "--since") // _DAY_SECONDS)
    choices: ReflectOptions = {"days": days, "dry_run": not execute}
    if max_tokens is not None:
        choices["max_tokens"] = max_tokens
    choices |= place  # type: ignore[typeddict-item]
    told = asyncio.run(_ask(begin(), choices))
    if told_as_json(told):
        return
    typer.echo(printable(told["report"]))
    if told["dry_run"]:
        typer.echo("\nDry run. Use --execute to change the hot memory.")


async def _ask(settings: Settings, choices: ReflectOptions) -> Reflection:
    async with connect(settings) as memory:
        return await memory.reflect(**choices)
