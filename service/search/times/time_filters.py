"""Which memories happened when a question says: as filters on the time that it names."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Final

from service.index.engine import Engine
from service.index.numbered import NumberedEngine
from service.records import Filters
from service.search.times.times import Span, anchor_named, times_named
from service.search.times.times_alone import dates_alone

# What happened is often written down some days later ("last weekend we …").
_TOLD_WITHIN: Final = timedelta(days=7)
# A store that was left so long ago is asked from its own end: its "in June" was last year's.
_LEFT_ALONE: Final = timedelta(days=30)
_INSTANT: Final = timedelta(microseconds=1)
_FIRST: Final = datetime.min.replace(tzinfo=UTC)
_LAST: Final = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Moments:
    """The filters of memories within the times a question names, and soon after them.

    `dates` is told of a question that asks for nothing but what there was then: see dates_alone.
    """

    within: tuple[Filters, ...]
    soon_after: tuple[Filters, ...]
    dates: str | None = None


async def moments_named(engine: Engine, text: str, filters: Filters) -> Moments | None:
    """Return when a question asks about; None if it names no time.

    "Before the migration" is before the memory that holds these words best. Raises
    StoreUnavailable.
    """
    now = filters.as_of or datetime.now(UTC)
    if not times_named(text, now) and anchor_named(text) is None:
        return None
    # A session that left a handoff and no more was there too.
    newest = await engine.newest(replace(filters, without_automatic=False))
    if filters.as_of is None and newest is not None and now - newest > _LEFT_ALONE:
        now = newest
    spans = times_named(text, now)
    dates = dates_alone(text, spans)
    spans = spans or await _around_anchor(engine, text, filters)
    if not spans:
        return None
    within = [_bounded(filters, span, timedelta(0)) for span in spans]
    later = [_bounded(filters, span, _TOLD_WITHIN) for span in spans]
    return Moments(tuple(within), tuple(later), dates)


async def visible_within(
    engine: NumberedEngine, numbers: Sequence[int], spans: Sequence[Filters]
) -> set[int]:
    """Return those of the memories that pass at least one of the filters."""
    return set(chain.from_iterable([await engine.passing(numbers, span) for span in spans]))


async def _around_anchor(engine: Engine, text: str, filters: Filters) -> tuple[Span, ...]:
    anchor = anchor_named(text)
    if anchor is None:
        return ()
    best = await engine.by_text(anchor.words, filters, 1)
    moment = await engine.newest(filters, [best[0].id]) if best else None
    if moment is None:
        return ()
    if anchor.relation == "before":
        return (Span(None, moment, anchor.words, "before"),)
    return (Span(moment, None, anchor.words, "after"),)


def _shifted(moment: datetime, by: timedelta) -> datetime:
    """Return the moment so much later, or the last or first that there is."""
    try:
        return moment + by
    except OverflowError:
        return _LAST if by > timedelta(0) else _FIRST


def _bounded(filters: Filters, span: Span, later: timedelta) -> Filters:
    """Return the filters narrowed to a span; both bounds of filters are inclusive."""
    since, until = span.start, span.end and _shifted(span.end, later - _INSTANT)
    since = max(filter(None, (since, filters.since)), default=None)
    until = min(filter(None, (until, filters.until)), default=None)
    return replace(filters, since=since, until=until)
