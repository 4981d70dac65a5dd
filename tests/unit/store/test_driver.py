"""The faster codec against the driver's own, byte for byte and value for value."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from surrealdb import Duration, RecordID
from surrealdb.connections import async_embedded, async_ws
from surrealdb.data.cbor import decode as slow_decode
from surrealdb.data.cbor import encode as slow_encode
from surrealdb.data.types.null import Null
from surrealdb.request_message.descriptors import cbor_ws

from service.store import driver

FIRST, LAST = (moment.replace(tzinfo=UTC) for moment in (datetime.min, datetime.max))  # noqa: DTZ901
moments = st.datetimes(
    datetime(1, 1, 2), datetime(9999, 12, 30),  # noqa: DTZ001 - the zone is drawn beside them
    timezones=st.sampled_from((UTC, timezone(timedelta(hours=9)))),
)  # fmt: skip
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
leaves = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.binary(max_size=9)
    | st.floats(allow_nan=False) | names | moments
    | st.builds(RecordID, names.filter(bool), names | st.lists(names, max_size=3))
)  # fmt: skip
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(names, inner, max_size=4)
    ),
    max_leaves=12,
)


@given(values)
def test_it_sends_what_the_driver_sends(value: Any) -> None:
    assert driver.encode(value) == slow_encode(value)


@given(values)
def test_it_reads_what_the_driver_reads(value: Any) -> None:
    sent = slow_encode(value)
    assert driver.decode(sent) == slow_decode(sent)


@given(moments)
def test_a_moment_arrives_to_the_microsecond(moment: datetime) -> None:
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    seconds, microseconds = divmod(since // timedelta(microseconds=1), 1_000_000)
    answered = _tagged(12, [seconds, microseconds * 1000 + 999])
    read = driver.decode(answered)
    assert (read, type(read), read.tzinfo) == (moment, datetime, UTC)


def test_zeros_that_a_moment_leaves_out() -> None:
    assert driver.decode(_tagged(12, [])) == datetime(1970, 1, 1, tzinfo=UTC)
    assert driver.decode(_tagged(12, [86400])) == datetime(1970, 1, 2, tzinfo=UTC)


def test_null_is_none() -> None:
    assert driver.decode(slow_encode([Null, None])) == [None, None]


def test_a_type_that_is_none_of_ours_is_read_as_the_driver_reads_it() -> None:
    assert driver.decode(slow_encode(Duration.parse("90s"))) == Duration.parse("90s")


@pytest.mark.parametrize(
    ("seconds", "nearest"),
    [
        (253402300800, LAST), (2**62, LAST),
        (-62135596801, FIRST), (-(2**62), FIRST),
    ],
)  # fmt: skip
def test_a_moment_that_python_cannot_say_is_the_nearest(seconds: int, nearest: datetime) -> None:
    assert driver.decode(_tagged(12, [seconds, 0])) == nearest


def test_a_cut_answer_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="end of stream"):
        driver.decode(slow_encode({"a": "a long text"})[:-3])


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1])
def test_an_integer_beyond_64_bits_is_refused(number: int) -> None:
    with pytest.raises(ValueError, match="64 bits"):
        driver.encode({"n": [number]})


def test_a_type_that_cannot_be_sent_is_named() -> None:
    with pytest.raises(TypeError, match="cannot send object"):
        driver.encode([object()])


def test_the_driver_uses_it() -> None:
    # The names under which its modules know the codec, in the release that pyproject.toml pins.
    assert vars(cbor_ws)["encode"] is driver.encode
    assert vars(async_embedded)["decode"] is driver.decode
    assert vars(async_ws)["decode"] is driver.decode


def _tagged(tag: int, value: list[int]) -> bytes:
    head = bytes([0xC0 + tag]) if tag < 24 else bytes([0xD8, tag])
    return head + slow_encode(value)
