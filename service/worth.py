"""What a memory is worth keeping near at hand: one number of five that anybody can check; pure.

The factors are those of the four-tier model: an explicit mark, references, information, recency
with a half-life of seven days, emphasis. docs/continuity.md tells them to users.
"""

import math
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from service.records import Memory
from service.text.combining_marks import COMBINING

_MARKS: Final = frozenset({"constraint", "important"})
_HALF_LIFE_DAYS: Final = 7.0
_DAY_SECONDS: Final = 86_400
# Ten references are as good as any number (0.1 each, as in the model).
_MOST_REFERENCES: Final = 10
# So many telling words are worth 63 % of all that words can be.
_TELLING_WORDS: Final = 12
_MARK_OF_EMPHASIS: Final = 0.5
_WORD: Final = re.compile(
    rf"[^\W_][\w{COMBINING}./:@+-]{{2,60}}|[\u3041-\u30ff\u3400-\u9fff]{{2,4}}"
)
_SPECIFIC: Final = re.compile(r"\d|[a-z][A-Z]|[./:@_]")
_EMPHASIS: Final = re.compile(
    r"!|\*\*[^*\n]{1,200}\*\*|\b[A-Z]{4,30}\b"
    r"|\b(?:always|never|must|important|critical|crucial|essential|remember|do not|don't|key)\b"
    r"|반드시|절대|중요|필수|항상|务必|必须|重要|绝不|一定",
    re.IGNORECASE,
)
_SAID: Final = frozenset(
    "always never must important critical crucial essential remember key".split()  # noqa: SIM905
)
_CAPITALS: Final = re.compile(r"[A-Z]{4,30}")


@dataclass(frozen=True, slots=True)
class Evidence:
    """In how many sessions a memory was given, was seen to be used, and was said."""

    given: int = 0
    used: int = 0
    said: int = 0


@dataclass(frozen=True, slots=True)
class Told:
    """What was said of a text: when, how important it is (0 to 1), and whether it is marked."""

    occurred_at: datetime
    importance: float = 0.5
    is_marked: bool = False

    @classmethod
    def of(cls, memory: Memory) -> "Told":
        """Return it of a memory, which a pin or one of two tags marks."""
        is_marked = memory.pinned or not _MARKS.isdisjoint(memory.tags)
        return cls(memory.occurred_at, memory.importance, is_marked)


@dataclass(frozen=True, slots=True)
class Worth:
    """The parts, each 0 to 1, and `score`, their sum by weight: 0.35, 0.25, 0.15, 0.15, 0.1."""

    score: float
    explicit: float
    references: float
    information: float
    recency: float
    emphasis: float


def worth_of(text: str, told: Told, evidence: Evidence, now: datetime) -> Worth:
    """Return what a text is worth at a moment."""
    count = evidence.given + 2 * evidence.used + 2 * max(0, evidence.said - 1)
    references = min(1.0, count / _MOST_REFERENCES)
    information = 1 - math.exp(-_telling(text) / _TELLING_WORDS)
    days = max(0.0, (now - told.occurred_at).total_seconds() / _DAY_SECONDS)
    recency = math.exp2(-days / _HALF_LIFE_DAYS)
    explicit = 1.0 if told.is_marked else max(0.0, 2 * told.importance - 1)
    emphasis = min(1.0, _MARK_OF_EMPHASIS * _emphases(text))
    score = (
        0.35 * explicit + 0.25 * references + 0.15 * information + 0.15 * recency + 0.1 * emphasis
    )
    parts = (score, explicit, references, information, recency, emphasis)
    return Worth(*(round(part, 4) for part in parts))


def _telling(text: str) -> int:
    """Count the different words of a text; what has digits or is spelled like code counts twice."""
    words = {word.casefold(): word for word in _WORD.findall(text)}
    return sum(2 if _SPECIFIC.search(word) else 1 for word in words.values())


def _emphases(text: str) -> int:
    found = _EMPHASIS.findall(text)
    # Letter case does not count for words, but for capitals it is all.
    return sum(
        1
        for one in found
        if not one.isalpha()
        or not one.isascii()
        or _CAPITALS.fullmatch(one)
        or one.casefold() in _SAID
    )
