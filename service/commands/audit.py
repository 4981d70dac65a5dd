"""`graph-memory audit`: who did what, when and from where, as a table."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Final

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from service.client.access import AuditEntry
from service.client.options import AuditOptions
from service.commands.connect import connect
from service.commands.given_options import told_as_json, with_json
from service.commands.terminal import answers, begin, cell
from service.settings import Settings

_PAGE: Final = 1000
_COLOURS: Final = {"denied": "red", "failed": "red", "refused": "yellow"}
_MOST_IDS: Final = 3


@with_json
def command(
    since: Annotated[str | None, typer.Option(help="From a day or moment on: 2026-02-13.")] = None,
    key: Annotated[str | None, typer.Option(help="The id of a key.")] = None,
    agent: Annotated[str | None, typer.Option(help="Whose memories.")] = None,
    operation: Annotated[str | None, typer.Option(help="For example delete_memory.")] = None,
    outcome: Annotated[str | None, typer.Option(help="done, denied, refused or failed.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many lines, the newest first.")] = 50,
) -> None:
    """Show who did what, when and from where; works with and without the service running."""
    choices: AuditOptions = {
        "since": since, "key_id": key, "agent": agent, "operation": operation, "outcome": outcome,
    }  # fmt: skip
    entries = asyncio.run(_list(begin(), choices, limit))
    if told_as_json({"entries": entries}):
        return
    answers().print(_table(entries) if entries else "The audit has no such line.")


async def _list(settings: Settings, choices: AuditOptions, limit: int) -> list[AuditEntry]:
    entries: list[AuditEntry] = []
    cursor = None
    async with connect(settings) as memory:
        while len(entries) < limit:
            most = min(_PAGE, limit - len(entries))
            choices |= {"limit": most, "cursor": cursor}
            page = await memory.list_audit(**choices)
            entries += page["entries"]
            cursor = page["next_cursor"]
            if cursor is None:
                break
    return entries


def _table(entries: Sequence[AuditEntry]) -> Table:
    table = Table(box=SIMPLE_HEAD)
    for name in ("when", "who", "from", "what", "agent", "ids", "outcome"):
        table.add_column(name, overflow="fold")
    for entry in entries:
        times = f" × {entry['count']:,}" if entry["count"] > 1 else ""
        outcome = f"{entry['outcome']} {entry['status'] or ''}".strip()
        table.add_row(
            entry["at"][:19].replace("T", " "),
            cell(f"{entry['name'] or '–'} {entry['key'] or ''}"),
            entry["address"] or "–",
            f"{entry['operation'] or '–'}{times}",
            entry["agent"] or "–",
            _ids(entry["ids"]),
            outcome,
            style=_COLOURS.get(entry["outcome"], ""),
        )
    return table


def _ids(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _MOST_IDS:,} more" if len(ids) > _MOST_IDS else ""
    return ", ".join(ids[:_MOST_IDS]) + more if ids else "–"
