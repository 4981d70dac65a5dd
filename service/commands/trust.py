"""`graph-memory trust`: what came one way goes into quarantine, or comes out of it."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Literal

import typer

from service.client.access import TrustChanged
from service.client.options import TrustOptions
from service.commands.connect import connect
from service.commands.given_options import told_as_json, with_json
from service.commands.misused import Misused
from service.commands.terminal import answers, begin, printable
from service.plurals import how_many
from service.settings import Settings

commands = typer.Typer(
    help="Quarantine what came one way, or release it; works with and without the service running.",
    no_args_is_help=True,
)

Ways = Annotated[
    list[str],
    typer.Argument(
        metavar="NAME=VALUE...",
        help="source=, session=, client=, key= or since=, of which all must hold; agent= of one.",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do it; without it is only told what it is.")]


@commands.command("quarantine")
@with_json
def quarantine(ways: Ways, *, yes: Yes = False) -> None:
    """Let no search, recall or summary tell what came this way: client=codex since=2026-02-10."""
    _change("quarantine", ways, yes=yes)


@commands.command("release")
@with_json
def release(ways: Ways, *, yes: Yes = False) -> None:
    """Trust what came this way again, as far as its origin is trusted."""
    _change("release", ways, yes=yes)


def _change(what: Literal["quarantine", "release"], ways: Sequence[str], *, yes: bool) -> None:
    choices = _choices(ways)
    done = asyncio.run(_ask(begin(), what, choices | {"dry_run": not yes}))
    if told_as_json(done):
        return
    lines = answers()
    agents = ", ".join(f"{agent}: {count:,}" for agent, count in done["agents"].items())
    lines.print(
        f"{how_many(done['memories'], 'memory', 'memories')}{f' ({agents})' if agents else ''}; "
        f"{how_many(len(done['summaries']), 'summary says', 'summaries say')} something of "
        "that. Of the same senders: "
        f"{how_many(done['working_memory'], 'working memory', 'working memories')}, "
        f"{how_many(done['intents'], 'intent')}, {how_many(done['transcripts'], 'transcript')}.",
        highlight=False, soft_wrap=True,
    )  # fmt: skip
    for name in dict.fromkeys(one["name"] or "unknown" for one in done["given"]):
        told = f"Given to {printable(name)} before, as far as the audit notes reads."
        lines.print(told, highlight=False, markup=False, soft_wrap=True)
    for one in done["sessions"]:
        lines.print(
            f"Given to session {one['session']} of {one['agent']} before: {one['memories']:,} "
            f"of them, last {one['at'][:16]}.",
            highlight=False, markup=False, soft_wrap=True,
        )  # fmt: skip
    if not yes:
        lines.print("Nothing was changed: add --yes to do it.", highlight=False)


def _choices(ways: Sequence[str]) -> TrustOptions:
    """Read `client=codex`; raises Misused."""
    known = TrustOptions.__annotations__.keys() - {"dry_run"}
    choices: TrustOptions = {}
    for way in ways:
        name, _, value = way.partition("=")
        if name not in known or not value:
            msg = f"{way!r} is no way in: write NAME=VALUE, with {', '.join(sorted(known))}."
            raise Misused(msg)
        choices |= {name: value}  # type: ignore[misc]
    return choices


async def _ask(
    settings: Settings, what: Literal["quarantine", "release"], choices: TrustOptions
) -> TrustChanged:
    async with connect(settings) as memory:
        ask = memory.quarantine if what == "quarantine" else memory.release
        return await ask(**choices)
