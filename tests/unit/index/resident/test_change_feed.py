"""Reading a feed that holds commits from the future; the database is a fake that keeps stamps."""

import asyncio
from typing import cast

from service.index.resident.change_feed import ChangeFeed
from service.index.resident.feed_position import MARGIN_MS
from service.records import Commit
from service.store.database import Database
from service.store.queries import Query

PAGE = 3


class FakeDatabase:
    """The outer edge: a feed of stamps in pages, and a clock in milliseconds."""

    def __init__(self, clock_ms: int, *moments: int) -> None:
        self.clock_ms = clock_ms
        self.stamps = [moment << 16 for moment in moments]
        self.looks = 0

    async def run(self, query: Query) -> int:
        assert query.name == "clock"
        return self.clock_ms

    async def changes(self, since: int) -> tuple[list[Commit], bool]:
        self.looks += 1
        found = sorted(stamp for stamp in self.stamps if stamp >= since)
        # As in Database: the last of a full page comes again with the next.
        return [Commit(stamp, ()) for stamp in found[:PAGE]], len(found) > PAGE


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
