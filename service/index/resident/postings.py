"""Where each term stands: documents that are sorted in for good, and the newest before that."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from service.index.bm25 import K1, B
from service.index.resident.batches import Batch, Counts, Floats, Positions, Terms, join
from service.index.resident.saved import Saved

# From this share on, a byte for each document is as small as a list of documents and faster.
_COMMON: Final = 0.25
# So many postings of one part are kept as they were found, each with 9 bytes: up to 5 MB.
_MOST_KEPT: Final = 500_000
_KEPT_BYTES: Final = 9
# Of so many terms the counts are laid out for every document of a part: what a few questions ask.
# To look one up in the postings takes 9 microseconds for 600 documents, this 1.
MOST_COUNTED: Final = 24


@dataclass(frozen=True, slots=True)
class TermPostings:
    """The postings of one term in a part: `documents`, or if None, counts has one for each."""

    documents: Positions | None
    counts: Counts
    living: int


@dataclass(frozen=True, slots=True)
class Counted:
    """How often words stand in rows [row, word], the rows' lengths, how many texts hold a word."""

    counts: Floats
    lengths: Floats
    document_frequencies: Floats


class IndexPart(ABC):
    """Documents numbered from 0; a dead one has infinite length, which makes its scores 0."""

    # What a kind of part holds beside lengths and rows.
    _ARRAYS: ClassVar[tuple[str, ...]] = ()

    def __init__(self, lengths: Floats, rows: NDArray[np.int32]) -> None:
        self.lengths, self.rows = lengths, rows
        self.dead = 0
        self._norms: tuple[float, Floats] = (0.0, lengths[:0])
        # One search asks four times for the same terms, and some terms are asked for all the time.
        self._found: dict[int, TermPostings | None] = {}
        self._kept = 0
        # How often a term stands in each document, of the terms that were counted last.
        self._counted: dict[int, Counts] = {}

    @property
    def living(self) -> int:
        """How many documents are not dead."""
        return len(self.rows) - self.dead

    @property
    def bytes(self) -> int:
        """The memory held."""
        own = self.lengths.nbytes + self.rows.nbytes + self._norms[1].nbytes
        own += sum(column.nbytes for column in tuple(self._counted.values()))
        return own + self._kept * _KEPT_BYTES

    def kill(self, documents: Positions) -> int:
        """Take living documents out of every search; returns the sum of their lengths."""
        length = int(self.lengths[documents].sum(dtype=np.float64))
        self.lengths[documents] = np.inf
        self.dead += len(documents)
        self._forget()
        return length

    def save(self) -> Saved:
        """Return all that is held."""
        arrays = {"lengths": self.lengths.copy(), "rows": self.rows}
        arrays |= {name: getattr(self, name) for name in self._ARRAYS}
        return Saved({"dead": self.dead}, arrays)

    @classmethod
    def restore(cls, saved: Saved) -> Self:
        """Return a part as it was saved; raises KeyError, ValueError, TypeError."""
        part = cls.__new__(cls)
        IndexPart.__init__(part, saved.arrays["lengths"], saved.arrays["rows"])
        part.dead = int(saved.facts["dead"])
        for name in cls._ARRAYS:
            setattr(part, name, saved.arrays[name])
        return part

    def norms(self, average: float) -> Floats:
        """Return what the length of each document adds to a count, kept until it changes."""
        known, norms = self._norms
        if known != average or len(norms) != len(self.lengths):
            norms = self.lengths * np.float32(K1 * B / average)
            norms += np.float32(K1 * (1 - B))
            self._norms = (average, norms)
        return norms

    def column(self, term: int, postings: TermPostings | None) -> Counts | None:
        """Return how often a term, whose postings these are, stands in every document."""
        if postings is None:
            return None
        if postings.documents is None:
            return postings.counts
        column = self._counted.get(term)
        if column is None:
            if len(self._counted) >= MOST_COUNTED:
                self._counted.pop(next(iter(self._counted)))
            column = np.zeros(len(self.rows), postings.counts.dtype)
            column[postings.documents] = postings.counts
            self._counted[term] = column
        return column

    def find(self, wanted: Sequence[int]) -> list[TermPostings | None]:
        """Return where each of the terms stands, None for nowhere."""
        if self._kept > _MOST_KEPT:
            self._found, self._kept = {}, 0
        new = [term for term in wanted if term not in self._found]
        if new:
            postings = self._read(np.array(new, np.int64))
            self._found |= zip(new, postings, strict=True)
            self._kept += sum(1 + (0 if one is None else len(one.counts)) for one in postings)
        return [self._found[term] for term in wanted]

    @abstractmethod
    def _read(self, terms: Terms) -> list[TermPostings | None]:
        """Return where each of the terms stands, None for nowhere."""

    @abstractmethod
    def take_apart(self) -> Batch:
        """Return all that is held, dead documents too, with terms in any order."""

    def _forget(self) -> None:
        """Forget what was worked out of the documents: they are others now."""
        self._norms = (0.0, self.lengths[:0])
        self._found, self._kept, self._counted = {}, 0, {}

    def _postings_of(self, documents: Positions, counts: NDArray[Any]) -> TermPostings | None:
        living = len(documents)
        if self.dead:
            living = int(np.count_nonzero(self.lengths.take(documents) < np.inf))
        return TermPostings(documents, counts, living) if living else None


