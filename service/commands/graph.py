"""`graph-memory graph report`: the running service's answer as a table.

The running service holds the embedded store, so it is asked over HTTP.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from service.client.asking import ask
from service.settings import Settings

_COLOURS: Final = {"pays": "green", "noisy": "red"}
Json = Mapping[str, Any]


def ask_for_report(settings: Settings, agent: str) -> Json:
    """Ask the running service; raises Unavailable (no answer) or InvalidRequest."""
    return asyncio.run(ask(settings, f"/graph/report?{urlencode({'agent': agent})}"))


def print_report(report: Json, console: Console) -> None:
    """Print the report as tables, with a sentence for each kind of edge."""
    console.print(
        f"{report['memories']:,} memories of agent {report['agent']}, "
        f"{report['with_vector']:,} with a vector, {report['concepts']:,} concepts; "
        f"hubs begin above {report['hub_cap']:,} memories.",
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


def _amounts(report: Json) -> Table:
    rows = [
        (_name(edge), *(f"{edge[name]:,}" for name in ("edges", "concepts", "memories")),
         _share(edge["share"]))
        for edge in report["edges"]
    ]  # fmt: skip
    return _table("How far edges reach", ("edge", "edges", "concepts", "memories", "share"), rows)


def _worths(report: Json) -> Table:
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


def _bands(report: Json) -> Table:
    rows = [
        (band["memories"], *(f"{band[name]:,}" for name in ("concepts", "references", "linking")))
        for band in report["bands"]
    ]
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


def _name(edge: Json) -> str:
    return f"{edge['edge']} ({edge['kind']})" if edge["kind"] else str(edge["edge"])


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"
