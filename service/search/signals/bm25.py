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


def bm25(evidence: Evidence, idf: Floats, ways: Sequence[RowNumbers]) -> Floats:
    """Return the score of each candidate; `ways` are the neighbours that are read with it."""
    every_count, every_length = evidence.values["counts"], evidence.values["lengths"]
    candidates = slice(evidence.candidates)
    counts, lengths = every_count[candidates], every_length[candidates]
    texts = np.ones(len(lengths), np.float32)
    if ways:
        near = np.concatenate(ways, axis=1)
        known = (near >= 0).astype(np.float32)
        # Nobody's -1 takes the last row, which then counts nothing.
        counts = counts + np.vecmat(known, every_count[near])
        lengths = lengths + np.vecdot(known, every_length[near])
        texts = texts + known.sum(axis=1)
    # A text at a chain's end is short for one with neighbours; one that stands alone is not.
    texts = np.where(texts > 1, texts[texts > 1].mean() if (texts > 1).any() else 1, texts)
    average = max(1.0, evidence.corpus.words / max(1, evidence.corpus.documents))
    norms = _K1 * (1 - _B + _B * lengths / (average * texts))
    damped = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0)
    shares = (damped * (_K1 + 1) / (damped + norms[:, None])).astype(np.float32)
    # Row by row: a matrix product gives equal rows sums that differ in the last bit.
    scores: Floats = np.vecdot(shares, idf)
    return scores