class Segment(IndexPart):
    """Documents sorted in: for each term a list of documents, or a column when it is common."""

    _ARRAYS = ("_common", "_columns", "_terms", "_ends", "_documents", "_counts")

    def __init__(self, batch: Batch) -> None:
        """Build from living documents with each term once, in ascending order."""
        super().__init__(batch.lengths, batch.rows)
        terms, sizes, most = batch.terms, batch.sizes, batch.counts.max(initial=0)
        counts = batch.counts.astype(np.uint8 if most < 256 else np.uint16)
        common = sizes > _COMMON * len(batch.rows)
        is_common = np.repeat(common, sizes)
        self._common = terms[common]
        self._columns = np.zeros((len(self._common), len(batch.rows)), counts.dtype)
        column = np.repeat(np.arange(len(self._common)), sizes[common])
        self._columns[column, batch.documents[is_common]] = counts[is_common]
        self._terms = terms[~common]
        self._ends = np.cumsum(sizes[~common], dtype=np.int32)
        self._documents, self._counts = batch.documents[~is_common], counts[~is_common]

    @property
    def bytes(self) -> int:
        """The memory held."""
        arrays: list[NDArray[Any]] = [getattr(self, name) for name in self._ARRAYS]
        return super().bytes + sum(array.nbytes for array in arrays)

    def kill(self, documents: Positions) -> int:
        """Take living documents out of every search; returns the sum of their lengths."""
        self._columns[:, documents] = 0
        return super().kill(documents)

    def save(self) -> Saved:
        """Return all that is held."""
        saved = super().save()
        saved.arrays["_columns"] = self._columns.copy()  # killing a document changes them
        return saved

    def _read(self, terms: Terms) -> list[TermPostings | None]:
        columns, lists = _locate(self._common, terms), _locate(self._terms, terms)
        return [self._read_at(*positions) for positions in zip(columns, lists, strict=True)]

    def _read_at(self, column: int, position: int) -> TermPostings | None:
        if column >= 0:
            counts = self._columns[column]
            living = int(np.count_nonzero(counts != 0))
            return TermPostings(None, counts, living) if living else None
        if position < 0:
            return None
        start, end = self._ends[position - 1] if position else 0, self._ends[position]
        return self._postings_of(
            self._documents[start:end].astype(np.intp), self._counts[start:end]
        )

    def take_apart(self) -> Batch:
        """Return all that is held, dead documents too, with terms in any order."""
        column, documents = np.nonzero(self._columns)
        sizes = np.bincount(column, minlength=len(self._common))
        return Batch(
            np.concatenate((self._common, self._terms)),
            np.concatenate((sizes, np.diff(self._ends, prepend=0))),
            np.concatenate((documents.astype(np.uint16), self._documents)),
            np.concatenate((self._columns[column, documents], self._counts)),
            self.lengths,
            self.rows,
        )


class Tail(IndexPart):
    """The newest documents as they came, looked through from end to end."""

    def __init__(self) -> None:
        super().__init__(np.empty(0, np.float32), np.empty(0, np.int32))
        self._terms = np.empty(256, np.int64)
        self._documents = np.empty(256, np.uint16)
        self._counts = np.empty(256, np.uint16)
        self.postings = 0

    @property
    def bytes(self) -> int:
        """The memory held."""
        held = (self._terms, self._documents, self._counts)
        return super().bytes + sum(array.nbytes for array in held)

    def append(self, batch: Batch) -> None:
        """Add documents; their numbers follow those before."""
        start, self.postings = self.postings, self.postings + len(batch.documents)
        if self.postings > len(self._terms):
            size = max(self.postings, 2 * len(self._terms))
            self._terms = np.resize(self._terms, size)
            self._documents = np.resize(self._documents, size)
            self._counts = np.resize(self._counts, size)
        self._terms[start : self.postings] = np.repeat(batch.terms, batch.sizes)
        np.add(batch.documents, len(self.rows), out=self._documents[start : self.postings])
        self._counts[start : self.postings] = batch.counts
        self.lengths = np.concatenate((self.lengths, batch.lengths))
        self.rows = np.concatenate((self.rows, batch.rows))
        self._forget()

    def _read(self, terms: Terms) -> list[TermPostings | None]:
        held = self._terms[: self.postings]
        return [self._read_at(np.flatnonzero(held == term)) for term in terms]

    def _read_at(self, positions: Positions) -> TermPostings | None:
        if not len(positions):
            return None
        documents = self._documents.take(positions).astype(np.intp)
        return self._postings_of(documents, self._counts.take(positions))

    def take_apart(self) -> Batch:
        """Return all that is held, dead documents too, with terms in any order."""
        return Batch(
            self._terms[: self.postings],
            np.ones(self.postings, np.intp),
            self._documents[: self.postings],
            self._counts[: self.postings],
            self.lengths,
            self.rows,
        )


def merge(parts: Sequence[IndexPart]) -> Segment:
    """Return one segment of all living documents, of which there are at most MOST_DOCUMENTS."""
    return Segment(join([part.take_apart() for part in parts]))


def _locate(held: Terms, terms: Terms) -> list[int]:
    """Return the place of each term among the sorted ones, -1 where it is not."""
    if not len(held):
        return [-1] * len(terms)
    positions = np.minimum(held.searchsorted(terms), len(held) - 1)
    found: list[int] = np.where(held[positions] == terms, positions, -1).tolist()
    return found
