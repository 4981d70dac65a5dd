"""Finding 6: a cache of words counts its entries, not their bytes."""

from random import Random
from string import ascii_lowercase

from scripts.attacks.arena import Arena, megabytes
from scripts.attacks.crowd import ask_at_once, wire
from scripts.attacks.figures import Aim, Figure

_WORD_CHARACTERS = 9_900
_MOST_GROWTH_MB = 30


def attack(arena: Arena) -> list[Figure]:
    """Search for long dotted words that no two searches share."""
    draws = Random(15)
    queries = [_dotted(draws) for _ in range(arena.sized(300))]
    with arena.target() as target:
        target.post("/memories", text="one memory to find")
        warm = [wire("POST", "/search", {"query": f"plain words {n}"}) for n in range(100)]
        ask_at_once(target.port, warm, arena.patience, 4)
        before = target.resident()
        requests = [wire("POST", "/search", {"query": query}) for query in queries]
        replies = ask_at_once(target.port, requests, arena.patience * 4, 4)
        grown = megabytes(before, target.resident())
    note = f"{sum(reply.status == 200 for reply in replies):,} searches answered"
    what = "growth of RSS by searches for dotted words of 10 kB"
    return [Figure(6, what, grown, "MB", Aim(most=_MOST_GROWTH_MB), note=note)]


def _dotted(draws: Random) -> str:
    """Return a word of pieces that hardly repeat: the cache keeps each of them."""
    pieces = ("".join(draws.choices(ascii_lowercase, k=4)) for _ in range(_WORD_CHARACTERS // 5))
    return ".".join(pieces)
