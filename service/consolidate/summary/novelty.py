"""Whether a passage adds anything to those before it: repetitions go, no fact may be lost."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Final

from service.consolidate.summary.density import density_of, facts, is_decision_of
from service.consolidate.summary.passages import Passage
from service.consolidate.summary.wording import negates, words_of

# A passage is redundant if another has all its words and they are at least this share of the
# other's: the other may have one more in five. A passage with one word of its own is never
# redundant: "up" and "down" may be all the difference.
_LEAST_SHARE: Final = 0.8
# Passages come by density, and near repetitions have nearly the same: so many of the last are
# compared, lest texts without facts cost the square of their number.
_MOST_COMPARED: Final = 32


@dataclass(frozen=True, slots=True)
class ScoredPassage:
    """A passage with its words, its facts, its density and whether it is a decision."""

    passage: Passage
    words: tuple[str, ...]
    facts: frozenset[str]
    density: float
    is_decision: bool

    @property
    def is_negated(self) -> bool:
        """Whether one of its words is a negation."""
        return any(map(negates, self.words))


def score_passage(passage: Passage) -> ScoredPassage:
    """Find the words, facts and density of a passage."""
    words, known = words_of(passage), facts(passage)
    is_decision = is_decision_of(passage, words)
    density = density_of(passage, words, known, is_decision=is_decision)
    return ScoredPassage(passage, words, known, density, is_decision)


class NoveltyFilter:
    """Tells new passages from repetitions of those that it has seen."""

    def __init__(self) -> None:
        self._seen: set[tuple[frozenset[str], tuple[str, ...]]] = set()
        # Words of passages, by their facts and first word.
        self._kept: defaultdict[tuple[frozenset[str], str], list[frozenset[str]]]
        self._kept = defaultdict(list)

    def is_new(self, passage: ScoredPassage) -> bool:
        """Say whether a passage is no repetition, and remember it.

        A repetition has the same facts and the same words in the same order. A passage that is
        neither a decision nor code is one already if an earlier passage has the same facts, the
        same first word (mostly who or what did it), all its words, and at most a fifth more, none
        of them a negation.
        """
        key = (passage.facts, passage.words)
        if key in self._seen:
            return False
        self._seen.add(key)
        if passage.passage.is_code:
            return True
        words = frozenset(passage.words)
        kept = self._kept[passage.facts, next(iter(passage.words), "")]
        if not passage.is_decision and any(
            _is_redundant(words, other) for other in kept[-_MOST_COMPARED:]
        ):
            return False
        kept.append(words)
        return True


def _is_redundant(words: frozenset[str], other: frozenset[str]) -> bool:
    """Say whether `other` has all the words and few more, none of them a negation."""
    if not _LEAST_SHARE * len(other) <= len(words) <= len(other) or not words <= other:
        return False
    return not any(map(negates, other - words))
