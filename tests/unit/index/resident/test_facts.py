"""What a row must have to be a memory, read from a page and from the change feed alike."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from service.index.resident.facts import CorruptRow, Facts, facts_of, facts_of_row
from service.moments import micros_of
from service.text.words import index_words
from tests.stores.labels import labels

AT = datetime(2026, 2, 13, 9, 30, 0, 123456, tzinfo=UTC)
# Hours and seconds to microseconds by hand: 2026-02-13 is day 20,497 of Unix time.
AT_MICROSECONDS = ((20_497 * 24 + 9) * 60 + 30) * 60_000_000 + 123_456

ROW: dict[str, Any] = {
    "words": "blue bunny", "scope": "gpu", "kind": "note", "type": "semantic", "tags": ["a", "b"],
    "session": "s1", "origin": "agent", "trust_tier": "trusted", "occurred_at": AT,
    "valid_from": AT, "valid_until": AT + timedelta(days=1), "archived_at": None, "agent": "main",
    "content": "…", "subject": "blue_bunny", "consolidated_into": "s1", "helpful": 2,
}  # fmt: skip
VALUES: list[Any] = [
    "m1", "blue bunny", ["a", "b"], list(labels(scope="gpu", session="s1")), AT_MICROSECONDS,
    AT_MICROSECONDS, AT_MICROSECONDS + 86_400_000_000, False, "blue_bunny", "s1", [2, 0],
]  # fmt: skip
JUNK: list[Any] = [7, 7.5, True, {"a": 1}, [["a"]], b"a"]


def test_a_moment_is_microseconds_since_1970_in_any_zone() -> None:
    assert micros_of(AT) == AT_MICROSECONDS
    assert micros_of(AT.astimezone(timezone(timedelta(hours=9)))) == AT_MICROSECONDS
    assert micros_of(datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)) == -1
    last = datetime.max.replace(tzinfo=UTC)
    assert datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros_of(last)) == last


def test_a_row_of_the_feed_and_one_of_a_page_say_the_same() -> None:
    assert facts_of_row("m1", ROW) == facts_of(VALUES)
    assert facts_of(VALUES) == Facts(
        "m1", "blue bunny", ("a", "b"), labels(scope="gpu", session="s1"),
        AT_MICROSECONDS, AT_MICROSECONDS, AT_MICROSECONDS + 86_400_000_000, is_archived=False,
        subject="blue_bunny", consolidated_into="s1", votes=(2, 0),
    )  # fmt: skip


def test_words_that_the_store_lacks_are_made_of_the_text_and_the_tags() -> None:
    row = ROW | {"words": None, "heading_path": ["Kit"], "title": "Blue", "content": "A Bunny."}
    read = facts_of_row("m1", row)
    assert read.words == index_words("Kit › Blue\nA Bunny.") + " \n b"
    parts = [["Kit"], "Blue", "A Bunny.", ["a", "b"], None]
    assert facts_of([*VALUES[:1], parts, *VALUES[2:]]) == read
    found = facts_of_row("m1", row | {"search_headings": ["Cage", "Hay"]})
    assert found.words == index_words("Kit › Blue › Cage › Hay\nA Bunny.") + " \n b"
    assert facts_of([*VALUES[:1], [*parts[:4], ["Cage", "Hay"]], *VALUES[2:]]) == found


def test_a_page_may_tell_moments_in_words() -> None:
    times = ["2026-02-13T18:30:00.123456+09:00", None, "+10001-01-01T00:00:00Z"]
    facts = facts_of([*VALUES[:4], *times, *VALUES[7:]])
    last = micros_of(datetime.max.replace(tzinfo=UTC))
    assert (facts.occurred_at, facts.valid_from, facts.valid_until) == (AT_MICROSECONDS, None, last)
    for none in ("yesterday", ""):
        with pytest.raises(CorruptRow, match="'m1'"):
            facts_of([*VALUES[:4], none, *VALUES[5:]])


def test_what_may_be_missing_may_be_missing() -> None:
    optional = (
        "scope", "session", "valid_from", "valid_until", "archived_at", "subject",
        "consolidated_into", "helpful",
    )  # fmt: skip
    row = {name: value for name, value in ROW.items() if name not in optional}
    facts = facts_of_row("m1", row)
    assert facts.labels == labels()
    assert (facts.valid_from, facts.valid_until) == (None, None)
    assert (facts.subject, facts.consolidated_into, facts.votes) == (None, None, None)
    assert facts.is_archived is False
    assert facts_of_row("m1", ROW | {"archived_at": AT}).is_archived is True


@pytest.mark.parametrize(
    "name", ["words", "kind", "type", "tags", "origin", "trust_tier", "occurred_at"]
)
def test_a_row_without_what_every_memory_has_is_corrupt(name: str) -> None:
    with pytest.raises(CorruptRow, match="'m1'"):
        facts_of_row("m1", {key: value for key, value in ROW.items() if key != name})


@pytest.mark.parametrize("junk", JUNK, ids=repr)
@pytest.mark.parametrize("name", [name for name in ROW if name not in {"archived_at", "agent"}])
def test_a_field_of_another_type_is_corrupt(name: str, junk: Any) -> None:
    if name == "content" or (name == "occurred_at" and junk == 7):
        return  # not read here; a whole number is how a page tells a time
    if name in {"valid_from", "valid_until", "helpful"} and junk == 7:
        return
    with pytest.raises(CorruptRow, match="'m1'"):
        facts_of_row("m1", ROW | {name: junk})


@pytest.mark.parametrize("junk", JUNK, ids=repr)
def test_one_text_among_others_does_not_make_up_for_them(junk: Any) -> None:
    no_words: dict[str, Any] = {
        "words": None,
        "heading_path": ["Kit", junk],
        "title": "Blue",
        "content": ".",
    }
    found_by: dict[str, Any] = no_words | {"heading_path": [], "search_headings": ["a", junk]}
    for wrong in ({"tags": ["a", junk]}, no_words, found_by, found_by | {"search_headings": "a"}):
        with pytest.raises(CorruptRow, match="'m1'"):
            facts_of_row("m1", ROW | wrong)


@pytest.mark.parametrize("key", [7, None, ["a"], {"a": 1}])
def test_a_key_that_is_no_word_is_corrupt(key: object) -> None:
    with pytest.raises(CorruptRow):
        facts_of_row(key, ROW)
