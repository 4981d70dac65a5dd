"""Lines of the audit on their way to the store: bounded, whatever comes."""

from datetime import UTC, datetime, timedelta

import pytest

from service.access import audit
from service.access.audit import MOST_KINDS, Entry, Waiting, ids_in, nameless, outcome_of
from service.access.caller import NOBODY, Caller
from service.moments import micros_of

NOW = datetime(2026, 5, 1, 12, 0, 0, tzinfo=UTC)
ALL = 10**6


def entry(status: int, at: datetime = NOW, address: str = "10.0.0.1", key: str = "k1") -> Entry:
    outcome = outcome_of(status)
    return Entry(at, "store_memory", outcome, status, key, "of a test", "main", address)


@pytest.mark.parametrize(
    ("status", "outcome"),
    [(200, "done"), (202, "done"), (204, "done"), (401, "denied"), (403, "denied"),
     (421, "denied"), (429, "denied"), (404, "refused"), (422, "refused"), (500, "failed"),
     (503, "failed")],
)  # fmt: skip
def test_a_status_has_one_outcome(status: int, outcome: str) -> None:
    assert outcome_of(status) == outcome


def test_only_ids_of_our_own_making_stand_as_they_are() -> None:
    assert nameless("60f592b5c98fe05aa49f94e6f4ad23d1") == "60f592b5c98fe05aa49f94e6f4ad23d1"
    for text in ("memory/2026-02-13.md", "gpu", "beef", "\udc80", "A" * 32):
        assert nameless(text).startswith("sha256:")
        assert len(nameless(text)) == len("sha256:") + 16


def test_ids_are_read_out_of_any_answer() -> None:
    answer = {
        "id": "aaaaaaaa", "ids": ["bbbbbbbb", None, "cccccccc"], "job": "dddddddd", "plan": None,
        "source": "notes.md", "key": "gm_secret", "text": "marigold", "title": "eeeeeeee",
    }  # fmt: skip
    assert list(ids_in(answer)) == [
        "aaaaaaaa", "bbbbbbbb", "cccccccc", "dddddddd", nameless("notes.md"),
    ]  # fmt: skip
    assert list(ids_in([answer])) == []
    sections = [{"name": "active", "ids": ["aaaaaaaa"], "text": "marigold"}, {"ids": []}, None]
    for found, ids in (
        ({"results": [{"id": "aaaaaaaa", "content": "x"}, 7]}, ["aaaaaaaa"]),
        ({"sections": sections}, ["aaaaaaaa"]), ({"memories": ["bbbbbbbb"]}, ["bbbbbbbb"]),
        ({"fix": {"id": "cccccccc", "text": "x"}, "found": True}, ["cccccccc"]),
        ({"decisions": [{"id": "dddddddd"}], "fix": None}, ["dddddddd"]),
    ):  # fmt: skip
        assert list(ids_in(found)) == ids


def test_what_was_done_is_a_line_each() -> None:
    waiting = Waiting()
    for _ in range(5):
        waiting.add(entry(200))
    assert [one.count for one in waiting.take(3)] == [1, 1, 1]
    assert [one.count for one in waiting.take(ALL)] == [1, 1]


def test_a_flood_is_a_line_at_once_and_one_for_all_others() -> None:
    waiting = Waiting()
    waiting._minute_ends = NOW
    for n in range(1000):
        waiting.add(entry(401, NOW + timedelta(milliseconds=n)))
    waiting.add(entry(401, NOW + timedelta(seconds=61)))
    taken = waiting._entries
    assert [one.count for one in taken] == [1, 999, 1]
    assert taken[1].at == NOW + timedelta(milliseconds=999)
    assert {one.operation for one in taken} == {"store_memory"}


def test_what_differs_within_a_kind_is_not_told_of_all() -> None:
    waiting = Waiting()
    waiting.add(entry(403))
    waiting.add(entry(403))
    other = Entry.of(NOBODY, 403, "10.0.0.1", "scan")
    waiting.add(
        Entry(**{**{n: getattr(entry(403), n) for n in other.__slots__}, "operation": "scan"})
    )
    first, others = waiting.take(ALL, is_last=True)
    assert (first.operation, others.operation, others.count) == ("store_memory", None, 2)


def test_denials_from_everywhere_are_bounded() -> None:
    waiting = Waiting()
    for n in range(10_000):
        waiting.add(entry(401, address=f"2001:db8::{n:x}"))
    taken = waiting.take(ALL, is_last=True)
    assert sum(one.count for one in taken) == 10_000
    assert len(taken) <= 2 * (MOST_KINDS + 1)
    crowd = [one for one in taken if one.address is None]
    assert {(one.key, one.name) for one in crowd} == {(None, None)}


def test_a_crowd_hides_nothing_that_a_key_was_refused() -> None:
    waiting = Waiting()
    for n in range(100):
        waiting.add(entry(401, address=f"10.0.0.{n}"))
    for n in range(100):
        waiting.add(entry(422, key=f"key {n}"))
    refused = [one for one in waiting.take(ALL) if one.status == 422]
    assert len(refused) == 100


def test_what_there_is_no_room_for_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "MOST_WAITING", 10)
    waiting = Waiting()
    for _ in range(25):
        waiting.add(entry(200))
    assert waiting.dropped == 15
    taken = waiting.take(4)
    waiting.give_back(taken)
    assert (waiting.dropped, len(waiting.take(ALL))) == (15, 10)


def test_a_clock_that_is_set_back_ends_the_minute() -> None:
    waiting = Waiting()
    for hours in (2, 2, 1, 1):
        waiting.add(entry(401, NOW + timedelta(hours=hours)))
    assert [one.count for one in waiting.take(ALL, is_last=True)] == [1, 1, 1, 1]


def test_a_line_names_its_caller() -> None:
    made = Entry.of(Caller("k7", "laptop"), 204, "unix", "delete_memory").row()
    assert (made["key"], made["name"], made["outcome"]) == ("k7", "laptop", "done")
    assert made["id"][0] == micros_of(made["at"])
