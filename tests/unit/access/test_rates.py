"""What may be asked in a minute: by each caller, and by all of them together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.access.caller import LOCAL, Caller
from service.access.errors import TooManyRequests
from service.access.quota import UNBOUNDED, Quota
from service.access.rates import Rates


def _caller(key: str, **quota: int) -> Caller:
    return Caller(key, f"name of {key}", quota=Quota(**quota))


def _taken(rates: Rates, caller: Caller, times: int, now: float) -> int:
    taken = 0
    for _ in range(times):
        try:
            rates.take_request(caller, now)
        except TooManyRequests:
            continue
        taken += 1
    return taken


def test_a_minute_has_so_many_and_they_come_back_evenly() -> None:
    rates, one = Rates(UNBOUNDED), _caller("a", rate=60)
    assert _taken(rates, one, 100, 0) == 60
    assert _taken(rates, one, 100, 10) == 10
    with pytest.raises(TooManyRequests, match="60 requests a minute") as refused:
        rates.take_request(one, 10)
    assert refused.value.retry_after_seconds == 1
    assert _taken(rates, one, 100, 1000) == 60


def test_one_key_takes_nothing_from_another_but_from_all() -> None:
    rates = Rates(Quota(rate=10))
    one, other = _caller("a", rate=6), _caller("b", rate=6)
    assert _taken(rates, one, 9, 0) == 6
    assert _taken(rates, other, 9, 0) == 4
    assert _taken(rates, LOCAL, 9, 0) == 0
    # What is refused takes nothing from anyone.
    assert _taken(rates, other, 9, 6) == 1


def test_what_is_unbounded_is_not_counted() -> None:
    assert _taken(Rates(UNBOUNDED), LOCAL, 10_000, 0) == 10_000


def test_it_says_no_shorter_wait_than_there_is() -> None:
    rates, one = Rates(UNBOUNDED), _caller("a", byte_rate=60)
    rates.take_bytes(one, 99, 0)
    with pytest.raises(TooManyRequests, match=r"again in 40 s") as refused:
        rates.check_bytes(one, 0.6)
    assert refused.value.retry_after_seconds == 40
    rates.check_bytes(one, 40.6)


def test_a_large_body_is_owed() -> None:
    rates, one = Rates(UNBOUNDED), _caller("a", byte_rate=600)
    rates.check_bytes(one, 0)
    rates.take_bytes(one, 1200, 0)
    for moment in (0, 30, 59):
        with pytest.raises(TooManyRequests, match="600 bytes a minute"):
            rates.check_bytes(one, moment)
    rates.check_bytes(one, 61)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.floats(0, 30)), max_size=200))
def test_no_window_lets_more_in_than_two_minutes_worth(steps: list[tuple[str, float]]) -> None:
    rates, now, taken = Rates(Quota(rate=30)), 0.0, list[tuple[float, str]]()
    for name, seconds in steps:
        now += seconds
        if _taken(rates, _caller(name, rate=20), 1, now):
            taken.append((now, name))
    for at, _ in taken:
        window = [name for moment, name in taken if at <= moment < at + 60]
        assert len(window) <= 60
        assert max(window.count("a"), window.count("b")) <= 40
