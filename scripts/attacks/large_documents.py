"""Finding 14: documents of few bytes and much structure."""

from scripts.attacks.arena import Arena, live_watched
from scripts.attacks.figures import Aim, Figure, count, seconds

_MOST_SECONDS, _MOST_PEAK_MB = 20.0, 700


def attack(arena: Arena) -> list[Figure]:
    """Push each of the issue's documents, and some brothers, to a service of its own."""
    headings, images = arena.sized(60_000), arena.sized(2_000)
    documents = {
        "60,000 headings": "".join(f"# h{n}\n\nx\n" for n in range(headings)),
        "a table row of 250 kB":
            "| a | b |\n|---|---|\n| " + "x " * arena.sized(125_000) + "| y |\n",
        "`![` by 150 in 2,000 sections":
            "".join(f"# h{n}\n\n{'![' * 150}\n\n" for n in range(images)),
        "quotes in quotes, 2,000 deep": "> " * arena.sized(2_000) + "deep\n",
        "lists in lists, 650 deep": "".join(f"{'  ' * n}- i\n" for n in range(arena.sized(650))),
    }  # fmt: skip
    return [figure for what, text in documents.items() for figure in _push(arena, what, text)]


def _push(arena: Arena, what: str, text: str) -> list[Figure]:
    with arena.target() as target:
        with live_watched(target) as live:
            told = target.post("/ingest", source="large.md", text=text[:1_000_000])
        peak = round(target.resident().peak / 1e6)
    return [
        seconds(14, f"{what}: POST /ingest", told.seconds, _MOST_SECONDS, is_cut=told.is_cut),
        seconds(14, f"{what}: longest live", live.seconds, 1.0),
        Figure(14, f"{what}: peak of RSS", peak, "MB", Aim(most=_MOST_PEAK_MB), is_cut=told.is_cut),
        count(14, f"{what}: answered by 500", int(told.status == 500)),
    ]
