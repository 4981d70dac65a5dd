"""Documents taken apart into postings, and batches of them joined into one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from service.text.terms import TERMS

# A document's number within its batch has 16 bits.
MOST_DOCUMENTS: Final = 2**16
_MOST_COUNT: Final = 2**16 - 1
# So many texts' words stay in the processor's cache, and no other thread waits for a millisecond.
_SLICE_TEXTS: Final = 64

Terms: TypeAlias = NDArray[np.int64]
Counts: TypeAlias = NDArray[np.unsignedinteger[Any]]
Floats: TypeAlias = NDArray[np.float32]
Positions: TypeAlias = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Batch:
    """Documents taken apart: a posting says that a term stands in a document, and how often.

    `sizes[i]` postings are of `terms[i]`, ascending by document; postings lie in this order.
    The length of a dead document is infinite.
    """

    terms: Terms
    sizes: Positions
    documents: NDArray[np.uint16]
    counts: Counts
    lengths: Floats
    rows: NDArray[np.int32]


def read_texts(rows: Sequence[int], texts: Sequence[str]) -> Batch:
    """Take apart at most MOST_DOCUMENTS texts, whose words are separated by blanks."""
    lengths: list[int] = []
    slices = range(0, len(texts), _SLICE_TEXTS)
    every = [np.empty(0, np.int64)]
    every += [_look_up(texts[start : start + _SLICE_TEXTS], lengths) for start in slices]
    terms, place = np.unique(np.concatenate(every), return_inverse=True)
    # Term and document in one number: sorting numbers is six times faster than their places.
    keys = place << 16 | np.repeat(np.arange(len(texts)), lengths)
    keys.sort()
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    counts = np.minimum(np.diff(first, append=len(keys)), _MOST_COUNT)
    keys = keys[first]
    return Batch(
        terms,
        np.bincount(keys >> 16, minlength=len(terms)),
        (keys & 0xFFFF).astype(np.uint16),
        counts.astype(np.uint16),
        np.array(lengths, np.float32),
        np.array(rows, np.int32),
    )


def _look_up(texts: Sequence[str], lengths: list[int]) -> Terms:
    """Return the term of every word, and append to `lengths` how many each text has."""
    words: list[str] = []
    for text in texts:
        found = text.split()
        lengths.append(len(found))
        words += found
    return np.fromiter(map(TERMS.__getitem__, words), np.int64, len(words))


def join(batches: Sequence[Batch]) -> Batch:
    """Return one batch of all documents that are not dead, with each term once, ascending.

    At most MOST_DOCUMENTS are living. They are numbered anew, in the order given.
    """
    living, number = [], 0
    for batch in batches:
        living.append(_keep_living(batch, number))
        number += len(living[-1].rows)
    terms, sizes, order = _order(
        np.concatenate([batch.terms for batch in living]),
        np.concatenate([batch.sizes for batch in living]),
    )
    return Batch(
        terms,
        sizes,
        np.concatenate([batch.documents for batch in living]).take(order),
        np.concatenate([batch.counts for batch in living]).take(order),
        np.concatenate([batch.lengths for batch in living]),
        np.concatenate([batch.rows for batch in living]),
    )


def _order(terms: Terms, sizes: Positions) -> tuple[Terms, Positions, Positions]:
    """Return each term once, ascending, its postings' number, and the order to put them in.

    Runs are sorted, not their postings, of which there are many times more.
    """
    starts = np.cumsum(sizes) - sizes
    runs = np.argsort(terms, kind="stable")
    runs = runs[sizes[runs] > 0]
    terms, sizes, starts = terms[runs], sizes[runs], starts[runs]
    order = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)
    order += np.arange(len(order))
    first = np.flatnonzero(np.diff(terms, prepend=terms[:1] - 1))
    ends = np.cumsum(sizes)[np.append(first[1:], len(terms)) - 1] if len(terms) else sizes
    return terms[first], np.diff(ends, prepend=0), order


def _keep_living(batch: Batch, number: int) -> Batch:
    """Return a batch without its dead documents, the others numbered from `number`."""
    alive = batch.lengths < np.inf
    numbers = (np.cumsum(alive) + (number - 1)).astype(np.uint16)
    sizes, documents, counts = batch.sizes, batch.documents, batch.counts
    if not alive.all():
        keep = alive[documents]
        run = np.repeat(np.arange(len(sizes)), sizes)
        sizes = np.bincount(run[keep], minlength=len(sizes))
        documents, counts = documents[keep], counts[keep]
    documents = numbers[documents]
    return Batch(batch.terms, sizes, documents, counts, batch.lengths[alive], batch.rows[alive])
