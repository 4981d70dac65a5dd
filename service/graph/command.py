"""`graph-memory graph report`: the running service's answer as a table.

The running service holds the embedded store, so it is asked over HTTP; by urllib, as one GET needs
neither retries nor a pool, and httpx stays with the embedder alone.
"""

import json
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlencode

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from service.errors import InvalidRequest, Unavailable
from service.settings import Settings

# A report over 100,000 memories takes seconds, over a slow database minutes.
_TIMEOUT_SECONDS: Final = 600
_COLOURS: Final = {"pays": "green", "noisy": "red"}
Json = Mapping[str, Any]


def ask_for_report(settings: Settings, agent: str) -> Json:
    """Ask the running service; raises Unavailable (no answer) or InvalidRequest."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    url = f"http://{host}:{settings.port}/graph/report?{urlencode({'agent': agent})}"
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT_SECONDS) as answer:
            found: Json = json.loads(answer.read())
            return found
    except urllib.error.HTTPError as error:
        raise InvalidRequest(f"The running service refused: {_detail(error)}") from error
    except (OSError, ValueError) as error:
        msg = (
            f"No service answers on {settings.host}:{settings.port}: start it with `graph-memory "
            "serve`, or set MEMORY_HOST and MEMORY_PORT to where it runs."
        )
        raise Unavailable(msg) from error


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


def _detail(error: urllib.error.HTTPError) -> str:
    """Return the reason that a problem gives, else what the status means."""
    try:
        return str(json.loads(error.read())["detail"])
    except (ValueError, KeyError, TypeError):
        return f"{error.code} {HTTPStatus(error.code).phrase}"
