"""The words that may name a time, in English, Korean and Chinese, wherever they stand; pure."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date

from service.search.times.cjk_times import EASTERN
from service.search.times.english_times import ENGLISH
from service.search.times.periods import NO_SUCH_TIME, Kind, Period, Reader


@dataclass(frozen=True, slots=True)
class TimeWords:
    """Words that may name a time: where they stand, what they mean, and how sure that is.

    `read` tells what they would mean on another day; it raises NO_SUCH_TIME.
    """

    begin: int
    end: int
    period: Period
    kind: Kind
    read: Callable[[date], Period]


def find_time_words(text: str, today: date) -> list[TimeWords]:
    """Return the words that may name a time, in their order; of those that overlap the first."""
    found = sorted(_all(text, today), key=lambda words: (words.begin, -words.end))
    kept: list[TimeWords] = []
    for words in found:
        if not kept or words.begin >= kept[-1].end:
            kept.append(words)
    return kept


def _all(text: str, today: date) -> Iterator[TimeWords]:
    for pattern, reader in ENGLISH if text.isascii() else (*ENGLISH, *EASTERN):
        for match in pattern.finditer(text):
            try:
                reading = reader(match, today)
            except NO_SUCH_TIME:
                continue
            if reading is not None:
                read = _on_any_day(reader, match)
                yield TimeWords(match.start(), match.end(), *reading, read)


def _on_any_day(reader: Reader, match: re.Match[str]) -> Callable[[date], Period]:
    def read(today: date) -> Period:
        reading = reader(match, today)
        if reading is None:
            raise ValueError(match[0])
        return reading[0]

    return read
