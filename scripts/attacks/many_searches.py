"""Finding 7: more searches at once than are answered in time."""

from scripts.attacks.arena import Arena, live_watched
from scripts.attacks.crowd import Reply, ask_at_once, wire
from scripts.attacks.figures import Figure, count, seconds

_CROWDS = (600, 1_200, 2_000)
_ALL_SECONDS = 15.0


def attack(arena: Arena) -> list[Figure]:
    """Ask different questions all at once: what is not answered is refused early."""
    figures: list[Figure] = []
    for crowd in _CROWDS:
        figures += _crowd(arena, arena.sized(crowd))
    return figures


def _crowd(arena: Arena, number: int) -> list[Figure]:
    requests = [wire("POST", "/search", {"query": f"question number {n}"}) for n in range(number)]
    with arena.target() as target:
        memories = [{"text": f"answer number {n}"} for n in range(200)]
        target.post("/memories/batch", memories=memories)
        with live_watched(target) as live:
            replies = ask_at_once(target.port, requests, arena.patience, number)
    last = max(reply.seconds for reply in replies)
    unanswered = sum(reply.status == 0 for reply in replies)
    refused = [reply for reply in replies if reply.status in {429, 503}]
    answered = sum(reply.status == 200 for reply in replies)
    what = f"{number:,} searches at once"
    return [
        seconds(7, f"{what}: until the last answer", last, _ALL_SECONDS, is_cut=unanswered > 0),
        seconds(7, f"{what}: longest live", live.seconds, 1.0),
        seconds(7, f"{what}: longest refusal", _longest(refused), 2.0),
        count(7, f"{what}: refused without Retry-After",
              sum(not reply.has_retry_after for reply in refused)),
        count(7, f"{what}: neither answered nor refused",
              number - answered - len(refused), note=f"{answered:,} answered"),
    ]  # fmt: skip


def _longest(replies: list[Reply]) -> float:
    return max((reply.seconds for reply in replies), default=0.0)
