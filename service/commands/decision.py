"""`graph-memory decision`: what was decided."""

import asyncio
from datetime import UTC, datetime
from typing import Annotated

import typer

from service.client.sessions import Decided, Decision, DecisionOptions, PlaceOptions
from service.commands.connect import connect
from service.commands.given_options import told_as_json, with_json
from service.commands.handoff import in_doubt, minute
from service.commands.here import as_text, at_place
from service.commands.piped import words_of
from service.commands.terminal import begin, printable
from service.settings import Settings

commands = typer.Typer(
    help="What was decided; works with and without the service running.", no_args_is_help=True
)

_PAGE = 1000


@commands.command("log")
@with_json
@at_place
def log(
    place: PlaceOptions,
    text: Annotated[str, typer.Argument(help="What was decided; '-' reads a pipe.")],
    tag: Annotated[list[str] | None, typer.Option(help="A label; may be repeated.")] = None,
    supersedes: Annotated[
        str | None, typer.Option(help="The id of the decision whose place it takes.")
    ] = None,
) -> None:
    """Log a decision; nothing removes it, a later one may take its place."""
    choices: DecisionOptions = {"tags": tag or [], "supersedes": supersedes}
    choices |= place  # type: ignore[typeddict-item]
    text = words_of(text)
    decided = asyncio.run(_log(begin(), text, choices))
    if told_as_json(decided):
        return
    typer.echo(f"Logged: {_line(datetime.now(UTC).isoformat(), tag or [], text)}")


@commands.command("list")
@with_json
@at_place
def show(
    place: PlaceOptions,
    last: Annotated[int, typer.Option(min=1, max=_PAGE, help="How many, the newest first.")] = 10,
    tag: Annotated[str | None, typer.Option(help="With this tag alone.")] = None,
) -> None:
    """List what was decided, with what holds no longer."""
    found = asyncio.run(_list(begin(), last, tag, place))
    if told_as_json({"decisions": found}):
        return
    for one in found:
        line = _line(one["at"], one["tags"], one["text"])
        by = f" (superseded by {', '.join(one['superseded_by'])})" if one["superseded_by"] else ""
        typer.echo(printable(f"{line}{by}{in_doubt(one['trust_tier'])}"))
    if not found:
        typer.echo("No decision was logged yet.")


def _line(at: str, tags: list[str], text: str) -> str:
    labels = f" [{', '.join(tags)}]" if tags else ""
    return f"- [{minute(at)}]{labels} {' '.join(text.split())}"


async def _log(settings: Settings, text: str, choices: DecisionOptions) -> Decided:
    async with connect(settings) as memory:
        return await memory.log_decision(text, **choices)


async def _list(
    settings: Settings, last: int, tag: str | None, place: PlaceOptions
) -> list[Decision]:
    async with connect(settings) as memory:
        page = await memory.list_decisions(last=last, tag=tag, **as_text(place))
        return page["decisions"]
