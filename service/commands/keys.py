"""`graph-memory keys`: who may come in; the first key is made here, by no password of ours."""

import asyncio
from collections.abc import Sequence
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final, cast

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from service.access.quota import Quota
from service.client.access import Key, NewKey
from service.client.options import KeyOptions
from service.commands.connect import connect
from service.commands.given_options import named, told_as_json, with_json
from service.commands.misused import Misused
from service.commands.spans import seconds_of
from service.commands.terminal import answers, begin, cell, console
from service.settings import Settings

commands = typer.Typer(
    help="Keys for those who use the service; works with and without it running.",
    no_args_is_help=True,
)

_PAGE: Final = 1000
_SCOPES: Final = "memory_scopes"
_ID_CHARS: Final = 12
# A hundred years; a date beyond the year 9999 cannot be written.
_MOST_DAYS: Final = 36_500


@commands.command("create")
@with_json
def create(
    name: Annotated[str, typer.Option(help="Whose it is and what for.")],
    agent: Annotated[
        list[str] | None, typer.Option(help="For whose memories; may be repeated. Default: all.")
    ] = None,
    scopes: Annotated[str, typer.Option(help="What it is good for.")] = "read,write",
    expires: Annotated[str | None, typer.Option(help="Ends after: 12h, 90d, 8w.")] = None,
    origin: Annotated[
        str, typer.Option(help="Whose words are sent with it: owner, agent or untrusted.")
    ] = "agent",
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="memory_scopes=A,B; rate, byte_rate (a minute), max_memories, max_documents, "
            "max_jobs; may be repeated, each name once.",
        ),
    ] = None,
) -> None:
    """Make a key and print it alone: it is shown this once."""
    settings = begin()
    wanted = [scope.strip() for scope in scopes.split(",")]
    choices: KeyOptions = {
        "scopes": wanted, "agents": agent, "expires_at": _end(expires), "origin": origin,
    }  # fmt: skip
    _show(asyncio.run(_create(settings, name, choices | _bounds(only or ()))))


async def _create(settings: Settings, name: str, choices: KeyOptions) -> NewKey:
    async with connect(settings) as memory:
        return await memory.create_key(name, **choices)


def _bounds(told: Sequence[str]) -> KeyOptions:
    """Read `rate=100` and `memory_scopes=a,b`; raises Misused."""
    numbers = {one.name for one in fields(Quota)}
    bounds: dict[str, int | list[str]] = {}
    for one in told:
        name, _, value = one.partition("=")
        if name in bounds:
            # The last one alone would hold, and the key be good for other than was meant.
            listed = f", all in one: {_SCOPES}=NAME,NAME" if name == _SCOPES else ""
            raise Misused(f"--only {name}=… is given twice: give it once{listed}.")
        if name == _SCOPES and value:
            bounds[name] = [scope.strip() for scope in value.split(",")]
        elif name in numbers and value.isdecimal():
            bounds[name] = int(value)
        else:
            names = ", ".join(sorted(numbers))
            msg = f"--only {one!r}: write {_SCOPES}=NAME,NAME or a number for one of {names}."
            raise Misused(msg)
    return cast("KeyOptions", bounds)


@commands.command("list")
@with_json
def show() -> None:
    """List the keys, the newest first."""
    settings = begin()
    keys = asyncio.run(_list(settings))
    if told_as_json({"keys": keys}):
        return
    answers().print(_table(keys) if keys else "No key was made yet.")


async def _list(settings: Settings) -> list[Key]:
    async with connect(settings) as memory:
        page = await memory.list_keys(limit=_PAGE)
        keys = page["keys"]
        while page["next_cursor"]:
            page = await memory.list_keys(limit=_PAGE, cursor=page["next_cursor"])
            keys += page["keys"]
        return keys


@commands.command("rotate")
@with_json
def rotate(key: Annotated[str, typer.Argument(help="The key's id.")]) -> None:
    """Give a key another secret and print it; the old one ends at once."""
    _show(asyncio.run(_rotate(begin(), named(key))))


async def _rotate(settings: Settings, key: str) -> NewKey:
    async with connect(settings) as memory:
        return await memory.rotate_key(key)


@commands.command("revoke")
@with_json
def revoke(key: Annotated[str, typer.Argument(help="The key's id.")]) -> None:
    """End a key at once and for good."""
    asyncio.run(_revoke(begin(), named(key)))
    if not told_as_json({}):
        console.print(f"Key {key} has ended.", highlight=False)


async def _revoke(settings: Settings, key: str) -> None:
    async with connect(settings) as memory:
        await memory.revoke_key(key)


def _end(expires: str | None) -> datetime | None:
    """Read a time such as 90d as the moment in which it is over; raises Misused."""
    if expires is None:
        return None
    seconds = seconds_of(expires, "--expires")
    if not seconds:
        # As the first key it would lock everybody out.
        raise Misused(f"--expires {expires!r} ends at once: write 12h, 90d or 8w.")
    if seconds > timedelta(days=_MOST_DAYS).total_seconds():
        msg = f"--expires {expires!r} is too long: {_MOST_DAYS}d at most; without it no end is set."
        raise Misused(msg)
    return datetime.now(UTC) + timedelta(seconds=seconds)


def _show(made: NewKey) -> None:
    """Print the key where a script takes it from; what is to be known of it beside that."""
    if told_as_json(made):
        return
    console.print(
        f"Key {made['id']}. It is shown this once; the service asks for a key.",
        highlight=False,
    )
    typer.echo(made["key"])


def _table(keys: Sequence[Key]) -> Table:
    table = Table(box=SIMPLE_HEAD)
    # Whole at a narrow terminal too: it is copied from here.
    table.add_column("id", no_wrap=True, min_width=_ID_CHARS)
    for name in ("name", "scopes", "agents", "origin", "only", "last used", "ends"):
        table.add_column(name, overflow="fold")
    for key in keys:
        agents = key["agents"]
        table.add_row(
            key["id"],
            cell(key["name"]),
            ", ".join(key["scopes"]),
            "all" if agents is None else ", ".join(agents),
            key["origin"],
            cell(_only(key)),
            _minute(key["last_used_at"]),
            _told_end(key),
        )
    return table


def _only(key: Key) -> str:
    """Return the bounds of a key as `--only` takes them, a line each."""
    scopes = key["memory_scopes"]
    told = [] if scopes is None else [f"{_SCOPES}={','.join(scopes)}"]
    numbers = ((one.name, cast("dict[str, int | None]", key)[one.name]) for one in fields(Quota))
    return "\n".join(
        [*told, *(f"{name}={number}" for name, number in numbers if number is not None)]
    )


def _told_end(key: Key) -> str:
    revoked_at, expires_at = key["revoked_at"], key["expires_at"]
    if revoked_at:
        return f"revoked {_minute(revoked_at)}"
    is_over = expires_at is not None and datetime.fromisoformat(expires_at) <= datetime.now(UTC)
    return f"ended {_minute(expires_at)}" if is_over else _minute(expires_at)


def _minute(moment: str | None) -> str:
    return moment[:16].replace("T", " ") if moment else "never"
