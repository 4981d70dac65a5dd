"""The circuit breaker, by a clock of its own."""

from service.inference.breaker import Breaker


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_one_slow_answer_is_no_dead_server() -> None:
    breaker = Breaker(Clock())
    breaker.fail()
    assert breaker.admit()
    breaker.succeed()
    breaker.fail()
    assert breaker.admit()
    assert not breaker.is_open


def test_two_in_a_row_or_a_refused_connection_open_it() -> None:
    slow, gone = Breaker(Clock()), Breaker(Clock())
    slow.fail()
    slow.fail()
    gone.fail(is_gone=True)
    assert not slow.admit()
    assert not gone.admit(is_probe=True)
    assert slow.rest_seconds == gone.rest_seconds == 1


def test_after_the_rest_one_call_alone_finds_out() -> None:
    clock = Clock()
    breaker = Breaker(clock)
    breaker.fail(is_gone=True)
    clock.now += 1
    assert breaker.admit()
    assert not breaker.admit()
    breaker.succeed()
    assert breaker.admit()
    assert breaker.rest_seconds == 0


def test_where_it_is_watched_only_a_probe_finds_out() -> None:
    clock = Clock()
    breaker = Breaker(clock)
    breaker.is_watched = True
    breaker.fail(is_gone=True)
    clock.now += 60
    assert not breaker.admit()
    assert breaker.admit(is_probe=True)


def test_a_rest_grows_up_to_15_s_and_begins_anew() -> None:
    clock, rests = Clock(), []
    breaker = Breaker(clock)
    for _ in range(6):
        breaker.fail(is_gone=True)
        rests.append(breaker.rest_seconds)
        clock.now += breaker.rest_seconds
        assert breaker.admit()
    assert rests == [1, 2, 4, 8, 15, 15]
    breaker.succeed()
    breaker.fail(is_gone=True)
    assert breaker.rest_seconds == 1
