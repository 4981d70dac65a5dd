"""Asking whether the service lives, ten times a second, and how long it took to say so."""

import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, TypeVar

import httpx

from scripts.chaos_rounds.asking import Asked
from scripts.chaos_rounds.world import Down

_EVERY_SECONDS: Final = 0.1
_PATIENCE_SECONDS: Final = 120.0


@dataclass(frozen=True, slots=True)
class Look:
    """One question: when it was asked and answered, and how late the machine let it be asked."""

    since: float
    until: float
    late: float


Timed = TypeVar("Timed", Look, Asked)


@dataclass(slots=True)
class Watch:
    """Looks again and again until it is stopped."""

    url: str
    looks: list[Look] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __enter__(self) -> "Watch":
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        if self._thread:
            self._thread.join()

    def _run(self) -> None:
        with httpx.Client(base_url=self.url, timeout=_PATIENCE_SECONDS) as client:
            due = time.monotonic()
            while not self._stop.is_set():
                asked = time.monotonic()
                with suppress(httpx.TransportError):
                    client.get("/health/live")
                self.looks.append(Look(asked, time.monotonic(), max(0.0, asked - due)))
                due = max(time.monotonic(), asked) + _EVERY_SECONDS
                self._stop.wait(_EVERY_SECONDS)


def longest(timed: Iterable[Timed], downs: Sequence[Down]) -> Timed | None:
    """Return the longest of what touches no time when the service was not to answer.

    What began while it was frozen or away says nothing of the service.
    """
    up = [one for one in timed if not any(_touches(one, down) for down in downs)]
    return max(up, key=lambda one: one.until - one.since, default=None)


def latest(looks: Sequence[Look]) -> float:
    """Return how late a look was at most, in seconds: what the machine itself added to answers."""
    return max((look.late for look in looks), default=0.0)


def _touches(one: Look | Asked, down: Down) -> bool:
    return one.since <= down.until and one.until >= down.since
