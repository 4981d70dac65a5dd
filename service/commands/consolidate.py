"""`graph-memory consolidate`: the plan as a table, and with --execute what was done."""

import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from service.client.asking import Json, ask_holder
from service.consolidate.consolidating import consolidate
from service.consolidate.executing import OnProgress
from service.consolidate.route import ConsolidateRequest
from service.errors import InvalidRequest, StoreInUse
from service.opening import open_parts
from service.settings import Settings
from service.web.parts import Parts
from service.writing.concepts_file import declare_concepts

_AGE: Final = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)([hdw])")
_DAYS: Final[Mapping[str, float]] = {"h": 1 / 24, "d": 1, "w": 7}
_MOST_ROWS: Final = 20


def read_age(text: str) -> float:
    """Read an age such as 12h, 3d or 2w as days; raises InvalidRequest."""
    found = _AGE.fullmatch(text.strip())
    if found is None:
        raise InvalidRequest(f"--older-than {text!r} is no age: write 12h, 3d or 2w.")
    return float(found[1]) * _DAYS[found[2]]


async def consolidate_once(
    settings: Settings, wish: Mapping[str, Any], console: Console, *, execute: bool
) -> tuple[Json, Json | None]:
    """Plan, and carry out exactly that plan if asked to; returns both answers of /consolidate.

    Works on the store itself, with a progress bar. When a running service holds it, the service
    is asked over HTTP. Raises what opening and consolidating raise.
    """
    with Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        console=console, transient=True,
    ) as progress:  # fmt: skip
        bar = progress.add_task("Consolidating", total=None)

        def report(through: int, groups: int) -> None:
            progress.update(bar, total=groups, completed=through)

        try:
            async with open_parts(settings) as parts:
                await declare_concepts(parts.pipeline, settings.concepts_file, settings.agent)
                shown = await _answer(parts, wish, report)
                carried = _by_plan(shown, wish) if execute else None
                return shown, await _answer(parts, carried, report) if carried else None
        except StoreInUse:
            shown = await ask_holder(settings, "/consolidate", wish)
            carried = _by_plan(shown, wish) if execute else None
            return shown, await ask_holder(settings, "/consolidate", carried) if carried else None


async def _answer(parts: Parts, wish: Mapping[str, Any], report: OnProgress) -> Json:
    asked = ConsolidateRequest.model_validate(wish).consolidation()
    return asdict(await consolidate(parts.pipeline, asked, report))


def _by_plan(shown: Json, wish: Mapping[str, Any]) -> Json | None:
    if shown["plan"] is None:
        return None
    return {"agent": wish["agent"], "plan": shown["plan"], "dry_run": False}


def print_outcome(shown: Json, done: Json | None, console: Console) -> None:
    """Print the plan as a table, and what came of it."""
    groups = shown["groups"]
    if groups:
        console.print(_table(groups[:_MOST_ROWS]))
    if shown["counts"]["groups"] > _MOST_ROWS:
        _say(console, f"… and {shown['counts']['groups'] - _MOST_ROWS:,} groups more")
    told = done or shown
    counts = told["counts"]
    verb = "were consolidated" if done else "would be consolidated"
    _say(
        console,
        f"{counts['memories']:,} memories {verb} into {counts['groups']:,} summaries "
        f"({counts['created']:,} new), {counts['characters_before']:,} characters into "
        f"{counts['characters_after']:,}; {counts['alone']:,} share nothing and stay as they are",
    )
    for concept in shown["concepts"][:_MOST_ROWS]:
        _say(console, f"the same thing: {concept['id']} and {', '.join(concept['merged'])}")
    for warning in told["warnings"]:
        _say(console, f"warning: {warning}")
    if done and done["run"]:
        _say(console, f"run {done['run']}: POST /consolidate/undo takes it back")
    elif shown["plan"] and not done:
        _say(console, "Nothing was changed: run it again with --execute.")


def _table(groups: list[Json]) -> Table:
    table = Table(box=SIMPLE_HEAD, title="Summaries", title_justify="left")
    table.add_column("summary", overflow="ellipsis", no_wrap=True)
    # As wide as their longest word: the title gives way.
    table.add_column("why", no_wrap=True, min_width=len("likeness"))
    table.add_column("action", no_wrap=True, min_width=len("create"))
    for name in ("memories", "lines"):
        table.add_column(name, justify="right", no_wrap=True, min_width=len(name))
    for group in groups:
        table.add_row(
            group["title"], group["ref"].partition(":")[0], group["action"],
            str(len(group["sources"])), str(group["content"].count("\n") + 1),
        )  # fmt: skip
    return table


def _say(console: Console, line: str) -> None:
    console.print(line, soft_wrap=True, highlight=False, markup=False)
