"""Reading a feed that holds commits from the future; the database is a fake that keeps stamps."""

import asyncio
from typing import Any, cast

import pytest

from service.index.resident.change_feed import ChangeFeed
from service.index.resident.feed_position import MARGIN_MS
from service.index.resident.stamps import StampRefused
from service.records import Commit, RowChange
from service.store.database import Database
from service.store.queries import Query

PAGE = 3


class FakeDatabase:
    """The outer edge: a feed of stamps in pages, and a clock in milliseconds."""

    def __init__(self, clock_ms: int, *moments: int) -> None:
        self.clock_ms = clock_ms
        self.stamps = [moment << 16 for moment in moments]
        self.rows: dict[int, RowChange] = {}
        self.looks = 0

    async def run(self, query: Query, **given: Any) -> int:
        if query.name == "note_snapshot":
            self.stamps.append(self.clock_ms << 16)
            row = given["facts"] | {"at": self.clock_ms}
            self.rows[self.stamps[-1]] = RowChange("snapshot", "last", row)
        return self.clock_ms

    async def changes(self, since: int) -> tuple[list[Commit], bool]:
        self.looks += 1
        found = sorted(stamp for stamp in self.stamps if stamp >= since)
        # As in Database: the last of a full page comes again with the next.
        told = ((stamp, self.rows.get(stamp)) for stamp in found[:PAGE])
        return [Commit(stamp, (row,) if row else ()) for stamp, row in told], len(found) > PAGE


def news(feed: ChangeFeed) -> list[int]:
    async def read() -> list[int]:
        return [commit.stamp >> 16 async for page in feed.news() for commit in page]

    return asyncio.run(read())


def test_new_commits_are_found_before_and_behind_pages_of_old_ones_from_the_future() -> None:
    now = 1_000_000
    future = [now + MARGIN_MS + 1 + number for number in range(4 * PAGE)]
    db = FakeDatabase(now, *future)
    feed = ChangeFeed(cast("Database", db), on_gap=lambda: None)
    assert news(feed) == []
    db.looks = 0
    db.stamps.append((now + 5) << 16)
    assert set(news(feed)) == {now + 5}
    # The old ones are not paged through as long as the clock is behind them.
    assert db.looks <= 3
    # Once it has passed them, what is new stands behind all of their pages.
    db.clock_ms = future[-1] + 10
    db.stamps.append(db.clock_ms << 16)
    assert db.clock_ms in news(feed)


def test_a_stamp_is_refused_when_the_feed_may_have_forgotten_what_is_behind_it() -> None:
    day_ms = 24 * 3600 * 1000
    db = FakeDatabase(100 * day_ms)
    feed = ChangeFeed(cast("Database", db), on_gap=lambda: None)
    stamp = asyncio.run(feed.stamp())
    asyncio.run(feed.publish(stamp))
    for clock_ms, is_refused in (
        (100 * day_ms, False),
        (105 * day_ms, False),
        (107 * day_ms, True),
    ):
        db.clock_ms = clock_ms
        if is_refused:
            with pytest.raises(StampRefused, match="older than the change feed reaches back"):
                asyncio.run(feed.since_stamp(stamp))
        else:
            assert asyncio.run(feed.since_stamp(stamp)).stamp == stamp["stamp"]
    db.clock_ms = 99 * day_ms
    with pytest.raises(StampRefused, match="clock was set"):
        asyncio.run(feed.since_stamp(stamp))
    db.clock_ms = 100 * day_ms
    with pytest.raises(StampRefused, match="another store"):
        asyncio.run(feed.since_stamp({**stamp, "token": "of another"}))
