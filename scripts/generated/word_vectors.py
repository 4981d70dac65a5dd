"""Vectors made of words, for measuring: the same text always has the same one, at once.

A text's vector is the sum of its words' random directions, stop words hardly counted. So a
question made of a note's words lies near that note, and notes that share words form clusters.
"""

import re
import zlib
from typing import Final

import numpy as np
from numpy.typing import NDArray

from service.inference.model import EmbeddingModel
from service.text.words import STOP_WORDS

_WORD: Final = re.compile(r"[^\W_]+")
_STOP_WORD_WEIGHT: Final = 0.1


class WordVectors:
    """Makes the vectors of one length; the directions of words met before are kept."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self._place_of: dict[str, int] = {}
        self._weights = np.empty(0, np.float32)
        self._directions = np.empty((0, dimensions), np.float32)

    @property
    def model(self) -> EmbeddingModel:
        """The model as the service will see it, once a server offers these vectors."""
        return EmbeddingModel(f"fake-words-{self.dimensions}", self.dimensions, False)

    def embed(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector of a text; one without any word counts as one word."""
        words = _WORD.findall(text.lower()) or [text]
        places = [self._place(word) for word in words]
        vector: NDArray[np.float32] = self._weights[places] @ self._directions[places]
        return vector / np.float32(np.linalg.norm(vector))

    def _place(self, word: str) -> int:
        place = self._place_of.get(word)
        if place is None:
            place = self._place_of[word] = len(self._place_of)
            if place == len(self._weights):
                self._grow()
            generator = np.random.default_rng(zlib.crc32(word.encode("utf-8", "surrogatepass")))
            self._directions[place] = generator.standard_normal(self.dimensions, np.float32)
            self._weights[place] = _STOP_WORD_WEIGHT if word in STOP_WORDS else 1.0
        return place

    def _grow(self) -> None:
        room = max(4096, 2 * len(self._weights))
        weights, directions = self._weights, self._directions
        self._weights = np.empty(room, np.float32)
        self._directions = np.empty((room, self.dimensions), np.float32)
        self._weights[: len(weights)] = weights
        self._directions[: len(directions)] = directions
