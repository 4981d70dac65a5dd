"""What a passage says, and whether another one has said it: nothing telling may be lost."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Final

from service.consolidate.summary.density import decides, density_of, facts
from service.consolidate.summary.passages import Passage
from service.consolidate.summary.wording import negates, words_of

# A passage that is left out must have this share of the other's words, and none of its own: of
# five words one may be more. None may be another, as alike as "up" and "down" are otherwise.
_SHARE: Final = 0.8
# Passages that say the same score nearly the same: these neighbours are compared, so that texts
# without facts do not cost the square of their number.
_MOST_COMPARED: Final = 32


@dataclass(frozen=True, slots=True)
class Saying:
    """A passage with its words, its facts, how much it tells and whether it decides."""

    passage: Passage
    words: tuple[str, ...]
    facts: frozenset[str]
    density: float
    is_decision: bool

    @property
    def is_negated(self) -> bool:
        """Whether a word of it turns the others round."""
        return any(map(negates, self.words))


def read_saying(passage: Passage) -> Saying:
    """Find out what a passage says."""
    words, told = words_of(passage), facts(passage)
    is_decision = decides(passage, words)
    density = density_of(passage, words, told, is_decision=is_decision)
    return Saying(passage, words, told, density, is_decision)


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
    return not any(map(negates, other - words))
