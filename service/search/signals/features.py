"""What several signals read of one evidence, each worked out once; pure.

In context means: a memory read together with what came just before and after it (along
`follows`), so that "Yes, in March" is found by the question before it.
"""

from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from service.index.evidence import Evidence, Floats
from service.search.signals.bm25 import bm25
from service.search.signals.reading import read_meaning, read_words
from service.search.signals.telling import telling_of

# How many steps of context count, near and far.
_NEAR: Final = 1
REACH: Final = 5


class Features:
    """One evidence as signals read it; arrays have a row for each candidate."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self._candidates = slice(evidence.candidates)
        self._telling = telling_of(evidence.corpus)

    @property
    def closeness(self) -> Floats:
        """How much each is read in its context: 1 for a turn of a session, 0 without neighbours.

        A section of a document says by itself what it is about: it lies between.
        """
        return self._meaning[0]

    @property
    def cosines(self) -> Floats:
        """How near each is to the question, 0 to 1; 0 for one without a vector."""
        return self._meaning[1]

    @property
    def near_cosines(self) -> Floats:
        """The weighted mean of each one's cosine and its near neighbours'; alone it is itself."""
        return self._meaning[2]

    @property
    def idf(self) -> Floats:
        """How telling each word of the question is; a row for each word."""
        return self._telling.idf

    @property
    def whole(self) -> float:
        """The BM25 of a text of average length that holds each word of the question once."""
        return self._telling.whole

    @property
    def brevity(self) -> Floats:
        """How much each turn falls short of saying enough, 0 to 1; 0 for what is no turn."""
        return self._words[0]

    @property
    def coverage(self) -> Floats:
        """The share of what the question tells that stands in each memory, 0 to 1, once or often.

        A word tells its idf, one that no memory holds too: of "cells of my spreadsheet" a note that
        holds "cells" alone says little, though none holds the others. Not so the words of a token
        of code, which say one thing. What mentions a concept by another name holds its name.
        """
        return self._words[1]

    @property
    def fullness(self) -> Floats:
        """The coverage, of which the last word counts most; below a thousandth it is none.

        A memory that holds nine tenths of what the question tells counts .43 of one that holds all:
        only what leaves little out is surely meant.
        """
        return self._words[2]

    @property
    def telling_name(self) -> Floats:
        """The share of what the question tells that is the name of each memory's subject."""
        return self._words[3]

    @property
    def holds_all(self) -> NDArray[np.bool_]:
        """Whether each memory holds every word of the question that any holds; all, of none."""
        whole: NDArray[np.bool_] = self._words[4] > 0
        return whole

    @cached_property
    def held(self) -> NDArray[np.bool_]:
        """Which words of the question each memory holds, or names by another name [row, word]."""
        values = self.evidence.values
        held: NDArray[np.bool_] = values["counts"][self._candidates] > 0
        held |= values["mentioned_words"]
        return held

    @cached_property
    def text(self) -> Floats:
        """BM25 of each alone."""
        return bm25(self.evidence, self.idf, 0)

    @cached_property
    def near_text(self) -> Floats:
        """BM25 of each together with its near neighbours."""
        return bm25(self.evidence, self.idf, _NEAR)

    @cached_property
    def far_text(self) -> Floats:
        """BM25 of each together with all neighbours within reach."""
        return bm25(self.evidence, self.idf, REACH)

    @cached_property
    def is_turn(self) -> NDArray[np.bool_]:
        """Whether each memory belongs to a session."""
        turns: NDArray[np.bool_] = self.evidence.values["is_turn"][self._candidates] > 0
        return turns

    @cached_property
    def is_named(self) -> NDArray[np.bool_]:
        """Whether the question names each memory's subject."""
        named: NDArray[np.bool_] = self.evidence.values["is_named"][self._candidates] > 0
        return named

    def blend(self, in_context: Floats, alone: Floats) -> Floats:
        """Return the first as far as each is read in its context, the second for the rest."""
        blended: Floats = self.closeness * in_context + (1 - self.closeness) * alone
        return blended

    @cached_property
    def _meaning(self) -> tuple[Floats, ...]:
        return tuple(read_meaning(self.evidence))

    @cached_property
    def _words(self) -> tuple[Floats, ...]:
        return tuple(read_words(self.evidence, self._telling.held, self._telling.lacking))
