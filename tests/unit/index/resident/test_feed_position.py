"""How far a change feed was read: what is read again, and when a gap is seen."""

import pytest

from service.index.resident.feed_position import FeedPosition, stamp_before

SECOND = 1000 << 16
START = 100 * SECOND


@pytest.fixture
def position() -> FeedPosition:
    """Return a position that has read one commit at START, at the moment 0."""
    position = FeedPosition(moved_at=-100.0, checked_at=-100.0)
    position.begin_at(START - SECOND)
    position.advance({START}, 0.0)
    return position


def test_the_last_two_seconds_are_read_again_for_as_long(position: FeedPosition) -> None:
    position.checked_at = 0.0
    assert position.next_stamp(1.0) == START - 2 * SECOND
    assert position.next_stamp(2.5) == START + 1


def test_what_was_read_in_the_last_two_seconds_is_known_again(position: FeedPosition) -> None:
    position.advance({START + SECOND}, 1.0)
    assert position.seen == {START, START + SECOND}
    position.advance({START + 3 * SECOND}, 3.0)
    assert position.seen == {START + SECOND, START + 3 * SECOND}


def test_the_newest_commit_is_looked_for_once_a_minute(position: FeedPosition) -> None:
    since = position.next_stamp(3.0)
    assert since == START
    assert not position.has_gap(since, {START}, 3.0)
    assert position.next_stamp(62.9) == START + 1
    assert position.next_stamp(63.0) == START


def test_a_gap_is_told_once_and_only_by_a_look_that_could_show_it(position: FeedPosition) -> None:
    assert not position.has_gap(START + 1, set(), 1.0)
    assert position.has_gap(START, set(), 1.0)
    assert not position.has_gap(START, set(), 1.0)


def test_a_lost_position_begins_anew_and_sees_no_gap(position: FeedPosition) -> None:
    position.lose()
    assert position.is_lost is True
    position.begin_at(7)
    assert position.next_stamp(500.0) == 7
    assert not position.has_gap(7, set(), 500.0)


def test_nothing_read_moves_nothing(position: FeedPosition) -> None:
    position.advance(set(), 9.0)
    assert (position.cursor, position.newest, position.moved_at) == (START, START, 0.0)


def test_a_stamp_lies_ten_seconds_before_a_moment() -> None:
    assert stamp_before(110_000) == START
