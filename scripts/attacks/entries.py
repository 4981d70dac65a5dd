"""Finding 2: lines of no-break spaces make the search for entries quadratic."""

from scripts.attacks.arena import Arena, live_watched
from scripts.attacks.figures import Figure, seconds

_MOST = 2.0


def attack(arena: Arena) -> list[Figure]:
    """Store two daily notes of such lines, then ask for a dry run of a consolidation."""
    text = "mail\n" + "\u00a0\n" * arena.sized(9_000) + "end\n"
    with arena.target() as target:
        for day in (1, 2):
            target.post("/ingest", source=f"memory/2025-01-0{day}.md", text=text, kind="daily_log")
        with live_watched(target) as live:
            told = target.post("/consolidate", dry_run=True, older_than_days=1)
    what = "dry run of /consolidate over lines of no-break spaces"
    return [
        seconds(2, what, told.seconds, _MOST, is_cut=told.is_cut),
        seconds(2, f"{what}: longest live", live.seconds, 1.0),
    ]
