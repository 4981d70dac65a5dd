"""Texts by number as arrays, and the numbers of different texts: no Python object for each."""

from bisect import bisect_left
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from service.index.resident.ragged import Ragged
from service.index.resident.saved import Saved
from service.text.digests import digest, digest_of_name


class Texts:
    """A text for every number from 0 on, in UTF-8."""

    def __init__(self, lists: Ragged | None = None) -> None:
        self._lists = lists or Ragged(np.uint8)

    def __getitem__(self, number: int) -> str:
        """Return a text, each time anew; the empty one where none was put."""
        return bytes(self._lists[number]).decode(errors="surrogatepass")

    def __setitem__(self, number: int, text: str) -> None:
        self._lists.put(number, text.encode(errors="surrogatepass"))

    @property
    def bytes(self) -> int:
        """An estimate of the memory held."""
        return self._lists.bytes

    def pack(self) -> None:
        """Bring all into the arrays that a file can hold."""
        self._lists.pack()

    def save(self) -> Saved:
        """Return all that is held; `pack` comes first."""
        return self._lists.save()

    @classmethod
    def restore(cls, saved: Saved) -> "Texts":
        """Return texts as they were saved; raises KeyError, ValueError, TypeError."""
        return cls(Ragged.restore(saved, np.uint8))


class NumberedTexts:
    """Different texts, numbered in the order of their arrival.

    Those that were there when all was packed are found by their digest, newer ones and those asked
    for since by a dict.
    """

    def __init__(self) -> None:
        self._texts = Texts()
        self._size = 0
        self._numbers: dict[str, int] = {}
        # Numbers that were forgotten since all was packed.
        self._forgotten: set[int] = set()
        self._hold(np.zeros(0, np.int64), np.zeros(0, np.int32))

    def _hold(self, digests: NDArray[np.int64], order: NDArray[np.int32]) -> None:
        """Keep the digests in ascending order, and whose they are."""
        self._digests, self._order = digests.data, order.data

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, number: int) -> str:
        """Return the text of a number, each time anew."""
        return self._texts[number]

    @property
    def bytes(self) -> int:
        """An estimate of the memory held, without what was asked for."""
        return self._texts.bytes + self._digests.nbytes + self._order.nbytes

    def find(self, text: str) -> int | None:
        """Return a text's number; None for an unknown one."""
        number = self._numbers.get(text)
        if number is None:
            wanted = digest_of_name(text)
            at = bisect_left(self._digests, wanted)
            # Two texts of one digest stand side by side.
            while at < len(self._digests) and self._digests[at] == wanted:
                if self._texts[self._order[at]] == text:
                    number = self._numbers[text] = self._order[at]
                    break
                at += 1
        return number

    def number(self, text: str) -> int:
        """Return a text's number, a new one if need be."""
        number = self._numbers.get(text)
        if number is None:
            number = self.find(text)
        if number is None:
            number = self._numbers[text] = self._size
            self._texts[number] = text
            self._size += 1
        return number

    def forget(self, number: int) -> None:
        """Let a number stand for no text that anybody asks for, and nothing tell of the old one."""
        nobody = f"\0{number}"
        if (text := self._texts[number]) != nobody:
            self._numbers.pop(text, None)
            self._texts[number] = nobody
            self._forgotten.add(number)

    def pack(self) -> None:
        """Bring all into the arrays that a file can hold."""
        self._texts.pack()
        known = len(self._order)
        digests = np.empty(self._size, np.int64)
        digests[np.asarray(self._order)] = self._digests
        for number in chain(self._forgotten, range(known, self._size)):
            digests[number] = digest(self._texts[number])
        order = np.argsort(digests, kind="stable").astype(np.int32)
        self._hold(digests[order], order)
        self._numbers.clear()
        self._forgotten.clear()

    def save(self) -> Saved:
        """Return all that is held; `pack` comes first."""
        arrays = {"digests": np.asarray(self._digests), "order": np.asarray(self._order)}
        saved = Saved(arrays=arrays)
        saved.put("texts", self._texts.save())
        return saved

    @classmethod
    def restore(cls, saved: Saved) -> "NumberedTexts":
        """Return texts as they were saved; raises KeyError, ValueError, TypeError."""
        restored, arrays = cls(), saved.arrays
        restored._texts = Texts.restore(saved.part("texts"))
        order = np.ascontiguousarray(arrays["order"], np.int32)
        restored._hold(np.ascontiguousarray(arrays["digests"], np.int64), order)
        restored._size = len(order)
        return restored
