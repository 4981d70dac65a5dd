"""Filter columns against the filters' sentences written down plainly, over any history of rows."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.access.origins import ORIGINS
from service.index.resident.columns import Columns, grown
from service.index.resident.facts import Facts
from service.metadata import LABEL_FILTERS
from service.moments import micros_of
from service.records import Filters
from tests.effort import examples
from tests.stores.labels import labels

ROWS = 10
START = datetime(2026, 2, 13, tzinfo=UTC)
MOMENTS = [START + timedelta(hours=hour) for hour in range(4)]
NOW = micros_of(MOMENTS[2])
SCOPES = [None, "", "gpu", "home"]
# As short as the numbers that stand in a file for sets of tags that nobody has.
TAGS = ["a", "0", "1", "automatic"]
RESTART = "restart"
WORDS = ["note", "fact", "handoff"]

moments = st.sampled_from(MOMENTS)
stored_moments = moments.map(micros_of)
facts = st.builds(
    Facts,
    key=st.just("m"),
    words=st.just(""),
    tags=st.lists(st.sampled_from(TAGS), max_size=4).map(tuple),
    labels=st.builds(
        labels,
        kind=st.sampled_from(WORDS),
        type=st.sampled_from(["episodic", "semantic"]),
        scope=st.sampled_from(SCOPES),
        session=st.sampled_from([None, "s1", "s2"]),
        origin=st.sampled_from(ORIGINS),
        trust_tier=st.sampled_from(["trusted", "untrusted", "quarantined"]),
    ),
    occurred_at=stored_moments,
    valid_from=st.none() | stored_moments,
    valid_until=st.none() | stored_moments,
    is_archived=st.booleans(),
    consolidated_into=st.sampled_from([None, "s"]),
)
chosen = st.lists(st.sampled_from([*WORDS, "unheard"]), max_size=4).map(tuple)
filters = st.builds(
    Filters,
    scope=st.sampled_from([*SCOPES, "unheard"]),
    kinds=st.none() | chosen,
    types=st.none() | st.lists(st.sampled_from(["episodic", "semantic"]), max_size=3).map(tuple),
    tags=st.none() | st.lists(st.sampled_from([*TAGS, "unheard"]), max_size=3).map(tuple),
    since=st.none() | moments,
    until=st.none() | moments,
    as_of=st.none() | moments,
    session=st.sampled_from([None, "s1", "unheard"]),
    with_sources=st.booleans(),
    with_ended=st.booleans(),
    include_archived=st.booleans(),
    origins=st.none() | st.lists(st.sampled_from(ORIGINS), max_size=3).map(tuple),
    trust=st.lists(st.sampled_from(["trusted", "untrusted", "quarantined"]), max_size=4).map(tuple),
    project=st.sampled_from([None, *SCOPES, "unheard"]),
    without_automatic=st.booleans(),
)
pages = st.dictionaries(st.integers(0, ROWS - 1), facts, max_size=6)
histories = st.lists(pages | st.integers(0, ROWS - 1) | st.just(RESTART), max_size=8)


def passes(fact: Facts, asked: Filters) -> bool:
    """Say the sentences of filters.surql about one memory, agents aside."""
    moment = NOW if asked.as_of is None else micros_of(asked.as_of)
    begins = fact.occurred_at if fact.valid_from is None else fact.valid_from
    label = dict(zip(LABEL_FILTERS, fact.labels, strict=True))
    return (
        (asked.scope is None or label["scope"] == asked.scope)
        and (asked.kinds is None or label["kind"] in asked.kinds)
        and (asked.types is None or label["type"] in asked.types)
        and (asked.tags is None or set(asked.tags) <= set(fact.tags))
        and (asked.since is None or fact.occurred_at >= micros_of(asked.since))
        and (asked.until is None or fact.occurred_at <= micros_of(asked.until))
        and (asked.with_ended or fact.valid_until is None or fact.valid_until > moment)
        and (asked.as_of is None or begins <= moment)
        and (asked.session is None or label["session"] == asked.session)
        and (
            asked.include_archived
            or not fact.is_archived
            or (asked.with_sources and fact.consolidated_into is not None)
        )
        and (asked.origins is None or label["origin"] in asked.origins)
        and label["trust_tier"] in asked.trust
        and (asked.project is None or label["scope"] in {None, asked.project})
        and not (
            asked.without_automatic and label["kind"] == "handoff" and "automatic" in fact.tags
        )
    )


def rows_of(columns: Columns, asked: Filters) -> list[int]:
    rows: list[int] = np.flatnonzero(columns.mask(asked, NOW)).tolist()
    return rows


def restarted(columns: Columns) -> Columns:
    """Return the columns as a file gives them back."""
    saved = columns.save()
    return Columns.restore(replace(saved, facts=orjson.loads(orjson.dumps(saved.facts))))


@settings(max_examples=examples(150))
@given(histories, filters)
def test_any_history_passes_what_the_sentences_say(
    history: list[dict[int, Facts] | int | str], asked: Filters
) -> None:
    columns, held = Columns(), dict[int, Facts]()
    for step in history:
        if step == RESTART:
            columns = restarted(columns)
        elif isinstance(step, dict):
            columns.put(list(step), list(step.values()))
            held |= step
        elif isinstance(step, int) and step in held:
            columns.remove(step)
            del held[step]
    assert rows_of(columns, asked) == sorted(row for row, one in held.items() if passes(one, asked))
    every = np.arange(len(columns.present))
    assert columns.passes(every, asked, NOW).tolist() == columns.mask(asked, NOW).tolist()
    assert np.flatnonzero(columns.present).tolist() == sorted(held)


FACT = Facts(
    "m",
    "",
    ("a",),
    labels(scope="gpu", session="s1"),
    NOW,
    None,
    None,
    is_archived=False,
)


@pytest.mark.parametrize(
    ("asked", "is_found"),
    [
        ({"kinds": ("fact", "fact")}, False),
        ({"kinds": ("note", "note")}, True),
        ({"kinds": ()}, False),
        ({"tags": ()}, True),
        ({"tags": ("a", "a")}, True),
        ({"trust": ("untrusted", "untrusted")}, False),
    ],
)
def test_a_word_said_twice_counts_once(asked: dict[str, Any], is_found: bool) -> None:
    columns = Columns()
    other = replace(FACT, labels=labels(kind="fact", trust_tier="untrusted"), tags=())
    columns.put([0, 1], [FACT, other])
    assert (0 in rows_of(columns, Filters(**asked))) is is_found


def test_bounds_are_exact_to_the_microsecond() -> None:
    columns = Columns()
    columns.put([0], [replace(FACT, valid_until=NOW + 1)])
    moment, step = MOMENTS[2], timedelta(microseconds=1)
    assert rows_of(columns, Filters(since=moment, until=moment)) == [0]
    assert rows_of(columns, Filters(since=moment + step)) == []
    assert rows_of(columns, Filters(until=moment - step)) == []
    assert rows_of(columns, Filters(as_of=moment)) == [0]
    assert rows_of(columns, Filters(as_of=moment + step)) == []
    assert rows_of(columns, Filters(as_of=moment - step)) == []


def test_the_ends_of_time_fit() -> None:
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    columns = Columns()
    columns.put([0, 1], [replace(FACT, occurred_at=micros_of(m)) for m in (first, last)])
    assert rows_of(columns, Filters(since=last)) == [1]
    assert rows_of(columns, Filters(until=first)) == [0]
    assert rows_of(columns, Filters(as_of=last)) == [0, 1]


def test_nothing_is_a_history_too() -> None:
    columns = Columns()
    columns.put([], [])
    assert rows_of(columns, Filters(kinds=("note",), tags=("a",), scope="gpu")) == []


def test_room_is_made_for_what_was_said_and_rows_stay() -> None:
    columns = Columns()
    columns.put([3], [FACT])
    columns.reserve(5000)
    reserved = columns.bytes
    columns.put(range(4999), [FACT] * 4999)
    assert columns.bytes == reserved
    assert len(rows_of(columns, Filters(scope="gpu", tags=("a",), session="s1"))) == 4999
    columns.put([100_000], [FACT])
    assert rows_of(columns, Filters())[-1] == 100_000


def test_an_array_grows_by_a_share_and_keeps_its_rows() -> None:
    array = np.arange(1000, dtype=np.int32)
    assert grown(array, 1000) is array
    larger = grown(array, 1001)
    assert len(larger) == 1250
    assert larger[:1000].tolist() == array.tolist()
    assert not larger[1000:].any()


def test_a_set_of_tags_that_nobody_has_any_more_is_no_tag_of_another() -> None:
    columns = Columns()
    every = [("gone",), ("0",), ("secret",)]
    columns.put([0, 1, 2], [replace(FACT, tags=tags) for tags in every])
    columns.remove(0)
    columns = restarted(columns)
    for row, tags in enumerate(every):
        assert rows_of(columns, Filters(tags=tags)) == ([row] if row else [])


def test_filters_that_narrow_another_question_s_mask_leave_it_as_it_is() -> None:
    columns = Columns()
    other = replace(FACT, labels=labels(kind="fact"), tags=(), valid_until=NOW + 5)
    columns.put([0, 1], [FACT, other])
    every = columns.mask(Filters(), NOW)
    assert rows_of(columns, Filters(scope="gpu")) == [0]
    assert rows_of(columns, Filters(tags=("a",), kinds=("note",))) == [0]
    assert rows_of(columns, Filters(kinds=("fact",))) == [1]
    assert every.tolist() == [True, True]
    # What narrows ends when what it is cut from does.
    assert columns.mask(Filters(kinds=("fact",)), NOW + 5).tolist() == [False, False]


def test_the_mask_that_is_asked_for_again_and_again_is_kept() -> None:
    columns = Columns()
    columns.put([0], [FACT])
    often = columns.mask(Filters(), NOW)
    for number in range(30):
        columns.mask(Filters(scope=f"s{number}"), NOW)
        assert columns.mask(Filters(), NOW) is often


def test_what_a_session_asks_in_a_round_is_kept_until_the_next() -> None:
    columns = Columns()
    columns.put([0], [FACT])
    # A context's sections, a handoff, decisions and a search, and what they are cut from.
    every = [Filters(with_ended=ended, with_sources=True) for ended in (False, True)]
    rounds = [replace(one, scope=f"s{number}") for one in every for number in range(5)]
    kept = [columns.mask(one, NOW) for one in rounds]
    assert all(columns.mask(one, NOW) is mask for one, mask in zip(rounds, kept, strict=True))
