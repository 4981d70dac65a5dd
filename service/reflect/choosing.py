"""What belongs near at hand, and what says the contrary of what was decided; pure."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from service.records import Memory
from service.text.combining_marks import COMBINING
from service.text.terms import TERMS
from service.text.tokens import estimate_prompt_tokens
from service.worth import Worth

_LEAST_RECENT: Final = 3
_LEAST_GROWTH: Final = 2.0
_MOST_CONCEPTS: Final = 10
_MOST_CONTRADICTIONS: Final = 20
# Of the words of the shorter decision so many must be in the other one.
_LEAST_SHARED: Final = 0.5
_LEAST_SHARED_WORDS: Final = 2
_WORD: Final = re.compile(rf"[^\W_][\w{COMBINING}./-]{{2,60}}|[\u3400-\u9fff]")
_NOISE: Final = frozenset(
    """
    the and for with that this from into are was were will use uses used using let lets our not
    decided decision agreed settled should must always never instead longer rather than anymore
    """.split()  # noqa: SIM905 - one a line were as long as the rest
)
# What a decision turns against stands behind these, in Korean and Chinese anywhere.
_AGAINST: Final = re.compile(
    r"\b(?:no|not|never|no longer|don'?t|won'?t|instead of|rather than|against|drop|stop|without)\s"
    r"(?:(?:use|using|the|an?|any|to|our)\s){0,2}(\S{1,60}(?:\s\S{1,60})?)"
    r"|(않|안 |말자|중단|대신|不|别|取消)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that may be kept near at hand: what it is worth, and why it is looked at."""

    memory: Memory
    worth: Worth
    why: str

    @property
    def line(self) -> str:
        """What it takes of the room: its words in one line."""
        return f"- {' '.join(self.memory.content.split())}"

    @property
    def tokens(self) -> int:
        """What its line takes of a prompt."""
        return estimate_prompt_tokens(self.line + "\n")


@dataclass(frozen=True, slots=True)
class Rising:
    """A concept that more memories mention than before: of this time, and of one before as long."""

    slug: str
    recent: int
    before: float


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A decision that says the contrary of an older one, and both hold."""

    newer: Memory
    older: Memory


def choose(candidates: Iterable[Candidate], max_tokens: int) -> list[Candidate]:
    """Return the worthiest that fit the room together, the worthiest first."""
    chosen, left = [], max_tokens
    for one in sorted(candidates, key=lambda one: (-one.worth.score, one.memory.id)):
        if one.tokens <= left:
            chosen.append(one)
            left -= one.tokens
    return chosen


def rising(recent: Mapping[str, int], before: Mapping[str, int], periods: int) -> list[Rising]:
    """Return the concepts that gain weight: `before` counts so many periods of the same length."""
    found = [Rising(slug, count, before.get(slug, 0) / periods) for slug, count in recent.items()]
    gaining = [
        one for one in found
        if one.recent >= _LEAST_RECENT and one.recent >= _LEAST_GROWTH * one.before
    ]  # fmt: skip
    gaining.sort(key=lambda one: (one.before - one.recent, one.slug))
    return gaining[:_MOST_CONCEPTS]


def counted(mentions: Iterable[Sequence[Sequence[str]]]) -> Counter[str]:
    """Count in how many memories each concept is mentioned, by slug."""
    return Counter(slug for concepts in mentions for slug in {one[1] for one in concepts})


def contradictions(decisions: Sequence[Memory]) -> list[Contradiction]:
    """Return pairs of which one turns against what the other one says; `decisions` newest first."""
    said = [_said(one) for one in decisions]
    return list(_pairs(said))[:_MOST_CONTRADICTIONS]


@dataclass(frozen=True, slots=True)
class _Said:
    memory: Memory
    words: frozenset[int]
    against: frozenset[int] | None

    def turns_against(self, other: "_Said") -> bool:
        """Say whether one of these is against what the other one is for."""
        if (self.against is None) == (other.against is None):
            return False
        turning, meant = (self, other) if other.against is None else (other, self)
        return not turning.against or not turning.against.isdisjoint(meant.words)


def _said(memory: Memory) -> _Said:
    text = memory.content.casefold()
    found = list(_AGAINST.finditer(text))
    against = frozenset().union(*(_terms(one[1] or "") for one in found)) if found else None
    return _Said(memory, _terms(f"{memory.title} {text}"), against)


def _pairs(said: Sequence[_Said]) -> Iterator[Contradiction]:
    for place, newer in enumerate(said):
        for older in said[place + 1 :]:
            shared = len(newer.words & older.words)
            fewer = min(len(newer.words), len(older.words))
            is_near = shared >= max(_LEAST_SHARED_WORDS, _LEAST_SHARED * fewer)
            if is_near and newer.memory.scope == older.memory.scope and newer.turns_against(older):
                yield Contradiction(newer.memory, older.memory)


def _terms(text: str) -> frozenset[int]:
    return frozenset(TERMS[word] for word in _WORD.findall(text.casefold()) if word not in _NOISE)
