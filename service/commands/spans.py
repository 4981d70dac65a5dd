"""Spans of time as options write them: 24h, 30d, 2w."""

from typing import Final

from service.commands.misused import Misused

_UNITS: Final = {"h": 3600, "d": 86_400, "w": 604_800}
# Nothing is older than the first year that dates know, and larger numbers overflow them.
_MOST_SECONDS: Final = 1_900 * 365 * 86_400


def seconds_of(span: str, option: str) -> int:
    """Return a span in seconds; raises Misused, which names the option."""
    number, unit = span[:-1], span[-1:]
    if number.isascii() and number.isdecimal() and len(number) < 10 and unit in _UNITS:
        return min(int(number) * _UNITS[unit], _MOST_SECONDS)
    raise Misused(f"{option} {span!r} is no span of time: write 24h, 30d or 2w.")
