"""Times of day at the beginning of a heading."""

import datetime as dt

import pytest

from service.text.clocks import read_clock


@pytest.mark.parametrize(
    ("title", "clock"),
    [
        ("14:30 Deployed", dt.time(14, 30)), ("[09:15] Met Mina", dt.time(9, 15)),
        ("2:05 pm: lunch", dt.time(14, 5)), ("12:00 a.m.", dt.time(0)),
        ("14：30：05 회의", dt.time(14, 30, 5)), ("23:59:59Z", dt.time(23, 59, 59)),
        ("25:00", None), ("14:305", None), ("14:30x", None), ("at 14:30", None),
        ("１４:30", None), ("", None),
    ],
)  # fmt: skip
def test_a_clock_is_read(title: str, clock: dt.time | None) -> None:
    assert read_clock(title) == clock
