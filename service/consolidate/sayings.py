"""What a passage says, and whether another one has said it: nothing telling may be lost."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from service.consolidate.density import density_of, facts, is_decision
from service.consolidate.passages import Passage
from service.ingest.wide import WIDE
from service.words import fold

# A passage that is left out must have this share of the other's words, and none of its own: of
# five words one may be more. None may be another, as alike as "up" and "down" are otherwise.
_SHARE: Final = 0.8
# Passages that say the same score nearly the same: these neighbours are compared, so that texts
# without facts do not cost the square of their number.
_MOST_COMPARED: Final = 32
_WIDE_RUN: Final = re.compile(rf"[{WIDE}]+|[^{WIDE}]+")
# Not the question mark, nor what stands in figures: a question is no answer, <5 is not >5.
_MARKS: Final = "*_`~'\"()[]{}.,;:!|…“”‘’「」『』《》。，！、：；"
# They say nothing of their own. Prepositions do: from A to B is not from B to A.
_FILLERS: Final = frozenset(("a", "also", "an", "i", "it", "just", "that", "the", "this", "we"))
_NEGATIONS: Final = frozenset(("not", "no", "never", "without", "cannot", "nor"))
_NEGATING_ENDS: Final = ("n't", "n’t")
_NEGATING_LETTERS: Final = frozenset("不没沒无無未안못")


@dataclass(frozen=True, slots=True)
class Saying:
    """A passage with what it tells; `words` are folded, in order, without marks and fillers."""

    passage: Passage
    facts: frozenset[str]
    words: tuple[str, ...]
    density: float
    is_decision: bool

    @property
    def is_negated(self) -> bool:
        """Whether a word of it turns the others round."""
        return any(map(_negates, self.words))


def read_saying(passage: Passage) -> Saying:
    """Find out what a passage says."""
    told = facts(passage)
    words = (passage.text,) if passage.is_code else tuple(_words(passage.text))
    return Saying(passage, told, words, density_of(passage, told), is_decision(passage))


def _words(text: str) -> Iterator[str]:
    for chunk in fold(text).casefold().split():
        runs = [chunk] if chunk.isascii() else _WIDE_RUN.findall(chunk)
        for run in runs:
            if len(run) > 1 and run.isalpha() and _WIDE_RUN.match(run) and not run.isascii():
                yield from map("".join, pairwise(run))
            elif (word := run.strip(_MARKS)) and word not in _FILLERS:
                yield word


def _negates(word: str) -> bool:
    return (
        word in _NEGATIONS
        or word.endswith(_NEGATING_ENDS)
        or not (word.isascii() or _NEGATING_LETTERS.isdisjoint(word))
    )


class Said:
    """What has been said so far."""

    def __init__(self) -> None:
        self._exactly: set[tuple[frozenset[str], tuple[str, ...]]] = set()
        self._alike: defaultdict[tuple[frozenset[str], str], list[frozenset[str]]]
        self._alike = defaultdict(list)

    def take(self, saying: Saying) -> bool:
        """Take in what is new; False for what has been said, which is left out.

        The facts must be equal, and the words of a decision or of code as well, in their order.
        Another passage may also be part of one that was taken before: it has the same first word
        (which mostly says who or what), four fifths of the words and none of its own, and no word
        that it lacks is a negation.
        """
        key = (saying.facts, saying.words)
        if key in self._exactly:
            return False
        self._exactly.add(key)
        if saying.passage.is_code:
            return True
        words = frozenset(saying.words)
        alike = self._alike[saying.facts, next(iter(saying.words), "")]
        neighbours = alike[-_MOST_COMPARED:]
        if not saying.is_decision and any(_is_part(words, other) for other in neighbours):
            return False
        alike.append(words)
        return True


def _is_part(words: frozenset[str], other: frozenset[str]) -> bool:
    """Say whether `other` has all the words, few more, and turns none round."""
    if not _SHARE * len(other) <= len(words) <= len(other) or not words <= other:
        return False
    return not any(map(_negates, other - words))
