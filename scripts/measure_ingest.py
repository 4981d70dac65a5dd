"""Measure ingest over HTTP: scan a folder of notes, scan it again, edit one section, delete a file.

    scripts/measure_ingest.py FOLDER [--embedding-model hashing-256]

Works on a copy of the folder and on servers of its own. The share of the embedder is measured in
the same run: the same sections' texts are embedded once more, directly, in batches of eight.
"""

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts.servers.own_servers import Servers, own_servers

console = Console()


def main() -> None:
    """Scan four times and print what each scan did and took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--embedding-model", default="all-MiniLM-L6-v2")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as copy:
        notes = Path(copy) / "notes"
        shutil.copytree(asked.folder, notes)
        with own_servers(asked.embedding_model, MEMORY_SOURCES=str(notes)) as servers:
            measure(servers, notes)


def measure(servers: Servers, notes: Path) -> None:
    """Run the scans against the service and print a table."""
    table = Table(
        "scan",
        "files",
        "created",
        "updated",
        "unchanged",
        "removed",
        "embedded",
        "failed",
        "seconds",
    )
    with httpx.Client(base_url=servers.url, timeout=3600) as client:
        first = scan(client, table, "first")
        scan(client, table, "again, nothing changed")
        edited = sorted(notes.rglob("*.md"))[len(list(notes.rglob("*.md"))) // 2]
        edited.write_text(
            edited.read_text(encoding="utf-8") + "\nOne more sentence.\n", encoding="utf-8"
        )
        scan(client, table, "one section edited")
        edited.unlink()
        scan(client, table, "one file deleted")
        console.print(table)
        stats = client.get("/stats").json()
        console.print({k: v for k, v in stats.items() if isinstance(v, int)})
        compare_with_bare_embedding(client, servers.embedding_url, first["took_ms"] / 1000)


def scan(client: httpx.Client, table: Table, name: str) -> dict[str, Any]:
    """Scan once and add a row."""
    answer = client.post("/ingest/scan", json={})
    answer.raise_for_status()
    counts: dict[str, Any] = answer.json()
    names = ("files", "created", "updated", "unchanged", "removed", "embedded")
    cells = [str(counts[n]) for n in names] + [
        str(len(counts["failed"])),
        f"{counts['took_ms'] / 1000:.2f}",
    ]
    table.add_row(name, *cells)
    return counts


def compare_with_bare_embedding(
    client: httpx.Client, embedding_url: str, scan_seconds: float
) -> None:
    """Embed all stored texts directly, and print the scan's time as a ratio to that."""
    ready = client.get("/health/ready").json()
    model = ready["checks"]["embedder"]["detail"].split(",")[0]
    texts, cursor = [], None
    while True:
        page = client.get(
            "/memories", params={"limit": 1000} | ({"cursor": cursor} if cursor else {})
        ).json()
        texts += [
            "\n".join([" › ".join(m["heading_path"]), m["content"]]) for m in page["memories"]
        ]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    texts.sort(key=len)
    started = time.perf_counter()
    for start in range(0, len(texts), 8):
        body = {
            "model": model,
            "input": texts[start : start + 8],
            "truncate": True,
            "encoding_format": "base64",
        }
        httpx.post(f"{embedding_url}/v1/embeddings", json=body, timeout=600).raise_for_status()
    bare = time.perf_counter() - started
    console.print(
        f"{len(texts)} texts embedded directly: {bare:.1f} s; the scan took {scan_seconds:.1f} s, "
        f"{scan_seconds / bare:.2f} times that"
    )


if __name__ == "__main__":
    main()
