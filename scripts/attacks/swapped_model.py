"""Finding 9: another model behind the same address while the service runs."""

import time

from scripts.attacks.arena import Arena, Target
from scripts.attacks.embedder import Mood, embedder
from scripts.attacks.figures import Aim, Figure, count

_NOTICED_SECONDS = 60


def attack(arena: Arena) -> list[Figure]:
    """Swap the vectors, once under another name and once under the old one, and write."""
    moods: tuple[Mood, ...] = ("renamed", "swapped")
    return [figure for mood in moods for figure in _in_mood(arena, mood)]


def _in_mood(arena: Arena, mood: Mood) -> list[Figure]:
    with embedder() as outer, arena.target(MEMORY_EMBEDDING_URL=outer.url) as target:
        target.post("/memories", text="stored by the first model")
        outer.mood = mood
        taken = 0 if target.post("/memories", text="stored by the second").body["warnings"] else 1
        noticed = _seconds_until_noticed(target)
        late = (
            0 if target.post("/memories", text="stored by the second, late").body["warnings"] else 1
        )
    name = "answers name another model" if mood == "renamed" else "the old name, other vectors"
    most = 0 if mood == "renamed" else 1
    return [
        count(9, f"{name}: the first vector after the swap is taken", taken, most=most),
        Figure(9, f"{name}: until `ready` says so", noticed, "s", Aim(most=_NOTICED_SECONDS),
               is_cut=noticed > _NOTICED_SECONDS),
        count(9, f"{name}: vectors are still taken then", late),
    ]  # fmt: skip


def _seconds_until_noticed(target: Target) -> float:
    started = time.monotonic()
    while time.monotonic() - started <= _NOTICED_SECONDS:
        if target.ask("GET", "/health/ready").status != 200:
            break
        time.sleep(1)
    return round(time.monotonic() - started, 1)
