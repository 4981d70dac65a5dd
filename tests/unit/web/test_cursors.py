"""Cursors: what goes in comes out, and what is not ours is refused."""

import base64
import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import InvalidRequest
from service.web.cursors import cursor_moment, cursor_number, decode_cursor, encode_cursor

_TEXT = st.text(st.characters(exclude_categories=["Cs"]))
_NUMBER = st.integers(-(2**63) + 1, 2**63 - 1)
_ZONE = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
_MOMENT = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=_ZONE)  # noqa: DTZ001


@given(st.lists(st.one_of(_TEXT, _NUMBER)))
def test_parts_come_back_as_they_were(parts: list[str | int]) -> None:
    assert decode_cursor(encode_cursor(*parts), len(parts)) == parts


@given(_MOMENT)
def test_moments_come_back_to_the_microsecond(moment: datetime) -> None:
    (part,) = decode_cursor(encode_cursor(moment), 1)
    assert cursor_moment(part) == moment


@given(_TEXT, _NUMBER)
def test_a_cursor_needs_no_escaping_in_a_url(text: str, number: int) -> None:
    assert re.fullmatch(r"[\w-]+", encode_cursor(text, number), re.ASCII)


def test_a_page_after_the_first_is_another_mark() -> None:
    assert encode_cursor("a", 1) != encode_cursor("a", 2)


def _packed(json: str) -> str:
    return base64.urlsafe_b64encode(json.encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    [
        "", "x", "not a cursor", "ça", "猫", "=", "WzEs", "\ud800",
        _packed("{}"), _packed("[1"), _packed("1"), _packed("null"), _packed('"ab"'),
        _packed('{"a": 1, "b": 2}'),
        _packed("[1]"), _packed("[1,2,3]"), _packed("[" * 2000),
        _packed("[null,1]"), _packed("[1.5,1]"), _packed("[[],1]"), _packed(f'[{2**63},"a"]'),
    ],
)  # fmt: skip
def test_what_is_not_ours_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        decode_cursor(cursor, 2)
    assert "next_cursor" in refused.value.detail


@given(st.text())
def test_any_text_is_read_or_refused(cursor: str) -> None:
    try:
        parts = decode_cursor(cursor, 2)
    except InvalidRequest:
        return
    assert len(parts) == 2
    assert {type(part) for part in parts} <= {str, int, bool}


@pytest.mark.parametrize("part", ["", "yesterday", "2026-13-40T00:00:00Z", 7, "9" * 400])
def test_a_broken_moment_is_refused(part: str | int) -> None:
    with pytest.raises(InvalidRequest):
        cursor_moment(part)


def test_a_moment_is_given_in_utc() -> None:
    moment = cursor_moment("2026-02-13T10:00:00+09:00")
    assert moment.isoformat() == datetime(2026, 2, 13, 1, tzinfo=UTC).isoformat()


def test_a_number_is_no_text() -> None:
    assert cursor_number(5) == 5
    with pytest.raises(InvalidRequest):
        cursor_number("5")
