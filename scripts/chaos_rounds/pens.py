"""What writers write with: texts that have a word of their own, moments, and a way to settle."""

import itertools
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final

from scripts.chaos_rounds.asking import Answer, Asking
from scripts.chaos_rounds.ledger import Entry, Ledger, State

# Names that memories share, so that concepts, pairs and walls of the graph come about.
_WORDS: Final = (
    "harbour", "Blue Harbour", "engine", "GPU", "the New York Times", "repair", "SurrealDB",
    "morning", "letter", "v2.3.1", "northern", "kettle", "Anna Berg", "src/app.py", "[[Kiln]]",
)  # fmt: skip
TAGS: Final = ("gpu", "kiln", "letters", "north")
_SYLLABLES: Final = tuple(a + b for a in "bdfgklmnprtvz" for b in "aou")
_FIRST_MOMENT: Final = datetime(2026, 2, 1, tzinfo=UTC)
# About 7 kB: what a full disk cuts in two is lost in other ways than what fits a buffer.
_MANY_NAMES: Final = 500
# Moments that differ by parts of a second, and equal ones, sort and page like all others.
_STEPS_SECONDS: Final = (0.0, 0.0, 0.5, 1.0, 0.000001, 60.0, 86_400.0)


@dataclass(slots=True)
class Pen:
    """Makes texts: each has a word that stands nowhere else."""

    chance: Random
    start: int
    _numbers: Iterator[int] = field(init=False)
    _moment: datetime = field(default=_FIRST_MOMENT)

    def __post_init__(self) -> None:
        self._numbers = itertools.count(self.start)

    def word(self) -> str:
        """Return a word of its own, of letters only."""
        number, parts = next(self._numbers), []
        for _ in range(5):
            number, place = divmod(number, len(_SYLLABLES))
            parts.append(_SYLLABLES[place])
        return "zy" + "".join(parts)

    def text(self, word: str) -> str:
        """Return a text that says this word; one of ten is longer than a buffer of the store."""
        count = _MANY_NAMES if self.chance.random() < 0.1 else 4
        return f"{word} met {' and a '.join(self.chance.choices(_WORDS, k=count))}."

    def moment(self) -> str:
        """Return a moment a little after the one before, or the same one."""
        self._moment += timedelta(seconds=self.chance.choice(_STEPS_SECONDS))
        return self._moment.isoformat().replace("+00:00", "Z")


@dataclass(slots=True)
class Writer:
    """What all writers have; `outlives` when a request may outlive its answer."""

    asking: Asking
    ledger: Ledger
    pen: Pen
    agent: str
    stop: threading.Event
    # A database of its own may still do what the service has given up on.
    outlives: bool = False

    def settle(
        self, entry: Entry, answer: Answer, becomes: Callable[[State | None], State | None]
    ) -> None:
        """Note what an answer says of one memory."""
        entry.settle(answer.verdict, becomes)
        self.ledger.count(answer.verdict)
        if answer.gave_up or (answer.verdict == "unknown" and self.outlives):
            entry.is_over = True
