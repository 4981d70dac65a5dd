"""Measure how long one document takes to store, by its length: each is one transaction.

    scripts/measure_documents.py [--kilobytes 100 300 600]

Documents are daily logs of generated sections; vectors come from the encoder without weights, so
that the time is the service's and the database's own.
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


def main() -> None:
    """Push one document of each length and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kilobytes", type=int, nargs="+", default=[100, 300, 600])
    asked = parser.parse_args()
    notes = Notes(NOTES)
    table = Table("kB", "sections", "seconds")
    with own_servers("hashing-256") as servers:
        for number, kilobytes in enumerate(asked.kilobytes, 1):
            text = document(notes, kilobytes * 1000)
            body = {"source": f"memory/2026-02-{number:02}.md", "text": text}
            started = time.perf_counter()
            answer = httpx.post(f"{servers.url}/ingest", json=body, timeout=600)
            answer.raise_for_status()
            seconds = time.perf_counter() - started
            table.add_row(str(kilobytes), str(answer.json()["created"]), f"{seconds:.1f}")
    console.print(table)


def document(notes: Notes, length: int) -> str:
    """Return a daily log of about `length` characters."""
    text, number = "# Log\n", 0
    while len(text) < length:
        note = notes.note(number % notes.count).pushed
        text += f"\n## {number % 24:02}:{number % 60:02} {note.title}\n\n{note.text}\n"
        number += 1
    return text


if __name__ == "__main__":
    main()
