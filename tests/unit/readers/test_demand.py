"""Whether several ask at once."""

from contextlib import ExitStack

import pytest

from service.readers.demand import Demand


def ask(demand: Demand, times: int, at: float, beside: int) -> None:
    """Ask so many times in one moment, each time while so many others are answered."""
    with ExitStack() as others:
        for _ in range(beside):
            others.enter_context(demand.answering(at - 1000))
        for _ in range(times):
            with demand.answering(at):
                pass


def test_who_asks_alone_is_no_crowd_however_often() -> None:
    demand = Demand()
    ask(demand, 1000, at=5.0, beside=0)
    assert not demand.is_there(5.0)


def test_sixteen_that_overlap_within_ten_seconds_are_one_for_ten_minutes() -> None:
    demand = Demand()
    ask(demand, 15, at=5.0, beside=1)
    assert not demand.is_there(5.0)
    ask(demand, 1, at=14.9, beside=1)
    assert demand.is_there(14.9)
    assert demand.is_there(614.0)
    assert not demand.is_there(615.0)


def test_those_that_overlap_now_and_then_are_none() -> None:
    demand = Demand()
    for second in range(200):
        ask(demand, 1, at=float(second), beside=1)
    assert not demand.is_there(200.0)


def test_a_search_that_fails_is_over() -> None:
    demand = Demand()
    for _ in range(40):
        with pytest.raises(LookupError), demand.answering(1.0):
            raise LookupError
    assert not demand.is_there(1.0)
