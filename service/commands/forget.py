"""`graph-memory forget`: memories for good, after they were shown."""

import asyncio
import sys
from typing import Annotated, Final

import typer

from service.client.answers import Memory
from service.client.errors import Problem
from service.commands.connect import connect
from service.commands.given_options import Form, in_form, named
from service.commands.here import Agent, find_place
from service.commands.misused import Misused
from service.commands.progress import progress_bar
from service.commands.shown import head_of
from service.commands.terminal import begin, console, end_with_nothing, printable, tell_json
from service.errors import InvalidRequest
from service.settings import Settings

_CANDIDATES: Final = 10
_NOT_FOUND: Final = 404


@in_form
def command(
    form: Form,
    ids: Annotated[list[str] | None, typer.Argument(help="Ids of memories.")] = None,
    matching: Annotated[
        str | None, typer.Option(metavar="WORDS", help="Show what these words find, with its ids.")
    ] = None,
    agent: Agent = None,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; for scripts.")] = False,
) -> None:
    """Delete memories for good, with their vectors and links; shows them and asks first.

    With --matching nothing is deleted: it tells which ids to name.
    """
    if bool(ids) == bool(matching):
        raise Misused("Name the ids of memories, or --matching with words that find them.")
    settings, own = begin(), find_place(agent, "none").get("agent")
    if matching:
        _show_candidates(asyncio.run(_candidates(settings, matching, own)), form)
        return
    wanted = list(dict.fromkeys(map(named, ids or ())))
    forgotten = asyncio.run(_forget(settings, wanted, own, yes=yes))
    if form.is_json:
        tell_json({"forgotten": forgotten})
    else:
        typer.echo(f"Forgotten: {len(forgotten)}.")


def _show_candidates(found: list[Memory], form: Form) -> None:
    if form.is_json:
        tell_json({"candidates": found})
    if not found:
        end_with_nothing("Nothing was found.")
    if not form.is_json:
        for one in found:
            typer.echo(printable(f"{one['id']}  {head_of(one)}"))


async def _candidates(settings: Settings, words: str, agent: str | None) -> list[Memory]:
    async with connect(settings) as memory:
        whose = {"agent": agent} if agent else {}
        answer = await memory.search(
            words, limit=_CANDIDATES, include_archived=True, include_automatic=True,
            **whose,  # type: ignore[arg-type]
        )  # fmt: skip
        return [*answer["results"]]


async def _forget(settings: Settings, ids: list[str], agent: str | None, *, yes: bool) -> list[str]:
    """Delete memories that all exist, once somebody has agreed; returns their ids."""
    async with connect(settings) as memory:
        found = [await memory.read_memory(one, agent=agent) for one in ids]
        if not yes:
            _agree([*found])
        with progress_bar(console, "Forgetting", len(ids)) as show:
            for one in ids:
                try:
                    await memory.delete_memory(one, agent=agent)
                except Problem as problem:
                    # A summary goes with its last source, a handoff with what it was made of.
                    if problem.status != _NOT_FOUND:
                        raise
                show(advance=1)
    return ids


def _agree(found: list[Memory]) -> None:
    """Ask at the terminal; raises InvalidRequest where nobody can answer, Abort for a no."""
    for one in found:
        typer.echo(printable(f"{one['id']}  {head_of(one)}"))
    if not sys.stdin.isatty():
        raise InvalidRequest("Nobody is here to ask: say --yes to forget these for good.")
    typer.confirm(f"Forget {len(found)} for good?", abort=True)
