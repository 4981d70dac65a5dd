"""Waiting until all that was stored has its vector.

A write stores without a vector what its embedding server had no time for, and makes it up behind
its answer. Questions that were asked before would find such a memory by its words alone, and a
slow machine would be measured as a worse ranking.
"""

import time
from typing import Final

import httpx

# Something must have come in so long: a batch of eight long texts takes two on a busy machine.
_STUCK_SECONDS: Final = 120.0
_LOOK_SECONDS: Final = 0.2


def wait_for_vectors(client: httpx.Client, agent: str) -> int:
    """Return once no memory of the agent waits for its vector, with how many did.

    Raises TimeoutError when none has come for two minutes: the embedding server is away.
    """
    first = left = _without_vector(client, agent)
    since = time.monotonic()
    while left:
        time.sleep(_LOOK_SECONDS)
        now = _without_vector(client, agent)
        if now != left:
            left, since = now, time.monotonic()
        elif time.monotonic() - since > _STUCK_SECONDS:
            raise TimeoutError(f"{left:,} memories of {agent} still wait for their vectors")
    return first


def _without_vector(client: httpx.Client, agent: str) -> int:
    told = client.get("/stats", params={"agent": agent}).raise_for_status().json()
    return int(told["without_vector"])
