"""Finding 1: a word of many line numbers costs time in the square of its length."""

from scripts.attacks.arena import Answered, Arena, live_watched
from scripts.attacks.figures import Figure, seconds

_MOST = 1.0


def attack(arena: Arena) -> list[Figure]:
    """Post one word of 60 kB, and a note of 30 kB that hides it in a fence of a list."""
    word = "a" + ":1" * arena.sized(30_000) + "x"
    fenced = "a" + ":1" * arena.sized(15_000) + "x"
    note = f"# Note\n\n- item\n  - item\n\n    ```\n    {fenced}\n    ```\n"
    figures = []
    for what, path, body in (
        ("POST /memories, a word of 60 kB", "/memories", {"text": word}),
        (
            "POST /ingest, the word in a fence of a list",
            "/ingest",
            {"source": "a.md", "text": note},
        ),
        ("POST /search, the word", "/search", {"query": word[:9_900] + "x"}),
    ):
        with arena.target() as target, live_watched(target) as live:
            told = target.post(path, **body)
        figures += _told(what, told, live.seconds)
    return figures


def _told(what: str, told: Answered, live: float) -> list[Figure]:
    return [
        seconds(1, what, told.seconds, _MOST, is_cut=told.is_cut),
        seconds(1, f"{what}: longest live", live, _MOST),
    ]
