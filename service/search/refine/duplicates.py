"""Near-duplicates: of several hits that say the same, only the best one is an answer; pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from service.caching import cached_by_text
from service.kinds import AUTOMATIC
from service.records import Memory
from service.search.fusion.ranked import Ranked
from service.text.combining_marks import COMBINING

# A name or number, from its first capital or digit on. Where a script has no capitals, any word.
_MARK: Final = re.compile(rf"[^\Wa-z_][\w{COMBINING}]*")
# The same where all is ASCII, in less time: a search reads a dozen texts.
_ASCII_MARK: Final = re.compile(r"[^\Wa-z_]\w*", re.ASCII)
# Of a hit's shingles this share must stand in one better hit. A word changed in the middle of a
# text changes three of them, so 0.9 forgives one in thirty words.
_SHARE: Final = 0.9
# "Thanks, that helps!" in two conversations is no repetition unless it is word for word.
_FEWEST_WORDS: Final = 8

Shingle = tuple[tuple[str, str], tuple[str, str]]


@dataclass(slots=True)
class _Text:
    """A memory's text for comparison: its words in lower case, its names and numbers as written."""

    words: tuple[str, ...]
    marks: frozenset[str]
    _shingles: frozenset[Shingle] | None = None

    @property
    def shingles(self) -> frozenset[Shingle]:
        """All runs of three words; built when first needed, which is seldom."""
        if self._shingles is None:
            self._shingles = frozenset(pairwise(pairwise(self.words)))
        return self._shingles


class Repetitions:
    """What whoever asks was `told`, and what is said twice of hits; each text is read once."""

    def __init__(self, told: Iterable[Memory] = ()) -> None:
        self._told = tuple(told)
        self.told_characters = sum(len(memory.content) for memory in self._told)
        self._read: dict[str, _Text] = {}

    def removed_from(self, hits: Sequence[Ranked]) -> list[Ranked]:
        """Return the hits that say something new, in their order.

        A hit is left out if its title and text equal those of a better one but for case and blanks,
        or if nine tenths of its shingles and all of its names and numbers stand in one better hit:
        Broder's containment (1997) over runs of three words. So a copy with another date, port or
        name stays, and a text of fewer than eight words goes only when it is equal. A summary hides
        none of its sources: whoever asks for archived memories wants these. A handoff that
        nobody wrote repeats what was said, and hides but others of its kind.
        """
        kept: list[Ranked] = []
        texts = {memory.id: self._text_of(memory) for memory in self._told}
        echoes = {memory.id for memory in self._told if _is_echo(memory)}
        seen = {text.words for text in texts.values()}
        for hit in hits:
            memory, text, is_echo = hit.memory, self._text_of(hit.memory), _is_echo(hit.memory)
            others = (
                one
                for key, one in texts.items()
                if key != memory.consolidated_into and (is_echo or key not in echoes)
            )
            if text.words in seen or _is_repeated(text, others):
                continue
            if is_echo:
                echoes.add(memory.id)
            seen.add(text.words)
            texts[memory.id] = text
            kept.append(hit)
        return kept

    def _text_of(self, memory: Memory) -> _Text:
        if memory.id not in self._read:
            said = f"{memory.title}\n{memory.content}"
            self._read[memory.id] = _Text(*_words_and_marks(said))
        return self._read[memory.id]


def _is_echo(memory: Memory) -> bool:
    return memory.kind == "handoff" and AUTOMATIC in memory.tags


# What a few sessions have is compared at each of their questions.
@cached_by_text(1024)
def _words_and_marks(text: str) -> tuple[tuple[str, ...], frozenset[str]]:
    mark = _ASCII_MARK if text.isascii() else _MARK
    return tuple(text.lower().split()), frozenset(mark.findall(text))


def _is_repeated(text: _Text, better: Iterable[_Text]) -> bool:
    if len(text.words) < _FEWEST_WORDS:
        return False
    # Names and numbers differ between nearly all texts, and comparing them first is cheap.
    return any(_holds(other, text) for other in better if text.marks <= other.marks)


def _holds(other: _Text, text: _Text) -> bool:
    return len(text.shingles & other.shingles) >= _SHARE * len(text.shingles)
