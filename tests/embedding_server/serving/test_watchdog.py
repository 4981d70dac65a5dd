"""A thread as it is seen from outside."""

import asyncio
import time
from collections.abc import Iterator
from threading import Event, current_thread

import pytest

from embedding_server.serving.watchdog import WatchedThread, watch
from tests.embedding_server.edge import PATIENCE_SECONDS, wait_until

LONG = 1000.0


@pytest.fixture
def thread() -> Iterator[WatchedThread]:
    """Yield a thread that has not begun, and end it."""
    thread = WatchedThread("model")
    yield thread
    thread.end()
    thread.join(PATIENCE_SECONDS)


def test_calls_run_on_one_thread_of_its_name(thread: WatchedThread) -> None:
    first, second = (thread.submit(current_thread).result() for _ in range(2))
    assert first is second
    assert first.name.startswith("model")


def test_before_the_first_call_there_is_neither_life_nor_fault(thread: WatchedThread) -> None:
    assert not thread.is_alive
    assert thread.find_fault(0) is None


def test_an_idle_thread_is_never_stuck(thread: WatchedThread) -> None:
    thread.submit(lambda: None).result()
    wait_until(lambda: thread.find_fault(0) is None)
    assert thread.is_alive


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(3), KeyboardInterrupt()])
def test_no_exception_of_a_call_ends_it(thread: WatchedThread, error: BaseException) -> None:
    def fail() -> None:
        raise error

    assert thread.submit(fail).exception() is error
    assert thread.submit(lambda: 7).result() == 7
    wait_until(lambda: thread.find_fault(0) is None)


def test_a_call_that_takes_too_long_is_a_fault(thread: WatchedThread) -> None:
    has_begun, may_end = Event(), Event()

    def wait() -> None:
        has_begun.set()
        may_end.wait()

    running = thread.submit(wait)
    has_begun.wait(PATIENCE_SECONDS)
    assert thread.find_fault(LONG) is None
    time.sleep(0.001)
    assert thread.find_fault(0.0005) == "The model thread has been stuck for over 0.0005 s."
    may_end.set()
    running.result()


def test_a_call_that_may_take_long_is_none(thread: WatchedThread) -> None:
    has_begun, may_end = Event(), Event()

    def wait() -> None:
        has_begun.set()
        may_end.wait()

    running = thread.submit(wait, may_take_long=True)
    has_begun.wait(PATIENCE_SECONDS)
    time.sleep(0.001)
    assert thread.find_fault(0) is None
    may_end.set()
    running.result()


def test_an_ended_thread_is_a_fault(thread: WatchedThread) -> None:
    thread.submit(lambda: None).result()
    thread.end()
    thread.join(PATIENCE_SECONDS)
    assert not thread.is_alive
    assert thread.find_fault(LONG) == "The model thread has ended."


def test_the_watcher_reports_the_first_fault_once() -> None:
    faults = iter([None, "a fault", "another"])
    reported: list[str] = []
    asyncio.run(watch(lambda: next(faults), reported.append))
    assert reported == ["a fault"]
