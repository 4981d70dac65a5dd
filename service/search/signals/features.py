"""What several signals read of one evidence, each worked out once; pure.

In context means: a memory read together with what came just before and after it (along
`follows`), so that "Yes, in March" is found by the question before it.
"""

from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from service.index.evidence import Evidence, Floats
from service.search.signals.bm25 import bm25, idf_of

# How many steps of context count, near and far.
_NEAR: Final = 1
REACH: Final = 5
# What a neighbour's cosine counts beside a memory's own.
_NEIGHBOUR: Final = 0.4
# A memory that holds nine tenths of what the question tells counts .43 of one that holds all: only
# what leaves little out is surely meant.
_FULLNESS: Final = 8
_LEAST_FULLNESS: Final = 0.001
# Words of a turn that says enough to answer a question: two or three sentences.
_ENOUGH_WORDS: Final = 40
# A section of a document says by itself what it is about; a turn of a conversation seldom does.
_SECTION: Final = 0.25


class Features:
    """One evidence as signals read it; arrays have a row for each candidate."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self._candidates = slice(evidence.candidates)
        self._near = evidence.before[:, :_NEAR], evidence.after[:, :_NEAR]

    @cached_property
    def closeness(self) -> Floats:
        """How much each is read in its context: 1 for a turn of a session, 0 without neighbours."""
        before, after = self._near
        has_neighbours = ((before >= 0) | (after >= 0)).any(axis=1)
        close = np.where(self.evidence.values["is_turn"], np.float32(1), np.float32(_SECTION))
        return np.where(has_neighbours, close, np.float32(0))

    @cached_property
    def cosines(self) -> Floats:
        """How near each is to the question, 0 to 1; 0 for one without a vector."""
        return self._all_cosines[self._candidates]

    @cached_property
    def near_cosines(self) -> Floats:
        """The weighted mean of each one's cosine and its near neighbours'; alone it is itself."""
        cosines = self._all_cosines
        total, weight = self.cosines.copy(), np.ones(self.evidence.candidates, np.float32)
        for way in self._near:
            for rows in way.T:
                total += np.where(rows >= 0, cosines[rows], 0) * np.float32(_NEIGHBOUR)
                weight += (rows >= 0) * np.float32(_NEIGHBOUR)
        mean: Floats = total / weight
        return mean

    @cached_property
    def idf(self) -> Floats:
        """How telling each word of the question is; a row for each word."""
        return idf_of(self.evidence.corpus)

    @cached_property
    def whole(self) -> float:
        """The BM25 of a text of average length that holds each word of the question once."""
        return float(self.idf.sum())

    @cached_property
    def brevity(self) -> Floats:
        """How much each turn falls short of saying enough, 0 to 1; 0 for what is no turn."""
        words = np.minimum(self.of_candidates("lengths"), np.float32(_ENOUGH_WORDS))
        said = np.log1p(words) / np.log1p(np.float32(_ENOUGH_WORDS))
        brief: Floats = (1 - said) * self.of_candidates("is_turn")
        return brief

    @cached_property
    def coverage(self) -> Floats:
        """The share of what the question tells that stands in each memory, 0 to 1, once or often.

        A word tells its idf; one that no memory holds tells nothing of any. What mentions a concept
        by another name holds the words of its name.
        """
        return self._share_told(self.held)

    @cached_property
    def fullness(self) -> Floats:
        """The coverage, of which the last word counts most; below a thousandth it is none."""
        full = self.coverage**_FULLNESS
        return np.where(full < _LEAST_FULLNESS, np.float32(0), full)

    @cached_property
    def held(self) -> NDArray[np.bool_]:
        """Which words of the question each memory holds, or names by another name [row, word]."""
        values = self.evidence.values
        held: NDArray[np.bool_] = values["counts"][self._candidates] > 0
        held |= values["mentioned_words"]
        return held

    @cached_property
    def holds_all(self) -> NDArray[np.bool_]:
        """Whether each memory holds every word of the question that any holds; all, of none."""
        whole: NDArray[np.bool_] = (self.held | (self._telling == 0)).all(axis=1)
        return whole

    @cached_property
    def telling_name(self) -> Floats:
        """The share of what the question tells that is the name of each memory's subject."""
        return self._share_told(self.evidence.values["named_words"])

    @cached_property
    def text(self) -> Floats:
        """BM25 of each alone."""
        return self._bm25[0]

    @cached_property
    def near_text(self) -> Floats:
        """BM25 of each together with its near neighbours."""
        return self._bm25[1]

    @cached_property
    def far_text(self) -> Floats:
        """BM25 of each together with all neighbours within reach."""
        return self._bm25[2]

    def of_candidates(self, name: str) -> Floats:
        """Return a value of the evidence by its name, as float32."""
        return self.evidence.values[name][self._candidates].astype(np.float32)

    def blend(self, in_context: Floats, alone: Floats) -> Floats:
        """Return the first as far as each is read in its context, the second for the rest."""
        blended: Floats = self.closeness * in_context + (1 - self.closeness) * alone
        return blended

    @cached_property
    def _telling(self) -> Floats:
        """What each word of the question tells: its idf, or 0 where no memory holds it."""
        return np.where(self.evidence.corpus.frequencies > 0, self.idf, np.float32(0))

    def _share_told(self, words: NDArray[np.bool_]) -> Floats:
        """Return the share of what the question tells that these words of it do [row, word]."""
        whole = float(self._telling.sum())
        # Row by row, so that equal rows give equal sums to the last bit.
        told: Floats = np.vecdot(words.astype(np.float32), self._telling)
        return told / np.float32(whole) if whole > 0 else told

    @cached_property
    def _all_cosines(self) -> Floats:
        cosines: Floats = np.nan_to_num(np.maximum(self.evidence.values["cosines"], 0))
        return cosines

    @cached_property
    def _bm25(self) -> tuple[Floats, Floats, Floats]:
        """BM25 of each alone, with its near neighbours, and with all within reach."""
        far = (self.evidence.before, self.evidence.after)
        alone, near, all_around = bm25(self.evidence, self.idf, ((), self._near, far))
        return alone, near, all_around
