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
    _line: deque[asyncio.Future[None]] = field(default_factory=deque)
    _told_at: float = -_TELL_SECONDS

    @property
    def waiting(self) -> int:
        """How many wait for their turn."""
        return len(self._line)

    async def enter(self) -> None:
        """Wait for a turn, to be given back by `leave`; raises Overloaded, at once if full."""
        if self.running < self.most_running:
            self.running += 1
            return
        setting = f"MEMORY_{self.name.upper()}"
        if len(self._line) >= self.most_waiting:
            raise self._overloaded(
                "full",
                f"{self.running} {self.name} are worked on and {len(self._line)} wait "
                f"({setting}_AT_ONCE, {setting}_WAITING).",
            )
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line.append(turn)
        try:
            await asyncio.wait({turn}, timeout=self.wait_seconds)
        except asyncio.CancelledError:
            self._withdraw(turn)
            raise
        if not turn.done():
            self._withdraw(turn)
            raise self._overloaded(
                "late",
                f"No turn came within {self.wait_seconds:g} s: {self.running} {self.name} are "
                f"worked on (MEMORY_WAIT_TIMEOUT_SECONDS, {setting}_AT_ONCE).",
            )

    def leave(self) -> None:
        """Give the turn to the one that has waited longest."""
        if self._line:
            self._line.popleft().set_result(None)
        else:
            self.running -= 1

    def _withdraw(self, turn: asyncio.Future[None]) -> None:
        """Leave the line; a turn that came at the last moment goes to the next."""
        if turn.done():
            self.leave()
        else:
            self._line.remove(turn)

    def _overloaded(self, reason: str, detail: str) -> Overloaded:
        self.refused[reason] += 1
        now = time.monotonic()
        if now - self._told_at >= _TELL_SECONDS:
            self._told_at = now
            log.warning("requests are refused: %s", detail)
        return Overloaded(f"{detail} Ask again in a second, fewer at once.")
