"""How much was asked in the last minute, by one caller and by all of them; pure."""

from dataclasses import dataclass, field
from math import ceil
from typing import Final

from service.access.caller import Caller
from service.access.errors import TooManyRequests
from service.access.quota import Quota

_MINUTE: Final = 60.0


@dataclass(slots=True)
class Allowance:
    """A bucket of a minute's worth that fills evenly, full at first."""

    left: float
    at: float

    def refill(self, rate: int, now: float) -> None:
        """Let in what came since the last look; `rate` is a minute's worth."""
        self.left = min(rate, self.left + (now - self.at) * rate / _MINUTE)
        self.at = now

    def wait(self, needed: float, rate: int) -> float:
        """Return in how many seconds so much will be there; 0 for now."""
        return max(0.0, (needed - self.left) * _MINUTE / rate)


@dataclass(slots=True)
class Rates:
    """What was asked in the last minute: by each caller, and by all of them within `whole`."""

    whole: Quota
    _allowances: dict[tuple[str, str | None], Allowance] = field(default_factory=dict)

    def take_request(self, caller: Caller, now: float) -> None:
        """Take one request at a moment in seconds; raises TooManyRequests, and takes nothing."""
        self._take("requests", caller, (caller.quota.rate, self.whole.rate), 1, now)

    def check_bytes(self, caller: Caller, now: float) -> None:
        """Raise TooManyRequests unless a body may come: one is taken as soon as a byte is left."""
        self._take("bytes", caller, (caller.quota.byte_rate, self.whole.byte_rate), 0, now)

    def take_bytes(self, caller: Caller, size: int, now: float) -> None:
        """Take a body that was read; what is more than was left is owed."""
        rates = (caller.quota.byte_rate, self.whole.byte_rate)
        for allowance, _ in self._bounded("bytes", caller, rates, now):
            allowance.left -= size

    def _take(
        self, what: str, caller: Caller, rates: tuple[int | None, int | None], size: int, now: float
    ) -> None:
        bounded = self._bounded(what, caller, rates, now)
        for allowance, (who, rate) in bounded:
            if seconds := allowance.wait(max(size, 1), rate):
                msg = f"{who} {rate:,} {what} a minute; ask again in {ceil(seconds)} s."
                raise TooManyRequests(msg, seconds)
        for allowance, _ in bounded:
            allowance.left -= size

    def _bounded(
        self, what: str, caller: Caller, rates: tuple[int | None, int | None], now: float
    ) -> list[tuple[Allowance, tuple[str, int]]]:
        """Return the buckets that a caller takes from, with whose each is and a minute's worth."""
        whose = (("This key allows", caller.key or caller.name), ("All together may send", None))
        found = []
        for (who, name), rate in zip(whose, rates, strict=True):
            if rate is not None:
                allowance = self._allowances.setdefault((what, name), Allowance(rate, now))
                allowance.refill(rate, now)
                found.append((allowance, (who, rate)))
        return found
