"""Finding 12: the first and the last year of the calendar."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from scripts.attacks.arena import Arena, Target
from scripts.attacks.figures import Figure, count

_DATES = ("0001-01-01", "9999-12-31")
# Beyond the year 9999, and before the year 1, in seconds since 1970.
_OUTSIDE = (300_000_000_000, -70_000_000_000)


def attack(arena: Arena) -> list[Figure]:
    """Ask for the time around such memories, and scan files of such times."""
    with arena.target() as target:
        failed = _questions(target)
    figures = [count(12, "questions around the ends of time answered by 500", len(failed),
                     note="; ".join(failed[:2]))]  # fmt: skip
    # ext4 keeps no such times; a tmpfs does.
    memory = Path("/dev/shm")  # noqa: S108 - a place, not a name
    with TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        Path(folder, "plain.md").write_text("# Plain\n\nfound all the same\n", "utf-8")
        for number, time in enumerate(_OUTSIDE):
            file = Path(folder, f"old{number}.md")
            file.write_text(f"# Odd {number}\n\nodd time\n", "utf-8")
            os.utime(file, (0, time))
        kept = sum(Path(folder, f"old{n}.md").stat().st_mtime == t for n, t in enumerate(_OUTSIDE))
        with arena.target(MEMORY_SOURCES=folder) as target:
            told = target.post("/ingest/scan")
    stored = told.body["created"] if told.status == 200 else 0
    note = f"{kept} of {len(_OUTSIDE)} odd times that this file system keeps"
    return [*figures, count(12, "files that a scan then fails to store", max(0, 3 - stored), note)]


def _questions(target: Target) -> list[str]:
    for number, date in enumerate(_DATES):
        target.post("/memories", text=f"the comet {number} passed", title=f"Comet {number}",
                    occurred_at=f"{date}T12:00:00Z")  # fmt: skip
    asked = [
        {"query": f"what happened {side} Comet {number}?"}
        for side in ("before", "after", "around", "just before", "the week before")
        for number in range(len(_DATES))
    ]
    asked += [
        {"query": words, "as_of": f"{date}T{time}"}
        for words in ("what was last week?", "next month", "in 3 days", "yesterday", "last year")
        for date, time in (("9999-12-31", "23:59:59Z"), ("0001-01-01", "00:00:00Z"))
    ]
    bodies = [(one, path) for one in asked for path in ("/search", "/graph-recall")]
    return [
        f"{one['query']} as of {one.get('as_of', 'now')}: {path}"
        for one, path in bodies
        if target.post(path, **one).status in {0, 500}
    ]
