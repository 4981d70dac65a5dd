"""What the words of a question tell, by how few memories hold them; pure."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from service.index.evidence import Corpus, Floats


class Telling(NamedTuple):
    """How telling each word of a question is (its idf, never negative), and the sum of all.

    `held` is 0 for a word that no memory holds; `lacking` is what the plain ones of these tell.
    """

    idf: Floats
    held: Floats
    lacking: float
    whole: float


@lru_cache(maxsize=8)
def telling_of(corpus: Corpus) -> Telling:
    """Return what the words of one question tell, worked out once for all its evidence."""
    is_held = corpus.frequencies > 0
    idf = idf_of(corpus.frequencies, corpus.documents)
    held = np.where(is_held, idf, np.float32(0))
    lacking = idf[corpus.plain & ~is_held].sum()
    return Telling(idf, held, float(lacking), float(idf.sum()))


def idf_of(holders: Floats | int, documents: int) -> Floats:
    """Return what words tell that so many of the documents hold."""
    # Counted one after the other in a store that is written to, one may exceed the other.
    without = np.maximum(documents - holders, 0)
    idf: Floats = np.log1p((without + 0.5) / (holders + 0.5)).astype(np.float32)
    return idf
