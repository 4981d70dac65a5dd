"""Requests of every kind for a long time, most in the name of agents that do not exist."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from scripts.load.asking import Ask, Line

_CLIENTS = 8
# One in so many is asked in the name of an agent that has memories.
_REAL = 5


@dataclass(slots=True)
class Mixture:
    """What came back, and the memory of the service after each step, in bytes."""

    statuses: Counter[int]
    resident: list[int]
    longest_seconds: float = 0.0


def requests_of(draw: Random, agents: int) -> Ask:
    """Draw one request."""
    if draw.randrange(_REAL) == 0:
        return _of_a_known_agent(draw)
    agent = f"made-up-{draw.randrange(agents)}"
    words = f"kettle {draw.randrange(1000)} harbour"
    named = {"agent": agent}
    return draw.choice([
        Ask("/search", {"q": words, **named}),
        Ask("/search", {}, {"query": words, **named}, "POST"),
        Ask("/graph-recall", {"q": words, **named}),
        Ask("/memories", named),
        Ask(f"/memories/{draw.randrange(10**9)}", named),
        Ask(f"/memories/{draw.randrange(10**9)}", named, {"tags": ["x"]}, "PATCH"),
        Ask("/concepts", named),
        Ask("/documents", {"path": f"{words}.md", **named}),
        Ask("/index", named),
        Ask("/memories", {}, {"text": 7, **named}, "POST"),
        Ask(f"/nothing/{draw.randrange(10**9)}", named),
    ])  # fmt: skip


def _of_a_known_agent(draw: Random) -> Ask:
    number = draw.randrange(200)
    if draw.randrange(4):
        return Ask("/search", {"q": f"Which kettle stands in harbour {number}?"})
    text = f"Kettle {number} stands in harbour {draw.randrange(100)}."
    return Ask("/memories", {}, {"text": text, "source_ref": f"kettle-{number}"}, "POST")


async def mix(
    url: str, steps: int, step_requests: int, agents: int, after_step: Callable[[int], int]
) -> Mixture:
    """Send steps of requests by some clients; `after_step` returns the memory in bytes."""
    draw = Random(15)
    found = Mixture(Counter(), [])
    lines = [Line(url) for _ in range(_CLIENTS)]
    for step in range(steps):
        waiting = [requests_of(draw, agents) for _ in range(step_requests)]

        async def work(line: Line, waiting: list[Ask]) -> None:
            while waiting:
                told = await line.ask(waiting.pop())
                found.statuses[told.status] += 1
                found.longest_seconds = max(found.longest_seconds, told.seconds)

        await asyncio.gather(*[work(line, waiting) for line in lines])
        found.resident.append(after_step(step))
    for line in lines:
        line.close()
    return found
