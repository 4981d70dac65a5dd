"""Cursors: what goes in comes out, what their description allows is a place, the rest refused."""

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from service.web.cursors import CursorForm

_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
_NUMBER = st.integers(0, 10**18 - 1)
_ZONE = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
_MOMENT = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=_ZONE)  # noqa: DTZ001

NOON = datetime(2026, 2, 13, 12, tzinfo=UTC)
FORM = CursorForm("m", (datetime, str, int))
GIVEN: TypeAdapter[str] = TypeAdapter(Annotated[str, *FORM.type_rules()])


@given(_MOMENT, _TEXT, _NUMBER)
def test_parts_come_back_as_they_were(moment: datetime, text: str, number: int) -> None:
    cursor = FORM.encode(moment, text, number)
    assert GIVEN.validate_python(cursor) == cursor
    assert FORM.decode(cursor) == [moment, text, number]


@given(_TEXT, _NUMBER)
def test_a_cursor_needs_no_escaping_in_a_url(text: str, number: int) -> None:
    assert re.fullmatch(r"[\w~-]+", CursorForm("c", (str, int)).encode(text, number), re.ASCII)


def test_a_page_after_the_first_is_another_mark() -> None:
    form = CursorForm("c", (str, int))
    assert form.encode("a", 1) != form.encode("a", 2)


@given(st.from_regex(GIVEN.json_schema()["pattern"], fullmatch=True))
def test_whatever_the_description_allows_is_a_place(cursor: str) -> None:
    moment, text, number = FORM.decode(GIVEN.validate_python(cursor))
    assert (type(moment), type(text), type(number)) == (datetime, str, int)
    assert moment.tzinfo
    assert "\0" not in text


@pytest.mark.parametrize(
    "cursor",
    [
        "", "x", "m", "not a cursor", "ça", "猫", "=", "WzEs", "\ud800",
        CursorForm("c", (datetime, str, int)).encode(NOON, "a", 1),
        CursorForm("m", (str, int)).encode("a", 1), "m1~YQ~1~1", "m1~Y~1", "m1~YQ==~1", "m1~YQ~-1",
        "m1~YQ~1\n", "m1~YQ~٣", f"m{10**18}~YQ~1", " m1~YQ~1",
    ],
)  # fmt: skip
def test_what_is_not_ours_is_refused(cursor: str) -> None:
    with pytest.raises(ValidationError, match="next_cursor"):
        GIVEN.validate_python(cursor)
