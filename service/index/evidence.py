"""What engines tell of memories in regard to one question: numbers, not yet scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from service.names.slugs import key_of, tokens_of
from service.text.cjk import count_cjk
from service.text.terms import TERMS
from service.text.words import query_words

Floats = NDArray[np.float32]
Places = NDArray[np.int32]

# No title is longer (service/names/names.py), and a pasted text names everything.
_LONGEST_NAME_TOKENS: Final = 12
_MOST_TOKENS: Final = 64


@dataclass(frozen=True, slots=True)
class Question:
    """A question as engines read it.

    No two of its `words` have one stem; `vector` is None where there is none to be had; `names`
    are the slugs of all its runs of tokens.
    """

    words: tuple[str, ...]
    vector: Floats | None
    names: frozenset[str]

    @property
    def wide_share(self) -> float:
        """The share of words that are bigrams of Hangul, Han or Kana."""
        bigrams = count_cjk("".join(word[0] for word in self.words))
        return bigrams / len(self.words) if self.words else 0.0

    @classmethod
    def read(cls, text: str, vector: Floats | None) -> "Question":
        """Take a text apart."""
        words = {TERMS[word]: word for word in reversed(query_words(text).split())}
        tokens = tokens_of(text)[:_MOST_TOKENS]
        return cls(tuple(reversed(words.values())), vector, frozenset(_runs(tokens)))


@dataclass(frozen=True, slots=True)
class Evidence:
    """Memories and what stands in them; arrays have a row for each key, in their order.

    The keys that were asked about come first, `asked` of them; then those that come up to `reach`
    steps before or after them. `counts` says how often each word of the question stands in a
    memory, `lengths` how many words it has, `cosines` how near it is (NaN without a vector),
    `is_named` whether the question names its subject, `is_turn` whether it belongs to a session.
    `before` and `after` hold the rows of the nearest neighbours in time, nearest first, -1 for
    none. `holders` counts the memories that hold each word, of `documents` with `words` words in
    all.
    """

    keys: tuple[str, ...]
    asked: int
    counts: Floats
    lengths: Floats
    cosines: Floats
    is_named: NDArray[np.bool_]
    is_turn: NDArray[np.bool_]
    before: Places
    after: Places
    holders: Floats
    documents: int
    words: float


def join(parts: Sequence[Evidence]) -> Evidence:
    """Join what several agents' indexes tell into one; all are of one question and reach."""
    if len(parts) == 1:
        return parts[0]
    order = _asked_first(parts)
    starts = np.cumsum([0, *(len(part.keys) for part in parts[:-1])])
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    keys = [key for part in parts for key in part.keys]

    def moved(name: str) -> Places:
        steps = [
            np.where(each >= 0, place[each + start], -1)
            for part, start in zip(parts, starts, strict=True)
            for each in (getattr(part, name),)
        ]
        return np.concatenate(steps)[order]

    return Evidence(
        keys=tuple(keys[row] for row in order.tolist()),
        asked=sum(part.asked for part in parts),
        counts=np.concatenate([part.counts for part in parts])[order],
        lengths=np.concatenate([part.lengths for part in parts])[order],
        cosines=np.concatenate([part.cosines for part in parts])[order],
        is_named=np.concatenate([part.is_named for part in parts])[order],
        is_turn=np.concatenate([part.is_turn for part in parts])[order],
        before=moved("before"),
        after=moved("after"),
        holders=np.sum([part.holders for part in parts], axis=0),
        documents=sum(part.documents for part in parts),
        words=sum(part.words for part in parts),
    )


def _asked_first(parts: Sequence[Evidence]) -> NDArray[np.intp]:
    beside = [np.arange(len(part.keys)) >= part.asked for part in parts]
    return np.argsort(np.concatenate(beside), kind="stable")


def _runs(tokens: list[str]) -> list[str]:
    """Return the slug of every run of tokens that may be a name."""
    keys = [key_of([token]) for token in tokens]
    return [
        "_".join(keys[start:end])
        for start in range(len(keys))
        for end in range(start + 1, min(start + _LONGEST_NAME_TOKENS, len(keys)) + 1)
    ]
