"""Vectors without weights: hashed words and word pairs, the same on every machine."""

import re
from collections.abc import Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from embedding_server.encoder import ModelCard, TokenIds
from embedding_server.prompts import Prompts
from embedding_server.vectors import Vectors

NAME = "hashing-256"
DIMENSIONS = 256
MAX_TOKENS = 8192
WORD = re.compile(r"\w+")
# A pair says less than its two words: it only breaks ties between texts of the same words.
PAIR_WEIGHT = 0.5


class HashingEncoder:
    """Texts that share words have near vectors; meaning is unknown to it. For tests and trials."""

    card = ModelCard(
        name=NAME,
        aliases=frozenset(),
        dimensions=DIMENSIONS,
        min_dimensions=DIMENSIONS,
        max_tokens=MAX_TOKENS,
        device="cpu",
        prompts=Prompts(),
        is_padded=False,
    )

    def tokenize(self, texts: Sequence[str], limit: int | None = None) -> list[list[int]]:
        """Return a hash for each word; a text without words is one token."""
        return [[crc32(word.encode()) for word in _split(text)[:limit]] for text in texts]

    def encode(self, batch: Sequence[TokenIds]) -> Vectors:
        """Return one vector for each text; it depends on that text alone."""
        return np.stack([_hash_features(np.array(tokens, dtype=np.uint64)) for tokens in batch])


def _split(text: str) -> list[str]:
    return WORD.findall(text.casefold()) or [text]


def _hash_features(words: NDArray[np.uint64]) -> Vectors:
    pairs = words[:-1] * np.uint64(31) + words[1:] + np.uint64(1 << 32)
    features, counts = np.unique(np.concatenate([words, pairs]), return_counts=True)
    weights = 1.0 + np.log(counts)
    weights[np.isin(features, pairs)] *= PAIR_WEIGHT
    vector = _scatter(features, weights)
    if vector.any():
        return vector
    # Two features fell on one place with opposite signs and nothing else was there.
    return _scatter(features[:1], weights[:1])


def _scatter(features: NDArray[np.uint64], weights: NDArray[np.float64]) -> Vectors:
    """Add each weight at the place, and with the sign, that its feature's hash names."""
    mixed = _mix(features)
    places = (mixed % np.uint64(DIMENSIONS)).astype(np.intp)
    signs = np.where(mixed >> np.uint64(63), 1.0, -1.0)
    return np.bincount(places, weights * signs, minlength=DIMENSIONS).astype(np.float32)


def _mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread every bit over all others (the finaliser of splitmix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
