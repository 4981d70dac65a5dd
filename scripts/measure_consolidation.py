"""Measure consolidation over HTTP: its time and memory, what it saves, what recall it costs.

    scripts/measure_consolidation.py [DATASET...] [--notes FOLDER...] [--questions N]
        [--parts time size recall order] [--entries 50 500 2000 10000] [--ordered 500]
        [--out docs/consolidation-measured] [--embedding-model all-MiniLM-L6-v2]

A data set is a folder with corpus.jsonl and queries.jsonl (scripts/recall/sets.py says what their
lines hold); a third of it is consolidated. --notes are folders of markdown besides the example
logs; their files are stored as daily logs, dated by FOLDER.manifest.jsonl (lines with path and
date) if that is there. Every part runs on servers of its own: generated logs with a fake
embedding server for the time, everything else with a real one. The summaries of all parts are
searched for the decisions of their sources. --out makes a .md and, with matplotlib, a .png.
"""

import argparse
import importlib
import os
import platform
import shlex
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts.consolidation.recall import measure_recall_loss
from scripts.consolidation.report import Measured, losses_of, remarks_of, sheets_of, write_markdown
from scripts.consolidation.trials import measure_order, measure_size, measure_time, own_store
from scripts.recall.report import Sheet
from scripts.recall.sets import read_set, spread
from scripts.servers.processes import REPOSITORY

PARTS: Final = ("time", "size", "recall", "order")
ENTRIES: Final = (50, 500, 2_000, 10_000)
EXAMPLE: Final = REPOSITORY / "examples" / "notes" / "memory"
_MODEL: Final = "all-MiniLM-L6-v2"
_ORDERED: Final = 500
console = Console(width=None if sys.stdout.isatty() else 200)


def main() -> None:
    """Measure what is asked for, print, write."""
    asked = parse()
    picture = load_picture() if asked.out else None
    measured = Measured()
    for count in sorted(set(asked.entries)) if "time" in asked.parts else ():
        with console.status(f"{count:,} generated entries"):
            measured.times.append(measure_time(count))
        keep(measured, asked, picture)
    for folder in folders_of(measured, asked) if "size" in asked.parts else ():
        with console.status(f"notes of {folder.name}"), own_store(asked.embedding_model) as store:
            measured.sizes.append(measure_size(store, folder))
        keep(measured, asked, picture)
    for folder in datasets_of(measured, asked) if "recall" in asked.parts else ():
        with own_store(asked.embedding_model) as store:
            figures = measure_recall_loss(
                store, read_set(folder), lambda questions: spread(questions, asked.questions)
            )
        measured.recalls.append(figures)
        keep(measured, asked, picture)
    if "order" in asked.parts:
        with console.status(f"{asked.ordered:,} entries in two orders"):
            measured.orders.append(measure_order(asked.ordered, asked.embedding_model))
    keep(measured, asked, picture, is_whole=True)
    tell(measured)


def parse() -> argparse.Namespace:
    """Return the arguments; ends where a data set or a folder of notes is none."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", type=Path, nargs="*", metavar="DATASET")
    parser.add_argument("--notes", type=Path, nargs="+", default=[], metavar="FOLDER")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--entries", type=int, nargs="+", default=list(ENTRIES))
    parser.add_argument("--ordered", type=int, default=_ORDERED, help="entries in two orders")
    parser.add_argument("--questions", type=int, help="most of each set, evenly spread")
    parser.add_argument("--embedding-model", default=_MODEL, help="of sizes, recall and order")
    parser.add_argument("--out", type=Path, help="write this .md and .png")
    asked = parser.parse_args()
    for fault in faults_of(asked):
        parser.error(fault)
    return asked


def faults_of(asked: argparse.Namespace) -> Iterator[str]:
    """Yield what is wrong with the arguments."""
    for folder in asked.datasets:
        for name in ("corpus.jsonl", "queries.jsonl"):
            if not (folder / name).is_file():
                yield f"{folder} holds no {name}"
    names = [folder.resolve().name for folder in asked.datasets]
    if len(set(names)) < len(names):
        yield "two data sets have the same name, so would be one in the tables"
    yield from (f"{one} holds no markdown" for one in asked.notes if not any(one.rglob("*.md")))
    numbers = [asked.ordered, asked.questions, *asked.entries]
    if any(number is not None and number < 1 for number in numbers):
        yield "--entries, --ordered and --questions must be at least 1"
    if asked.out and not asked.out.parent.is_dir():
        yield f"there is no folder {asked.out.parent} to write to"


def folders_of(measured: Measured, asked: argparse.Namespace) -> list[Path]:
    """Return the folders of notes; says so where there are only the examples."""
    if not asked.notes:
        measured.remarks.append("Left out: other notes than the examples, as no --notes is given.")
    return [EXAMPLE, *(folder.resolve() for folder in asked.notes)]


def datasets_of(measured: Measured, asked: argparse.Namespace) -> list[Path]:
    """Return the data sets; says so where there are none."""
    if not asked.datasets:
        measured.remarks.append("Left out: recall, as no data set is given.")
    return list(asked.datasets)


def tell(measured: Measured) -> None:
    """Print remarks and tables."""
    for remark in remarks_of(measured):
        console.print(remark, highlight=False, markup=False)
    for sheet in [*sheets_of(measured), losses_of(measured)]:
        console.print(_readable(sheet).rich())


def keep(
    measured: Measured, asked: argparse.Namespace, picture: Any, *, is_whole: bool = False
) -> None:
    """Write the page as far as it goes: a run that is stopped leaves what it has measured."""
    if not asked.out:
        return
    page, drawing = asked.out.with_suffix(".md"), asked.out.with_suffix(".png")
    picture.draw_consolidation(measured, describe_run(), drawing)
    told = [f"Made by `{command_of(asked)}`.", describe_run()]
    if not is_whole:
        told.append("**Unfinished**: the command was still running, or was stopped.")
    write_markdown(page, measured, told)
    console.print(f"written: {page}, {drawing}")


def load_picture() -> Any:
    """Return the module that draws; ends, before anything is measured, without matplotlib."""
    try:
        return importlib.import_module("scripts.consolidation.picture")
    except ModuleNotFoundError as error:
        sys.exit(f"{error.name} is not installed: pip install matplotlib, or leave out --out")


def describe_run() -> str:
    """Return machine and day."""
    return (
        f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f} at the end, "
        f"Python {platform.python_version()}, {datetime.now(UTC):%Y-%m-%d}"
    )


def command_of(asked: argparse.Namespace) -> str:
    """Return the command again, folders by their names: where they lay is of no use to others."""
    words = [folder.resolve().name for folder in asked.datasets]
    if asked.notes:
        words += ["--notes", *(folder.resolve().name for folder in asked.notes)]
    for name, default in (("parts", list(PARTS)), ("entries", list(ENTRIES))):
        if getattr(asked, name) != default:
            words += [f"--{name}", *map(str, getattr(asked, name))]
    for name, usual in (("ordered", _ORDERED), ("questions", None), ("embedding_model", _MODEL)):
        if getattr(asked, name) != usual:
            words += [f"--{name.replace('_', '-')}", str(getattr(asked, name))]
    out = asked.out.name if asked.out.is_absolute() else asked.out
    return shlex.join(["scripts/measure_consolidation.py", *words, "--out", str(out)])


def _readable(sheet: Sheet) -> Sheet:
    """Return a table whose brackets rich does not take for styles."""
    rows = tuple(tuple(cell.replace("[", "\\[") for cell in row) for row in sheet.rows)
    return Sheet(sheet.title, sheet.header, rows)


if __name__ == "__main__":
    main()
