"""Attack a running service with every finding of a day of hostile testing, and tell what it cost.

    scripts/measure_attacks.py [--service FOLDER] [--only 1,7] [--beside BEFORE.json]

Every attack gets a service and a store of its own, of this checkout or of the one in FOLDER, and a
patience: what takes longer is told as "> 60 s". The figures go to --json as each attack ends, and
with --markdown into a table. With --beside the figures of another run come first.
docs/measurements.md says more.
"""

import argparse
import json
import sys
import time
from pathlib import Path

from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts.attacks.arena import Arena
from scripts.attacks.figures import Aim, Figure, as_json, from_json
from scripts.attacks.registry import ATTACKS
from scripts.attacks.report import markdown, rows_of, table
from scripts.servers.processes import REPOSITORY
from scripts.servers.watched_service import fake_embedding_server

_DIMENSIONS = 384
# What an answer of another shape than expected leads to, and a service that does not start.
_BREAKS = (AttributeError, LookupError, TypeError, ValueError, OSError, SystemExit)


def main() -> None:
    """Attack, print, write."""
    asked = _arguments()
    numbers = sorted(set(map(int, asked.only.split(",")))) if asked.only else sorted(ATTACKS)
    figures = _kept(asked.json, numbers)
    with fake_embedding_server(_DIMENSIONS) as embedding_url:
        arena = Arena(asked.service.resolve(), embedding_url, asked.size, asked.patience)
        for number in numbers:
            started = time.monotonic()
            figures += _attacked(number, arena)
            took = time.monotonic() - started
            print(f"finding {number}: attacked for {took:,.0f} s", file=sys.stderr)
            _write(asked.json, figures)
    figures.sort(key=lambda figure: figure.finding)
    beside = _read(asked.beside) if asked.beside else None
    rows = rows_of(figures, beside)
    Console().print(table(rows))
    if asked.markdown:
        asked.markdown.write_text(markdown(rows), encoding="utf-8")
    kept = sum(figure.is_kept for figure in figures)
    print(f"{kept} of {len(figures)} aims kept")


def _attacked(number: int, arena: Arena) -> list[Figure]:
    """Return what an attack measured; one that broke off tells why, and the others go on."""
    try:
        return ATTACKS[number](arena)
    except _BREAKS as error:
        note = f"{type(error).__name__}: {error}"
        return [Figure(number, "the attack broke off", None, "", Aim(), note=note)]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--service", type=Path, default=REPOSITORY, help="a checkout to attack")
    parser.add_argument("--only", help="numbers of findings, comma-separated; unset: all")
    parser.add_argument("--size", type=float, default=1.0, help="times the issue's numbers")
    parser.add_argument("--patience", type=float, default=60.0, help="seconds for one answer")
    parser.add_argument("--beside", type=Path, help="JSON of the run that comes first")
    parser.add_argument("--json", type=Path, help="where figures are kept; others there stay")
    parser.add_argument("--markdown", type=Path, help="where the table is written")
    return parser.parse_args()


def _kept(path: Path | None, numbers: list[int]) -> list[Figure]:
    """Return what a file holds of findings that are not measured anew."""
    if path is None or not path.exists():
        return []
    return [figure for figure in _read(path) if figure.finding not in numbers]


def _read(path: Path) -> list[Figure]:
    return from_json(json.loads(path.read_text(encoding="utf-8")))


def _write(path: Path | None, figures: list[Figure]) -> None:
    if path:
        path.write_text(json.dumps(as_json(figures), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
