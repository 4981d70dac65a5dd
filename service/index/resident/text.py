"""Full-text search for one agent in RAM: which rows hold the words, ranked by BM25."""

import math
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Final

import numpy as np
from numpy.typing import NDArray

from service.index.bm25 import K1
from service.index.resident.batches import MOST_DOCUMENTS, Counts, Floats, read_texts
from service.index.resident.counting import count_terms
from service.index.resident.part_scores import hold_all, keep_reached, score_documents
from service.index.resident.postings import (
    MOST_COUNTED,
    Counted,
    IndexPart,
    Segment,
    Tail,
    TermPostings,
    merge,
)
from service.index.resident.saved import Saved
from service.text.digests import digest
from service.text.terms import TERMS

Mask = NDArray[np.bool_]
Rows = NDArray[np.int32]

# What is taken apart at once: above it the arrays leave the processor's cache.
_PAGE_TEXTS: Final = 4096
# Looking through so many postings for one term takes about ten microseconds.
_TAIL_POSTINGS: Final = 2**16
# So many segments of about one size become one: at most three of each of three sizes stay.
_FAN: Final = 4


# A part by its slot, and how often each of some words stands in its documents.
_Told = tuple[int, IndexPart, Sequence[Counts | None]]


class TextIndex:
    """An inverted index where a new text is a new document, and the row's old one is dead.

    The newest texts, `tail_documents` at most, lie unsorted; segments hold the others.

    Scores are BM25 with k1 = 1.2 and b = 0.75; document frequencies and the average length are
    those of the living documents, exactly. idf = ln(1 + (N - df + 0.5) / (df + 0.5)) is Lucene's,
    which is never negative, where SurrealDB gives 0 to a word of half of the texts and more. As in
    SurrealDB, a word that stands tf times counts 1 + ln(tf). One writer at a time, and no reader
    then; readers may be many.
    """

    def __init__(self, tail_documents: int = 1024) -> None:
        self.documents = 0
        self._tail_documents = tail_documents
        self._words = 0
        # A place is a part's slot << 16 | a document's number in it; -1 where a row has no text.
        self._places = np.full(64, -1, np.int32)
        # The digest of each row's text.
        self._digests = np.zeros(64, np.int64)
        self._tail = Tail()
        self._tail_slot = 0
        self._segments: dict[int, Segment] = {}
        # What was found of the words that were asked for last: one search asks four times.
        self._asked: tuple[Sequence[str], Sequence[_Told], Floats] | None = None

    @property
    def bytes(self) -> int:
        """The memory held, without the words that all indexes share."""
        own = self._places.nbytes + self._digests.nbytes
        return own + sum(part.bytes for part in self._parts())

    def put(self, rows: Sequence[int], texts: Sequence[str]) -> None:
        """Give each row its text: words by `words.index_words`. The last text of a row counts.

        A row that has this text is left alone: most changes of a memory are of something else.
        """
        latest = dict(zip(rows, texts, strict=True))
        self._reach(max(latest, default=-1))
        new = {row: text for row, text in latest.items() if not self._has(row, text)}
        rows, texts = list(new), list(new.values())
        for start in range(0, len(rows), _PAGE_TEXTS):
            page = slice(start, start + _PAGE_TEXTS)
            self._add(rows[page], texts[page])

    def remove(self, row: int) -> None:
        """Forget the text of a row; a row without one is fine."""
        if 0 <= row < len(self._places):
            self._kill(np.array([row], np.intp))

    def search(self, words: str, mask: Mask) -> tuple[Rows, Floats]:
        """Return the rows that hold at least one of the words and pass the mask, with scores.

        The rows come in no order, each once. `mask` reaches to the last row at least.
        """
        return self._search(words, mask, needs_all=False)

    def search_all(self, words: str, mask: Mask) -> tuple[Rows, Floats]:
        """Return the rows that hold all of the words and pass the mask, with scores, as search."""
        return self._search(words, mask, needs_all=True)

    @property
    def words(self) -> int:
        """The number of words in all living documents."""
        return self._words

    def count(self, words: Sequence[str], rows: NDArray[np.intp]) -> Counted:
        """Return how often each word stands in each row, and what all documents say of the words.

        A row without a text has no words. No two of the words may have one stem.
        """
        told, frequencies = self.look_up(words)
        counts = np.zeros((len(rows), len(words)), np.float32)
        lengths = np.zeros(len(rows), np.float32)
        places = self._places.take(rows, mode="clip")
        places[rows >= len(self._places)] = -1
        for slot, part, columns in told:
            count_terms(columns, part.lengths, places, slot, counts, lengths)
        return Counted(counts, lengths, frequencies)

    def look_up(self, words: Sequence[str]) -> tuple[Sequence[_Told], Floats]:
        """Return how often each word stands in the documents of each part, and in how many.

        It is kept for whoever asks next for the same words, the same object.
        """
        asked = self._asked
        if asked and asked[0] is words:
            return asked[1:]
        terms = [TERMS[word] for word in words]
        told, frequencies = [], np.zeros(len(terms), np.float32)
        for slot, part in [*self._segments.items(), (self._tail_slot, self._tail)]:
            found = part.find(terms)
            frequencies += [postings.living if postings else 0 for postings in found]
            told.append((slot, part, list(map(part.column, terms, found))))
        # Of more words the parts do not keep all columns either.
        self._asked = (words, told, frequencies) if len(terms) <= MOST_COUNTED else None
        return told, frequencies

    def save(self) -> Saved:
        """Return all that is held; `purge` comes first."""
        saved = Saved(
            {
                "documents": self.documents,
                "words": self._words,
                "rows": len(self._places),
                "slots": list(self._segments),
            },
            {},
            {"places": self._places.copy(), "digests": self._digests.copy()},
        )
        for slot, segment in self._segments.items():
            saved.put(f"segment {slot}", segment.save())
        return saved

    @classmethod
    def restore(cls, saved: Saved) -> "TextIndex":
        """Return an index as it was saved; raises KeyError, ValueError, TypeError."""
        index, facts = cls(), saved.facts
        index.documents, index._words = int(facts["documents"]), int(facts["words"])
        index._segments = {
            slot: Segment.restore(saved.part(f"segment {slot}")) for slot in facts["slots"]
        }
        index._tail_slot = index._free_slot()
        index._places, index._digests = saved.by_row["places"], saved.by_row["digests"]
        index._places[int(facts["rows"]) :] = -1
        return index

    def purge(self) -> None:
        """Leave nothing of texts that are gone: no words of dead documents, no tail."""
        self.seal()
        for slot in [slot for slot, segment in self._segments.items() if segment.dead]:
            self._merge([slot])
        self._digests[self._places < 0] = 0

    def finish(self) -> None:
        """Merge into as few segments as there can be, after many texts were put."""
        self.seal()
        while len(group := self._fitting(list(self._segments))) > 1:
            self._merge(group)

    def _parts(self) -> Iterator[IndexPart]:
        # A copy: who asks for `bytes` holds no lock.
        yield from tuple(self._segments.values())
        yield self._tail

    def _add(self, rows: Sequence[int], texts: Sequence[str]) -> None:
        batch = read_texts(rows, texts)
        if not len(batch.rows):
            return
        self._asked = None
        self._digests[list(rows)] = [digest(text) for text in texts]
        self._kill(batch.rows.astype(np.intp))
        first = len(self._tail.rows)
        self._tail.append(batch)
        self._place(self._tail_slot, batch.rows, first)
        self.documents += len(batch.rows)
        self._words += int(batch.lengths.sum(dtype=np.float64))
        if len(self._tail.rows) >= self._tail_documents or self._tail.postings >= _TAIL_POSTINGS:
            self.seal()

    def _has(self, row: int, text: str) -> bool:
        return bool(self._places[row] >= 0 and self._digests[row] == digest(text))

    def _reach(self, row: int) -> None:
        """Make room for the place of a row."""
        if (missing := row + 1 - len(self._places)) > 0:
            more = np.full(max(missing, len(self._places)), -1, np.int32)
            self._places = np.concatenate((self._places, more))
            self._digests = np.concatenate((self._digests, np.zeros(len(more), np.int64)))

    def _place(self, slot: int, rows: Rows, first: int) -> None:
        self._places[rows] = np.arange(first, first + len(rows)) + (slot << 16)

    def _kill(self, rows: NDArray[np.intp]) -> None:
        places = self._places[rows]
        places = places[places >= 0]
        if not len(places):
            return
        self._asked = None
        self._places[rows] = -1
        self.documents -= len(places)
        slots = places >> 16
        for slot in np.unique(slots).tolist():
            part = self._tail if slot == self._tail_slot else self._segments[slot]
            self._words -= part.kill((places[slots == slot] & 0xFFFF).astype(np.intp))
            if part is not self._tail and part.dead * 2 > len(part.rows):
                self._merge([slot])

    def seal(self) -> None:
        """Turn the tail into a segment, and segments of one size into larger ones."""
        self._asked = None
        if self._tail.living:
            self._keep(merge([self._tail]))
        self._tail, self._tail_slot = Tail(), self._free_slot()
        while group := self._crowded():
            self._merge(group)

    def _crowded(self) -> list[int]:
        """Return the slots of segments that should be one, or nothing."""
        sizes: dict[int, list[int]] = {}
        for slot, segment in self._segments.items():
            size = max(segment.living // self._tail_documents, 1)
            sizes.setdefault((size.bit_length() - 1) // 2, []).append(slot)
        groups = (self._fitting(slots) for slots in sizes.values() if len(slots) >= _FAN)
        return next((group for group in groups if len(group) > 1), [])

    def _fitting(self, slots: Sequence[int]) -> list[int]:
        """Return the smallest of the segments, as many as fit into one."""
        group, documents = [], 0
        for slot in sorted(slots, key=lambda slot: (self._segments[slot].living, slot)):
            documents += self._segments[slot].living
            if documents > MOST_DOCUMENTS:
                break
            group.append(slot)
        return group

    def _merge(self, slots: Sequence[int]) -> None:
        self._asked = None
        parts = [self._segments.pop(slot) for slot in slots]
        if any(part.living for part in parts):
            self._keep(merge(parts))

    def _keep(self, segment: Segment) -> None:
        slot = self._free_slot()
        self._segments[slot] = segment
        self._place(slot, segment.rows, 0)

    def _free_slot(self) -> int:
        return next(n for n in count() if n != self._tail_slot and n not in self._segments)

    def _search(self, words: str, mask: Mask, *, needs_all: bool) -> tuple[Rows, Floats]:
        terms = list(dict.fromkeys(TERMS[word] for word in words.split()))
        in_parts = [(part, part.find(terms)) for part in self._parts() if part.living]
        weights = [
            self._term_weight(each)
            for each in zip(*(postings for _, postings in in_parts), strict=True)
        ]
        rows, scores = [np.empty(0, np.int32)], [np.empty(0, np.float32)]
        for part, postings in in_parts:
            missing = sum(each is None for each in postings)
            if missing == len(postings) or (needs_all and missing):
                continue
            score = score_documents(
                part, part.norms(self._words / self.documents), postings, weights
            )
            if needs_all:
                score[~hold_all(part, postings)] = 0
            reached = keep_reached(score, part.rows, mask)
            rows.append(reached[0])
            scores.append(reached[1])
        return np.concatenate(rows), np.concatenate(scores)

    def _term_weight(self, in_parts: Sequence[TermPostings | None]) -> float:
        """Return the share of one term in a score: its idf and BM25's constant."""
        frequency = sum(each.living for each in in_parts if each)
        idf = math.log1p((self.documents - frequency + 0.5) / (frequency + 0.5))
        return idf * (K1 + 1)
