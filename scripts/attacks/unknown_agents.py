"""Finding 5: agents that nobody has become resident, though the answer is 404."""

from statistics import median

from scripts.attacks.arena import Arena, Target, megabytes
from scripts.attacks.crowd import ask_at_once, wire
from scripts.attacks.figures import Aim, Figure, count

_AT_ONCE = 8
_MOST_GROWTH_MB = 20


def attack(arena: Arena) -> list[Figure]:
    """Search as thousands of made-up agents, and time a write before and after."""
    number = arena.sized(4_500)
    requests = [wire("GET", f"/search?q=x&agent=ghost{n}") for n in range(number)]
    with arena.target() as target:
        before, resident = _write_ms(target, "before"), target.resident()
        replies = ask_at_once(target.port, requests, arena.patience * 4, _AT_ONCE)
        after, grown = _write_ms(target, "after"), megabytes(resident, target.resident())
    asked = sum(reply.status != 0 for reply in replies)
    note = f"after {asked:,} made-up agents"
    wrong = sum(reply.status not in {0, 404, 429, 503} for reply in replies)
    return [
        Figure(5, "a write, times what it was before", round(after / before, 1), "×",
               Aim(most=3), note=f"{before:.0f} to {after:.0f} ms, {note}"),
        Figure(5, "growth of RSS", grown, "MB", Aim(most=_MOST_GROWTH_MB), note=note),
        count(5, "answers that are neither 404 nor a refusal", wrong),
    ]  # fmt: skip


def _write_ms(target: Target, word: str) -> float:
    texts = [f"{word} number {n} of the writes that are timed" for n in range(7)]
    return median(target.post("/memories", text=text).seconds * 1000 for text in texts)
