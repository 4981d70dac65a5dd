"""BM25 scores of the documents of one part, and which of them hold every term; pure."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from service.index.resident.batches import Floats
from service.index.resident.columns import Mask
from service.index.resident.postings import IndexPart, TermPostings

# By how often a word stands in a text, what it counts; the longest text has 65,535 at most.
_DAMPED: Final = np.zeros(2**16, np.float32)
_DAMPED[1:] = 1 + np.log(np.arange(1, 2**16))


def score_documents(
    part: IndexPart, norms: Floats, by_term: Sequence[TermPostings | None], weights: Sequence[float]
) -> Floats:
    """Return a score for each document of a part; the same whether a term has a column or not."""
    scores = np.zeros(len(part.rows), np.float32)
    for postings, weight in zip(by_term, weights, strict=True):
        if postings is None:
            continue
        share = norms if postings.documents is None else norms.take(postings.documents)
        counts = _DAMPED.take(postings.counts)
        share = share + counts
        np.divide(counts, share, out=share)
        share *= np.float32(weight)
        if postings.documents is None:
            scores += share
        else:
            np.add.at(scores, postings.documents, share)
    return scores


def hold_all(part: IndexPart, by_term: Sequence[TermPostings | None]) -> Mask:
    """Return which documents hold every term."""
    holds = np.ones(len(part.rows), np.bool_)
    for postings in by_term:
        if postings is not None and postings.documents is None:
            holds &= postings.counts > 0
        elif postings is not None:
            here = np.zeros(len(part.rows), np.bool_)
            here[postings.documents] = True
            holds &= here
    return holds
