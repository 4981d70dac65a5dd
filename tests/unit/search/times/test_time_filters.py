"""The times that a question names, as filters; the engine is a fake that knows three moments."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from service.index.engine import Engine
from service.index.numbered import NumberedEngine
from service.records import Filters, Scored
from service.search.times.time_filters import Moments, moments_named, visible_within

MICROSECOND = timedelta(microseconds=1)
WEEK = timedelta(days=7)
MOMENTS = {
    "old": datetime(2024, 3, 5, 12, tzinfo=UTC),
    "migration": datetime(2024, 6, 5, 12, tzinfo=UTC),
    "new": datetime(2024, 9, 5, 12, tzinfo=UTC),
}


FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


class FakeEngine:
    """The outer edge: what an engine would tell of MOMENTS."""

    async def newest(self, filters: Filters, among: Sequence[str] | None = None) -> datetime | None:
        named = MOMENTS if among is None else among
        return max((MOMENTS[key] for key in named if passes(key, filters)), default=None)

    async def by_text(self, text: str, filters: Filters, limit: int) -> list[Scored]:
        return [Scored(key, 1.0) for key in MOMENTS if key in text and passes(key, filters)][:limit]

    async def passing(self, numbers: Sequence[int], filters: Filters) -> list[int]:
        keys = list(MOMENTS)
        return [number for number in numbers if passes(keys[number], filters)]


ENGINE = cast("Engine", FakeEngine())


def passes(key: str, filters: Filters) -> bool:
    since, until = filters.since or FIRST, filters.until or LAST
    return since <= MOMENTS[key] <= until


def named(text: str, **filters: Any) -> Moments | None:
    return asyncio.run(moments_named(ENGINE, text, Filters(**filters)))


def day(text: str) -> datetime:
    return datetime.fromisoformat(f"{text}T00:00:00+00:00")


def test_a_month_is_a_filter_and_a_week_more_for_what_was_told_later() -> None:
    found = named("What happened in June 2024?")
    end = day("2024-07-01") - MICROSECOND
    assert found == Moments(
        (Filters(since=day("2024-06-01"), until=end),),
        (Filters(since=day("2024-06-01"), until=end + WEEK),),
        "in June 2024",
    )


def test_the_bounds_of_the_request_hold_too() -> None:
    found = named("What happened in June 2024?", since=day("2024-06-10"), until=day("2024-06-20"))
    within = Filters(since=day("2024-06-10"), until=day("2024-06-20"))
    assert found == Moments((within,), (within,), "in June 2024")


def test_a_store_left_alone_is_asked_from_its_end() -> None:
    found = named("What did we do in June?")
    assert found is not None
    assert found.within[0].since == day("2024-06-01")
    asked = named("What did we do in June?", as_of=day("2026-01-01"))
    assert asked is not None
    assert asked.within[0].since == day("2025-06-01")


def test_before_an_event_is_before_the_memory_that_tells_of_it() -> None:
    found = named("What did we try before the migration?")
    assert found is not None
    assert found.within == (Filters(until=MOMENTS["migration"] - MICROSECOND),)
    after = named("What did we try after the migration?")
    assert after is not None
    assert after.within == (Filters(since=MOMENTS["migration"]),)


@pytest.mark.parametrize(
    "text", ["What did we try?", "What did we try before the flood?", "?!", "may I ask"]
)
def test_no_time_and_no_known_event_is_none(text: str) -> None:
    assert named(text) is None


def test_what_passes_any_of_the_filters_is_told_once() -> None:
    spans = [Filters(until=day("2024-04-01")), Filters(since=day("2024-03-01"))]
    engine = cast("NumberedEngine", FakeEngine())
    assert asyncio.run(visible_within(engine, [0, 1, 2], spans)) == {0, 1, 2}
    assert asyncio.run(visible_within(engine, [0, 1, 2], spans[:1])) == {0}
    assert asyncio.run(visible_within(engine, [0, 1, 2], [])) == set()


QUESTIONS = (
    "What happened last week?", "what did we do yesterday", "in the next month", "since Monday",
    "in the week of December 31, 9999", "the week before January 1", "two days after 9999-12-31",
    "from January to March", "before 0001-01-01", "last weekend", "the last 400 years", "in winter",
    "지난주에 뭐 했지?", "작년 겨울", "上周发生了什么", "十年前", "What happened before migration?",
    "what happened after the migration?", "in the month of December 9999", "3000 years ago",
)  # fmt: skip


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("moment", [FIRST, LAST, FIRST + WEEK, LAST - WEEK])
def test_the_ends_of_the_calendar_break_no_question(
    question: str, moment: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    named(question, as_of=moment)
    monkeypatch.setitem(MOMENTS, "migration", moment)
    found = named(question)
    if "migration" in question:
        assert found is not None
