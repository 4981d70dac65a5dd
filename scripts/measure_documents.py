"""Measure how long a document takes to store, and again with a line more at its top, by its length.

    scripts/measure_documents.py [--kilobytes 100 300 600]

Documents are daily logs of generated sections; vectors come from the encoder without weights, so
that the time is the service's and the database's own. Each is one transaction.
"""

import argparse
import sys
import time
from pathlib import Path

import httpx
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts.generated.notes import Notes
from scripts.servers.own_servers import own_servers

console = Console()
# Used again from the first one on in a longer document.
NOTES = 2000
_TOP = "# Log\n"


def main() -> None:
    """Push one document of each length, then edit it, and print what each took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kilobytes", type=int, nargs="+", default=[100, 300, 600])
    asked = parser.parse_args()
    notes = Notes(NOTES)
    table = Table("kB", "sections", "stored, s", "moved by a line, s")
    with own_servers("hashing-256") as servers:
        for number, kilobytes in enumerate(asked.kilobytes, 1):
            text = document(notes, kilobytes * 1000)
            source = f"memory/2026-02-{number:02}.md"
            created, stored = push(servers.url, source, text)
            more, moved = push(servers.url, source, text.replace(_TOP, f"{_TOP}\n", 1))
            if more:
                raise SystemExit(f"{more} sections were new after a line was added")
            table.add_row(str(kilobytes), str(created), f"{stored:.2f}", f"{moved:.2f}")
    console.print(table)


def push(url: str, source: str, text: str) -> tuple[int, float]:
    """Return how many sections were new, and the seconds that the document took."""
    started = time.perf_counter()
    answer = httpx.post(f"{url}/ingest", json={"source": source, "text": text}, timeout=600)
    seconds = time.perf_counter() - started
    return answer.raise_for_status().json()["created"], seconds


def document(notes: Notes, length: int) -> str:
    """Return a daily log of about `length` characters."""
    text, number = _TOP, 0
    while len(text) < length:
        note = notes.note(number % notes.count).pushed
        text += f"\n## {number % 24:02}:{number % 60:02} {note.title}\n\n{note.text}\n"
        number += 1
    return text


if __name__ == "__main__":
    main()
