"""BM25 of memories, alone or read together with their neighbours as one text; pure.

As in service/index/resident/text.py a word that stands tf times counts 1 + ln(tf), and the idf is
never negative.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from service.index.evidence import Corpus, Evidence, Floats, RowNumbers

# As in service/index/resident/text.py.
_K1: Final = 1.2
_B: Final = 0.75


def idf_of(corpus: Corpus) -> Floats:
    """Return how telling each word of the question is."""
    # Counted one after the other in a store that is written to, one may exceed the other.
    without = np.maximum(corpus.documents - corpus.frequencies, 0)
    idf: Floats = np.log1p((without + 0.5) / (corpus.frequencies + 0.5)).astype(np.float32)
    return idf


def bm25(evidence: Evidence, idf: Floats, contexts: Sequence[Sequence[RowNumbers]]) -> Floats:
    """Return the score of each candidate, a row for each context: [context, candidate].

    A context is the neighbours that are read with a candidate; () is none.
    """
    every_count, every_length = evidence.values["counts"], evidence.values["lengths"]
    candidates = slice(evidence.candidates)
    counts = np.repeat(every_count[candidates][None], len(contexts), axis=0)
    lengths = np.repeat(every_length[candidates][None], len(contexts), axis=0)
    texts = np.ones(lengths.shape, np.float32)
    for row, ways in enumerate(contexts):
        if ways:
            near = np.concatenate(ways, axis=1)
            known = (near >= 0).astype(np.float32)
            # Nobody's -1 takes the last row, which then counts nothing.
            counts[row] += np.vecmat(known, every_count[near])
            lengths[row] += np.vecdot(known, every_length[near])
            read = 1 + known.sum(axis=1)
            # A text at a chain's end is short for one with neighbours; one alone is not.
            is_several = read > 1
            several = int(np.count_nonzero(is_several))
            if several:
                texts[row, is_several] = (read * is_several).sum() / np.float32(several)
    average = max(1.0, evidence.corpus.words / max(1, evidence.corpus.documents))
    norms = _K1 * (1 - _B + _B * lengths / (average * texts))
    damped = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0)
    shares = (damped * (_K1 + 1) / (damped + norms[:, :, None])).astype(np.float32)
    # Row by row: a matrix product gives equal rows sums that differ in the last bit.
    scores: Floats = np.vecdot(shares, idf)
    return scores
