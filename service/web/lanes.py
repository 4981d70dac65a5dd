"""Lanes: how many requests of a kind are worked on at once, and how many wait for their turn."""

import asyncio
import logging
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Final

from service.errors import Overloaded

log = logging.getLogger(__name__)

# A storm of refusals is told in one line.
_TELL_SECONDS: Final = 10.0


@dataclass(slots=True)
class Lane:
    """One lane: at most `most_running` at work, `most_waiting` in line for `wait_seconds` each.

    `work_seconds` is how long an answer may take once it is its turn. `running` counts those at
    work, also those whose answer is overdue; `refused` counts by reason, "full" or "late".
    """

    name: str
    most_running: int
    most_waiting: int
    wait_seconds: float
    work_seconds: float
    running: int = 0
    refused: dict[str, int] = field(default_factory=lambda: {"full": 0, "late": 0})
    # Who waits, each rival's requests in the order that they came; the next rival first.
    _lines: dict[str, deque[asyncio.Future[None]]] = field(default_factory=dict)
    _told_at: float = -_TELL_SECONDS

    @property
    def waiting(self) -> int:
        """How many wait for their turn."""
        return sum(map(len, self._lines.values()))

    async def enter(self, rival: str = "") -> None:
        """Wait for a turn, to be given back by `leave`; raises Overloaded, at once if full.

        Rivals take turns, however many requests each has in line; in a full one the last of
        whoever has most makes room for another's.
        """
        if self.running < self.most_running:
            self.running += 1
            return
        if self.waiting >= self.most_waiting:
            self._make_room(rival)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._lines.setdefault(rival, deque()).append(turn)
        try:
            await asyncio.wait({turn}, timeout=self.wait_seconds)
        except asyncio.CancelledError:
            self._withdraw(rival, turn)
            raise
        if not turn.done():
            self._withdraw(rival, turn)
            raise self._overloaded(
                "late",
                f"No turn came within {self.wait_seconds:g} s: {self.running} {self.name} are "
                f"worked on (MEMORY_WAIT_TIMEOUT_SECONDS, MEMORY_{self.name.upper()}_AT_ONCE).",
            )
        turn.result()

    def leave(self) -> None:
        """Give the turn to the next rival's request that has waited longest."""
        if not self._lines:
            self.running -= 1
            return
        rival = next(iter(self._lines))
        line = self._lines.pop(rival)
        line.popleft().set_result(None)
        if line:
            self._lines[rival] = line

    def _make_room(self, rival: str) -> None:
        """Take the last request of whoever has most out of the line; raises Overloaded."""
        most = max(self._lines, key=lambda one: len(self._lines[one]), default=rival)
        others, own = len(self._lines.get(most, ())), len(self._lines.get(rival, ()))
        setting = f"MEMORY_{self.name.upper()}"
        error = self._overloaded(
            "full",
            f"{self.running} {self.name} are worked on and {self.waiting} wait "
            f"({setting}_AT_ONCE, {setting}_WAITING).",
        )
        if others <= own + 1:
            raise error
        self._lines[most].pop().set_exception(error)

    def _withdraw(self, rival: str, turn: asyncio.Future[None]) -> None:
        """Leave the line; a turn that came at the last moment goes to the next."""
        if not turn.done():
            self._lines[rival].remove(turn)
            if not self._lines[rival]:
                del self._lines[rival]
        elif turn.exception() is None:
            self.leave()

    def _overloaded(self, reason: str, detail: str) -> Overloaded:
        self.refused[reason] += 1
        now = time.monotonic()
        if now - self._told_at >= _TELL_SECONDS:
            self._told_at = now
            log.warning("requests are refused: %s", detail)
        return Overloaded(f"{detail} Ask again in a second, fewer at once.")
