"""What of a process's growth may be the engine's."""

import pytest

from service.store import engine_memory
from service.store.engine_memory import EngineMemory

MB = 1_000_000


class Process:
    """A process that holds so much; its engine was opened when it held 500 MB."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.held = 500 * MB
        monkeypatch.setattr(engine_memory, "resident_bytes", lambda: self.held)
        self.memory = EngineMemory()
        self.memory.begin()

    def ask(self, grown_mb: int) -> None:
        """Grow so much while the store is asked."""
        self.memory.asked()
        self.held += grown_mb * MB
        self.memory.answered()

    def has_grown(self, log_mb: int = 0) -> bool:
        return self.memory.has_grown(log_mb * MB)


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> Process:
    return Process(monkeypatch)


def test_what_grows_while_the_store_is_not_asked_is_not_the_engines(process: Process) -> None:
    process.ask(1)
    process.held += 900 * MB
    assert not process.has_grown()


def test_what_grows_while_it_is_asked_counts_together(process: Process) -> None:
    for _ in range(4):
        process.ask(25)
    assert not process.has_grown()
    process.ask(1)
    assert process.has_grown()


def test_what_was_given_back_is_not_held(process: Process) -> None:
    for _ in range(50):
        process.ask(25)
        process.held -= 25 * MB
    assert not process.has_grown()


def test_a_long_question_counts_before_it_is_answered(process: Process) -> None:
    process.memory.asked()
    process.held += 150 * MB
    assert process.has_grown()


def test_what_the_log_has_is_not_to_be_given_back(process: Process) -> None:
    process.ask(150)
    assert not process.has_grown(log_mb=60)
    assert process.has_grown(log_mb=40)


def test_counting_begins_anew(process: Process) -> None:
    process.ask(150)
    process.memory.begin()
    process.ask(1)
    assert not process.has_grown()
