"""`graph-memory graph report`: the running service's answer as a table.

The running service holds the embedded store, so it is asked over HTTP.
"""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Final

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from service.client.reports import EdgeReport, GraphReport
from service.commands.connect import connect_to_service
from service.commands.given_options import told_as_json, with_json
from service.commands.terminal import begin, console
from service.plurals import how_many
from service.settings import Settings

commands = typer.Typer(help="Look at the graph of the running service.", no_args_is_help=True)

_COLOURS: Final = {"pays": "green", "noisy": "red"}


@commands.command("report")
@with_json
def command(
    agent: Annotated[str | None, typer.Option(help="Default: MEMORY_AGENT.")] = None,
) -> None:
    """Tell whether the graph is worth it on your memories; asks the running service."""
    settings = begin()
    with console.status("Measuring the graph"):
        report = asyncio.run(_ask_for_report(settings, agent or settings.agent))
    if not told_as_json(report):
        _print_report(report, Console())


async def _ask_for_report(settings: Settings, agent: str) -> GraphReport:
    async with connect_to_service(settings) as memory:
        return await memory.graph_report(agent=agent)


def _print_report(report: GraphReport, console: Console) -> None:
    """Print the report as tables, with a sentence for each kind of edge."""
    console.print(
        f"{how_many(report['memories'], 'memory', 'memories')} of agent {report['agent']}, "
        f"{report['with_vector']:,} with a vector, {how_many(report['concepts'], 'concept')}; "
        f"hubs begin above {how_many(report['hub_cap'], 'memory', 'memories')}.",
        soft_wrap=True, highlight=False, markup=False,
    )  # fmt: skip
    if report["sampled_memories"]:
        console.print(_amounts(report), _worths(report), _bands(report))
    for edge in report["edges"]:
        advice = f" To do without it: {edge['switch_off']}." if edge["verdict"] == "noisy" else ""
        line = f"{_name(edge)}: {edge['verdict']}. {edge['reason']}{advice}"
        console.print(line, soft_wrap=True, highlight=False, markup=False)
    if report["note"]:
        console.print(report["note"], soft_wrap=True, highlight=False, markup=False)


def _amounts(report: GraphReport) -> Table:
    rows = [
        (
            _name(edge), f"{edge['edges']:,}", f"{edge['concepts']:,}", f"{edge['memories']:,}",
            _share(edge["share"]),
        )
        for edge in report["edges"]
    ]  # fmt: skip
    return _table("How far edges reach", ("edge", "edges", "concepts", "memories", "share"), rows)


def _worths(report: GraphReport) -> Table:
    rows = [
        (
            _name(edge), f"{edge['pairs']:,}", _share(edge["precision"]),
            "–" if edge["lift"] is None else f"{edge['lift']:g}", _share(edge["reach"]),
            f"[{_COLOURS.get(edge['verdict'], 'yellow')}]{edge['verdict']}[/]",
        )
        for edge in report["edges"]
    ]  # fmt: skip
    columns = ("edge", "pairs", "precision", "lift", "reach", "verdict")
    return _table("What the pairs they join are worth", columns, rows)


def _bands(report: GraphReport) -> Table:
    rows = [
        (
            band["memories"], f"{band['concepts']:,}", f"{band['references']:,}",
            f"{band['linking']:,}",
        )
        for band in report["bands"]
    ]  # fmt: skip
    columns = ("memories", "concepts", "references", "linking")
    return _table("Concepts by their memories", columns, rows)


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Return a table that fits 80 columns: a narrower one breaks every number."""
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD)
    for column in columns:
        is_text = column in {"edge", "verdict"}
        table.add_column(column, justify="left" if is_text else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table


def _name(edge: EdgeReport) -> str:
    return f"{edge['edge']} ({edge['kind']})" if edge["kind"] else str(edge["edge"])


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"
