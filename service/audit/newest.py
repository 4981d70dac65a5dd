"""Lines of the audit, the newest first, in stretches of time from the newest back.

The engine (core 3.2.4) reads a range of keys forwards alone: asked for the last rows of one it
gives the first. With `id < $before` in its place it looks at every newer line of the table.
"""

from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from service.moments import micros_of
from service.store.database import Database
from service.store.queries import load_query, narrowed

LIST: Final = load_query(__package__, "list")
# The key of a line: its microseconds and the rest; of older versions the rest alone.
Key = str | list[Any]
_Read = Callable[..., Awaitable[list[dict[str, Any]]]]

# The first stretch, in microseconds. Each is four times as long as the one before it, so that
# years without a line cost a few looks.
_SHORTEST: Final = 60_000_000
_GROWTH: Final = 4
# A stretch with more than four times the lines that are wanted is too long.
_MORE: Final = 4
# A limit that no table reaches.
_EVERY: Final = 2**62
_LATEST: Final = micros_of(datetime.max.replace(tzinfo=UTC))


async def newest(
    db: Database, filters: Mapping[str, Any], own_key: str | None, before: Key | None, limit: int
) -> list[dict[str, Any]]:
    """Return up to `limit` lines that pass all filters but those that are None.

    Lines of older versions have no time in their keys, and are behind all others.
    """
    query, given = narrowed(LIST, filters)
    read = partial(db.run, query, own_key=own_key, **given)
    since, until = filters["since"], filters["until"]
    found: list[dict[str, Any]] = []
    if not isinstance(before, str):
        ends = [before] if before else []
        ends.append([micros_of(until) + 1 if until else _LATEST])
        found = await _back_to(micros_of(since) if since else 0, min(ends), limit, read)
    if len(found) < limit:
        last: Key = before if isinstance(before, str) else []
        found += reversed(await read(first="", last=last, limit=_EVERY))
    return found[:limit]


async def _back_to(earliest: int, last: list[Any], limit: int, read: _Read) -> list[dict[str, Any]]:
    """Return lines from before `last`, at least `limit` if there are so many since `earliest`.

    Of a stretch that was too long the oldest lines are known: what lies behind them is halved until
    it is short enough.
    """
    found: list[dict[str, Any]] = []
    now = micros_of(datetime.now(UTC))
    stretch, many = _SHORTEST, earliest
    while len(found) < limit and last > [earliest]:
        end = min(last[0], now)
        if many > earliest:
            stretch = max(min(stretch, (end - many) // 2), 1)
        first = [max(end - stretch, earliest)]
        # What one transaction deleted is of one microsecond.
        most = _MORE * limit if stretch > 1 else _EVERY
        lines = await read(first=first, last=last, limit=most)
        if len(lines) == most:
            many = lines[-1]["id"][0]
            continue
        found += reversed(lines)
        last, stretch = first, stretch * _GROWTH
        if lines or last[0] <= many:
            many = earliest
    return found
