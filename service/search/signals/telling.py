"""What the words of a question tell, by how few memories hold them; pure."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from service.index.evidence import Corpus, Floats


class Telling(NamedTuple):
    """How telling each word of a question is (its idf, never negative), and the sum of all.

    `held` is 0 for a word that no memory holds.
    """

    idf: Floats
    held: Floats
    whole: float


@lru_cache(maxsize=8)
def telling_of(corpus: Corpus) -> Telling:
    """Return what the words of one question tell, worked out once for all its evidence."""
    frequencies = corpus.frequencies
    idf = idf_of(frequencies, corpus.documents)
    held = np.where(frequencies > 0, idf, np.float32(0))
    return Telling(idf, held, float(idf.sum()))


def idf_of(holders: Floats | int, documents: int) -> Floats:
    """Return what words tell that so many of the documents hold."""
    # Counted one after the other in a store that is written to, one may exceed the other.
    without = np.maximum(documents - holders, 0)
    idf: Floats = np.log1p((without + 0.5) / (holders + 0.5)).astype(np.float32)
    return idf
