"""`graph-memory consolidate`: the plan as a table, and with --execute what was done."""

import asyncio
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Final

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from service.client.options import ConsolidateOptions
from service.client.reports import Consolidated, ConsolidationStatus, SummaryOfGroup, TakenBack
from service.commands.connect import connect
from service.commands.following import follow
from service.commands.given_options import told_as_json, with_json
from service.commands.misused import Misused
from service.commands.progress import progress_bar
from service.commands.terminal import answers, begin, cell, console
from service.plurals import how_many
from service.settings import Settings

_AGE: Final = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)([hdw])")
_DAYS: Final[Mapping[str, float]] = {"h": 1 / 24, "d": 1, "w": 7}
_MOST_ROWS: Final = 20
_AT_LEAST: Final = "3d"


@with_json
def command(
    older_than: Annotated[
        str | None,
        typer.Option(help="Age of a log from which it is compacted: 12h, 2w. Default: 3d."),
    ] = None,
    execute: Annotated[
        bool, typer.Option("--execute", help="Do it; without this nothing is changed.")
    ] = False,
    agent: Annotated[str | None, typer.Option(help="Default: MEMORY_AGENT.")] = None,
    scope: Annotated[str | None, typer.Option(help="Only logs of this scope.")] = None,
    undo: Annotated[
        str | None, typer.Option(metavar="RUN", help="Take a run back in place of a new one.")
    ] = None,
    pin: Annotated[
        bool, typer.Option("--pin", help="With --undo: the next run leaves what comes back.")
    ] = False,
) -> None:
    """Compact old logs into summaries: shows the plan, and with --execute carries it out."""
    settings = begin()
    if undo is not None:
        if execute or scope or older_than:
            raise Misused(
                "--undo takes a whole run back: give it without --execute, --scope, --older-than."
            )
        taken = asyncio.run(take_back(settings, agent or settings.agent, undo, pin=pin))
        if not told_as_json(taken):
            _print_taken_back(undo, taken, answers())
            if taken["restored"] and not pin:
                _say(answers(), "The next run takes them again but for what is pinned (--pin).")
        return
    if pin:
        raise Misused("--pin tells what --undo does with what comes back: give a run to --undo.")
    wish: ConsolidateOptions = {
        "agent": agent or settings.agent,
        "older_than_days": _days(_AT_LEAST if older_than is None else older_than),
        "scope": scope or None,
    }
    # Of a plan nobody tells how far it is: the bar shows that it goes on, and since when.
    with progress_bar(console, "Planning") as show:
        shown, done = asyncio.run(consolidate(settings, wish, show, execute=execute))
    if not told_as_json({"plan": shown, "done": done}):
        _print_outcome(shown, done, answers())
        if done and done["run"]:
            of_agent = f" --agent {shlex.quote(agent)}" if agent else ""
            _say(
                answers(),
                f"`graph-memory consolidate --undo {done['run']}{of_agent}` takes it back",
            )


def _days(age: str) -> float:
    """Read an age such as 12h, 3d or 2w as days; raises Misused."""
    found = _AGE.fullmatch(age.strip())
    if found is None:
        raise Misused(f"--older-than {age!r} is no age: write 12h, 3d or 2w.")
    return float(found[1]) * _DAYS[found[2]]


async def take_back(settings: Settings, agent: str, run: str, *, pin: bool) -> TakenBack:
    """Take a run back; raises InvalidRequest for one that is unknown or was taken back."""
    async with connect(settings) as memory:
        return await memory.undo_consolidation(agent=agent, run=run, pin=pin)


async def consolidate(
    settings: Settings, wish: ConsolidateOptions, show: Callable[..., None], *, execute: bool
) -> tuple[Consolidated, ConsolidationStatus | None]:
    """Plan, and carry out exactly that plan if asked to, showing how far it is; returns both.

    Raises InvalidRequest where it fails: what was done before stays done.
    """
    async with connect(settings) as memory:
        shown = await memory.consolidate(**wish)
        plan = shown["plan"]
        if not execute or plan is None:
            return shown, None
        job = (await memory.start_consolidation(agent=wish["agent"], plan=plan))["job"]
        return shown, await follow(
            lambda: memory.read_consolidation(job), lambda status: _show(show, status)
        )


def _show(show: Callable[..., None], status: ConsolidationStatus) -> None:
    if status["stage"] == "concepts":
        merged = status["counts"]["concepts"]
        show(description="Merging concepts", total=status["concepts"], completed=merged)
    else:
        show(description="Consolidating", total=status["groups"], completed=status["done"])


def _print_outcome(shown: Consolidated, done: ConsolidationStatus | None, console: Console) -> None:
    """Print the plan as a table, and what came of it."""
    groups = shown["groups"]
    if groups:
        console.print(_table(groups[:_MOST_ROWS]))
    if shown["counts"]["groups"] > _MOST_ROWS:
        _say(console, f"… and {shown['counts']['groups'] - _MOST_ROWS:,} groups more")
    told = done or shown
    counts = told["counts"]
    one, many = ("was", "were") if done else ("would be", "would be")
    compacted = how_many(counts["memories"], f"memory {one}", f"memories {many}")
    alone = how_many(
        counts["alone"], "shares nothing and stays as it is", "share nothing and stay as they are"
    )
    summaries = how_many(counts["groups"], "summary", "summaries")
    outcome = (
        f"{compacted} consolidated into {summaries} ({counts['created']:,} new), "
        f"{counts['characters_before']:,} characters into {counts['characters_after']:,}"
    )
    _say(console, f"{outcome if counts['groups'] else 'There is nothing to consolidate'}; {alone}")
    for concept in shown["concepts"][:_MOST_ROWS]:
        _say(console, f"the same thing: {concept['id']} and {', '.join(concept['merged'])}")
    for warning in told["warnings"]:
        _say(console, f"warning: {warning}")
    if shown["plan"] and not done:
        _say(console, "Nothing was changed: run it again with --execute.")


def _print_taken_back(run: str, taken: TakenBack, console: Console) -> None:
    """Print what came back of a run, and what went."""
    restored = how_many(len(taken["restored"]), "memory is", "memories are")
    removed = how_many(len(taken["removed"]), "summary is", "summaries are")
    told = [f"{restored} as before", f"{removed} gone"]
    if taken["revised"]:
        told.append(f"{how_many(len(taken['revised']), 'summary says', 'summaries say')} less")
    if taken["parted"]:
        parted = how_many(len(taken["parted"]), "concept is its", "concepts are their")
        told.append(f"{parted} own again")
    _say(console, f"run {run} is taken back: {', '.join(told)}")


def _table(groups: Sequence[SummaryOfGroup]) -> Table:
    table = Table(box=SIMPLE_HEAD, title="Summaries", title_justify="left")
    table.add_column("summary", overflow="ellipsis", no_wrap=True)
    # As wide as their longest word: the title gives way.
    table.add_column("why", no_wrap=True, min_width=len("likeness"))
    table.add_column("action", no_wrap=True, min_width=len("create"))
    for name in ("memories", "lines"):
        table.add_column(name, justify="right", no_wrap=True, min_width=len(name))
    for group in groups:
        table.add_row(
            cell(group["title"]), group["ref"].partition(":")[0], group["action"],
            str(len(group["sources"])), str(group["content"].count("\n") + 1),
        )  # fmt: skip
    return table


def _say(console: Console, line: str) -> None:
    console.print(line, soft_wrap=True, highlight=False, markup=False)
