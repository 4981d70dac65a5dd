"""`graph-memory archive`: old daily logs and observations leave the searches."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

import typer

from service.client.answers import Memory
from service.client.endpoints import AsyncGraphMemory
from service.client.options import ListOptions
from service.commands.connect import connect
from service.commands.given_options import told_as_json, with_json
from service.commands.here import Agent, find_place
from service.commands.progress import progress_bar
from service.commands.spans import seconds_of
from service.commands.terminal import begin, console, printable
from service.plurals import how_many
from service.settings import Settings

# What a day wrote down of itself. Notes, decisions, preferences and facts do not age by themselves.
_KINDS: Final = ("daily_log", "observation")
_PAGE: Final = 500
_SHOWN: Final = 20


@with_json
def command(
    older_than: Annotated[str, typer.Option(help="Of before this span: 24h, 30d, 2w.")] = "30d",
    kind: Annotated[
        list[str] | None, typer.Option(help="Of this kind; may be repeated. Default: both above.")
    ] = None,
    agent: Agent = None,
    *,
    execute: Annotated[
        bool, typer.Option("--execute", help="Do it; without it is only told what it is.")
    ] = False,
) -> None:
    """Archive old daily logs and observations that nobody pinned; searches pass over them then.

    All projects of the agent are meant. They stay in the store: `graph-memory search --only
    include_archived=true` finds them.
    """
    before = datetime.now(UTC) - timedelta(seconds=seconds_of(older_than, "--older-than"))
    choices: ListOptions = {"kinds": kind or list(_KINDS), "until": before, "limit": _PAGE}
    place = find_place(agent, "none")
    if "agent" in place:
        choices["agent"] = place["agent"]
    asyncio.run(_archive(begin(), choices, older_than, execute=execute))


async def _archive(
    settings: Settings, choices: ListOptions, older_than: str, *, execute: bool
) -> None:
    async with connect(settings) as memory:
        found = [one for one in await _list(memory, choices) if not one["pinned"]]
        ids = [one["id"] for one in found]
        if told_as_json({"ids": ids, "dry_run": not execute}):
            await _archive_all(memory, found if execute else [])
            return
        told = how_many(len(found), "memory", "memories")
        typer.echo(f"Found {told} older than {older_than}:")
        for one in found[:_SHOWN]:
            day, title = one["occurred_at"][:10], " ".join(one["title"].split())
            typer.echo(printable(f"  {day} [{one['kind']}] {title[:100]}  ({one['id']})"))
        if len(found) > _SHOWN:
            typer.echo(f"  and {len(found) - _SHOWN:,} more")
        if not execute:
            typer.echo("\nDry run. Use --execute to archive them.")
            return
        await _archive_all(memory, found)
        typer.echo(f"Archived {len(found):,}.")


async def _archive_all(memory: AsyncGraphMemory, found: Sequence[Memory]) -> None:
    with progress_bar(console, "archived", len(found)) as progress:
        for one in found:
            await memory.change_memory(one["id"], agent=one["agent"], archived=True)
            progress(advance=1)


async def _list(memory: AsyncGraphMemory, choices: ListOptions) -> list[Memory]:
    page = await memory.list_memories(**choices)
    found = page["memories"]
    while page["next_cursor"]:
        choices = {**choices, "cursor": page["next_cursor"]}
        page = await memory.list_memories(**choices)
        found += page["memories"]
    return found
