"""BM25 scores of the documents of one part, and which of them hold every term; pure.

Plain Python, that setup.py compiles by the types in part_scores.pxd.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from service.index.bm25 import DAMPED
from service.index.resident.batches import Floats
from service.index.resident.columns import Mask
from service.index.resident.postings import IndexPart, TermPostings

Rows = NDArray[np.int32]


def score_documents(
    part: IndexPart, norms: Floats, by_term: Sequence[TermPostings | None], weights: Sequence[float]
) -> Floats:
    """Return a score for each document of a part; the same whether a term has a column or not."""
    scores = np.zeros(len(part.rows), np.float32)
    for postings, weight in zip(by_term, weights, strict=True):
        if postings is not None and postings.documents is None:
            add_column(scores, norms, postings.counts, weight)
        elif postings is not None:
            add_listed(scores, norms, postings, weight)
    return scores


def add_column(
    scores: Floats, norms: Floats, counts: NDArray[np.unsignedinteger], weight: float
) -> None:
    """Add a term's share to the scores, of which `counts` has one for each document."""
    times, damped = counts.astype(np.uint16), DAMPED
    for document in range(len(scores)):
        if times[document]:
            share = damped[times[document]]
            scores[document] += weight * share / (share + norms[document])


def add_listed(scores: Floats, norms: Floats, postings: TermPostings, weight: float) -> None:
    """Add a term's share to the scores of the documents that it stands in."""
    documents: Any = postings.documents
    times, damped = postings.counts.astype(np.uint16), DAMPED
    for at in range(len(times)):
        document, share = documents[at], damped[times[at]]
        scores[document] += weight * share / (share + norms[document])


def keep_reached(scores: Floats, rows: Rows, mask: Mask) -> tuple[Rows, Floats]:
    """Return the rows of the documents with a score above 0 that the mask shows, and the scores."""
    found, kept_scores = np.empty(len(rows), np.int32), np.empty(len(rows), np.float32)
    seen, kept, reached = mask.view(np.uint8), found, kept_scores
    count = 0
    for document in range(len(scores)):
        if scores[document] > 0 and rows[document] < len(seen) and seen[rows[document]]:
            kept[count] = rows[document]
            reached[count] = scores[document]
            count += 1
    return found[:count], kept_scores[:count]


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
