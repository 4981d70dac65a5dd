"""A storm: very many searches at once, while somebody asks whether the service is alive."""

import asyncio
import resource
import time
from collections import Counter
from dataclasses import dataclass

from scripts.load.asking import Ask, Line, Told, probing


@dataclass(frozen=True, slots=True)
class Storm:
    """What became of a storm: statuses by number, and the longest times in seconds."""

    statuses: dict[int, int]
    seconds: float
    longest_answer: float
    longest_refusal: float
    longest_live: float
    live_failed: int


def raise_storm(url: str, searches: int, word: str) -> Storm:
    """Send so many searches at once, each on a connection of its own, with a word in each."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with probing(url) as probed:
        begun = time.perf_counter()
        told = asyncio.run(_all(url, searches, word))
        seconds = time.perf_counter() - begun
    return Storm(
        dict(sorted(Counter(one.status for one in told).items())),
        seconds,
        max((one.seconds for one in told if one.status == 200), default=0.0),
        max((one.seconds for one in told if one.status != 200), default=0.0),
        probed.longest_seconds,
        probed.failed,
    )


async def _all(url: str, searches: int, word: str) -> list[Told]:
    async def one(number: int) -> Told:
        line = Line(url)
        try:
            return await line.ask(Ask("/search", {"q": f"{word} number {number}"}))
        finally:
            line.close()

    return await asyncio.gather(*[one(number) for number in range(searches)])
