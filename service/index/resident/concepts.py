"""One agent's concepts by slug and by number, in arrays: an object only for those asked for."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from service.index.resident.columns import grown
from service.index.resident.saved import Saved
from service.index.resident.texts import NumberedTexts, Texts
from service.records import Concept

# An int64, a bool and a place in a list; and an object with its id, its slug and its name.
_CONCEPT_BYTES: Final = 17
_ASKED_BYTES: Final = 300


class Concepts:
    """A concept keeps its number, even when it is gone; edges may name it before it comes."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._slugs = NumberedTexts()
        self._names = Texts()
        self._memories = np.zeros(0, np.int64)
        self._is_present = np.zeros(0, np.bool_)
        # None where a concept is gone, or was not asked for since it changed.
        self._asked: list[Concept | None] = []
        self._objects = 0

    @property
    def bytes(self) -> int:
        """An estimate of the memory held; objects that were let go count until all is packed."""
        own = len(self._slugs) * _CONCEPT_BYTES + self._objects * _ASKED_BYTES
        return own + self._slugs.bytes + self._names.bytes

    @property
    def count(self) -> int:
        """How many there are."""
        return int(np.count_nonzero(self._is_present))

    def __iter__(self) -> Iterator[Concept]:
        """Go through all concepts."""
        numbers = np.flatnonzero(self._is_present).tolist()
        return (concept for number in numbers if (concept := self[number]))

    def __getitem__(self, number: int) -> Concept | None:
        """Return the concept with a number; None where it is gone, or never came."""
        concept = self._asked[number]
        if concept is None and self._is_present[number]:
            key, memories = (self._agent, self._slugs[number]), int(self._memories[number])
            concept = self._asked[number] = Concept(key, self._names[number], memories)
            self._objects += 1
        return concept

    def memories(self, numbers: NDArray[Any]) -> NDArray[np.int64]:
        """Return in how many memories each of these stands; 0 for one that is gone."""
        memories: NDArray[np.int64] = self._memories[numbers] * self._is_present[numbers]
        return memories

    def by_memories(self, most: int | None = None) -> Iterator[tuple[int, list[int]]]:
        """Go through all numbers, those of concepts in the most memories first.

        Each number of memories comes with its concepts; with `most` none in more memories come.
        """
        numbers = np.flatnonzero(self._is_present)
        if most is not None:
            numbers = numbers[self._memories[numbers] <= most]
        numbers = numbers[np.argsort(-self._memories[numbers], kind="stable")]
        memories = self._memories[numbers]
        ends = [*(np.flatnonzero(np.diff(memories)) + 1).tolist(), len(numbers)]
        start = 0
        for end in ends if len(numbers) else ():
            yield int(memories[start]), numbers[start:end].tolist()
            start = end

    def name(self, number: int) -> str:
        """Return the name of a number."""
        return self._names[number]

    def slug(self, number: int) -> str:
        """Return the slug of a number."""
        return self._slugs[number]

    def find(self, slug: str) -> int | None:
        """Return a slug's number; None where nothing ever had one."""
        return self._slugs.find(slug)

    def number(self, slug: str) -> int:
        """Return a slug's number, a new one if need be."""
        number = self._slugs.number(slug)
        if number == len(self._asked):
            self._asked.append(None)
            self._memories = grown(self._memories, number + 1)
            self._is_present = grown(self._is_present, number + 1)
        return number

    def put(self, slug: str, name: str, memories: int) -> None:
        """Take in a concept, or what it is now."""
        number = self.number(slug)
        if self._names[number] != name:
            self._names[number] = name
        self._memories[number], self._is_present[number] = memories, True
        self._asked[number] = None

    def remove(self, slug: str) -> None:
        """Forget a concept."""
        number = self._slugs.find(slug)
        if number is not None:
            self._asked[number], self._is_present[number] = None, False
            self._memories[number], self._names[number] = 0, ""

    def pack(self, named: NDArray[Any]) -> None:
        """Bring all into the arrays that a file can hold.

        The slug of a concept that is gone stays only among those `named`, by their numbers.
        """
        gone = np.flatnonzero(~self._is_present[: len(self._slugs)])
        for number in np.setdiff1d(gone, named).tolist():
            self._slugs.forget(number)
        self._slugs.pack()
        self._names.pack()
        self._asked, self._objects = [None] * len(self._slugs), 0

    def save(self) -> Saved:
        """Return all that is held; `pack` comes first."""
        size = len(self._slugs)
        present, memories = self._is_present[:size].copy(), self._memories[:size].copy()
        saved = Saved(arrays={"present": present, "memories": memories})
        saved.put("slugs", self._slugs.save())
        saved.put("names", self._names.save())
        return saved

    @classmethod
    def restore(cls, agent: str, saved: Saved) -> "Concepts":
        """Return concepts as they were saved; raises KeyError, ValueError, TypeError."""
        concepts = cls(agent)
        concepts._slugs = NumberedTexts.restore(saved.part("slugs"))
        concepts._names = Texts.restore(saved.part("names"))
        concepts._memories = saved.arrays["memories"]
        concepts._is_present = saved.arrays["present"]
        concepts._asked = [None] * len(concepts._slugs)
        return concepts
