"""Finding 10: a scan in the name of an agent who does not own the folders."""

from pathlib import Path
from tempfile import TemporaryDirectory

from scripts.attacks.arena import Arena
from scripts.attacks.figures import Figure, count, status


def attack(arena: Arena) -> list[Figure]:
    """Scan main's folder as bob, and search as bob for what lies there."""
    with TemporaryDirectory() as folder:
        Path(folder, "diary.md").write_text("# Diary\n\nmarmalade is the secret\n", "utf-8")
        with arena.target(MEMORY_SOURCES=folder) as target:
            told = target.post("/ingest/scan", agent="bob")
            found = target.post("/search", query="marmalade", agent="bob")
    hits = found.body.get("results", [])
    return [
        status(10, "POST /ingest/scan as another agent", told.status),
        count(10, "sections of main's that the other agent then finds", len(hits)),
    ]
