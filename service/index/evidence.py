"""Evidence for a question: what engines know of memories, as numbers and not yet as scores."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, overload

import numpy as np
from numpy.typing import NDArray

from service.names.slugs import key_of, tokens_of
from service.records import Concept
from service.text.cjk import count_cjk, has_cjk, is_hangul, is_name_border, stems
from service.text.terms import TERMS
from service.text.words import index_words, plain_words, query_words

Floats = NDArray[np.float32]
RowNumbers = NDArray[np.int32]
# Slugs, and which of the question's words each is made of, by their place.
Names = Mapping[str, frozenset[int]]

# How many memories lie within no step of those asked about, within one, within any.
Within = tuple[int, int, int]

# No title is longer (service/names/names.py), and a pasted text names everything.
_LONGEST_NAME_TOKENS: Final = 12
_MOST_TOKENS: Final = 64
# Of Han and Kana: longer runs are sentences, and each of their parts costs a look-up.
_LONGEST_RUN: Final = 16
_LONGEST_PART: Final = 8
# Which of `Within` a value is told of; others are told of the candidates alone.
_TOLD_WITHIN: Final[Mapping[str, int]] = {"counts": 2, "lengths": 2, "cosines": 1}


@dataclass(frozen=True, slots=True)
class Question:
    """A question as engines read it.

    No two of its `words` have one stem; `plain` says which of them stand for nothing but
    themselves, see plain_words; `vector` is None where there is none to be had; `names` are the
    slugs of all its runs of tokens, with the words that each run holds.
    """

    words: tuple[str, ...]
    plain: NDArray[np.bool_]
    vector: Floats | None
    names: Names

    @property
    def cjk_share(self) -> float:
        """The share of words that are bigrams of Hangul, Han or Kana."""
        bigrams = count_cjk("".join(word[0] for word in self.words))
        return bigrams / len(self.words) if self.words else 0.0

    @classmethod
    def read(cls, text: str, vector: Floats | None) -> "Question":
        """Take a text apart."""
        words = {TERMS[word]: word for word in reversed(query_words(text).split())}
        places = {term: place for place, term in enumerate(reversed(words))}
        ordered, plain = tuple(reversed(words.values())), plain_words(text)
        is_plain = np.array([word in plain for word in ordered], np.bool_)
        return cls(ordered, is_plain, vector, _names_in(text, places))


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """All that the agents have stored, as far as a question's words go.

    `document_frequencies` counts the memories that hold each word, of `documents` with `words`
    words in all; `mentions` those that mention a concept which it names, see concepts_named.
    `plain` is as in Question.
    """

    document_frequencies: Floats
    mentions: Floats
    plain: NDArray[np.bool_]
    documents: int
    words: float

    @property
    def frequencies(self) -> Floats:
        """In how many memories each word stands, or what it names, if these are more.

        "Migration" stands in no Korean note, and tells as much as its Korean name.
        """
        held: Floats = np.maximum(self.document_frequencies, self.mentions)
        return held


def told_within(name: str, within: Within) -> int:
    """Return how many memories a value is told of, the first of an evidence's rows."""
    return within[_TOLD_WITHIN.get(name, 0)]


@dataclass(frozen=True, slots=True)
class KeysOfRows(Sequence[str]):
    """The keys of some rows, looked up when they are asked for: most neighbours' never are."""

    every: Sequence[str]
    rows: NDArray[Any]

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...
    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        if isinstance(place, slice):
            return tuple([self.every[row] for row in self.rows[place].tolist()])
        return self.every[int(self.rows[place])]

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Memories and what stands in them: arrays with a row for each key, in their order.

    The candidates come first, those that were asked about; then what stands right before or after
    one; then what comes up to `reach` steps before or after. `before` and `after` hold, for each
    candidate, the rows of its neighbours in time, nearest first, -1 for none. `values` are told by
    name, of as many rows as `told_within` says:

    - `counts`: how often each word of the question stands in a memory (a column for each word);
    - `lengths`: how many words it has;
    - the others are those of `VALUES` in resident/values.py and database/values.py.
    """

    keys: Sequence[str]
    within: Within
    before: RowNumbers
    after: RowNumbers
    values: Mapping[str, NDArray[Any]]
    corpus: Corpus

    @property
    def candidates(self) -> int:
        """How many were asked about."""
        return self.within[0]


def join(parts: Sequence[Evidence]) -> Evidence:
    """Join the evidence of several agents' indexes; all are of one question and reach."""
    if len(parts) == 1:
        return parts[0]
    distances = np.concatenate([np.repeat((0, 1, 2), _apart(part.within)) for part in parts])
    order = np.argsort(distances, kind="stable")
    new_rows = np.empty(len(order), np.int32)
    new_rows[order] = np.arange(len(order), dtype=np.int32)
    starts = np.cumsum([0, *(len(part.keys) for part in parts[:-1])])
    keys = [key for part in parts for key in part.keys]

    def moved(ways: Sequence[RowNumbers]) -> RowNumbers:
        steps = [
            np.where(way >= 0, new_rows[np.maximum(way, 0) + start], -1)
            for way, start in zip(ways, starts, strict=True)
        ]
        return np.concatenate(steps)

    def together(name: str) -> NDArray[Any]:
        told = np.concatenate([part.values[name] for part in parts])
        is_told = distances <= _TOLD_WITHIN.get(name, 0)
        return told[np.argsort(distances[is_told], kind="stable")]

    candidates, near, every = (
        sum(counts) for counts in zip(*(p.within for p in parts), strict=True)
    )
    return Evidence(
        keys=tuple(keys[row] for row in order.tolist()),
        within=(candidates, near, every),
        before=moved([part.before for part in parts]),
        after=moved([part.after for part in parts]),
        values={name: together(name) for name in parts[0].values},
        corpus=_join_corpora([part.corpus for part in parts]),
    )


def _apart(within: Within) -> tuple[int, int, int]:
    """Return how many memories are candidates, how many stand beside one, how many farther."""
    candidates, near, every = within
    return candidates, near - candidates, every - near


def _join_corpora(parts: Sequence[Corpus]) -> Corpus:
    return Corpus(
        document_frequencies=np.sum([part.document_frequencies for part in parts], axis=0),
        mentions=np.sum([part.mentions for part in parts], axis=0),
        plain=parts[0].plain,
        documents=sum(part.documents for part in parts),
        words=sum(part.words for part in parts),
    )


def mentions_of(question: Question, named: Mapping[Concept, frozenset[int]]) -> Floats:
    """Return how many memories mention what each word of a question names, see Corpus.

    `named` are concepts with the places of their words, see concepts_named.
    """
    mentions = np.zeros(len(question.words), np.float32)
    for concept, places in named.items():
        mentions[sorted(places)] += concept.memories
    return mentions


def with_other_spellings(
    names: Names, concepts: Iterable[Collection[str]]
) -> dict[str, frozenset[int]]:
    """Return the names and all other slugs of the concepts they stand for.

    `concepts` gives every slug of each concept that goes by several, and may give others, too.
    """
    found = dict(names)
    for slugs in concepts:
        words = [names[slug] for slug in slugs if slug in names]
        if words:
            found |= dict.fromkeys(slugs, frozenset[int]().union(*words))
    return found


def _names_in(text: str, places: Mapping[int, int]) -> Names:
    """Return the slug of every run of tokens that may be a name; `places` are those of terms.

    In Korean the last token may carry particles; in Chinese and Japanese a name is a part of one.
    """
    tokens = tokens_of(text)[:_MOST_TOKENS]
    forms = [
        [(key_of([form]), _words_in(form, places)) for form in (token, *_bare(token))]
        for token in tokens
    ]
    names: dict[str, frozenset[int]] = {}
    for start in range(len(tokens)):
        before, words = "", frozenset[int]()
        for token_forms in forms[start : start + _LONGEST_NAME_TOKENS]:
            names |= {before + key: words | own for key, own in token_forms}
            key, own = token_forms[0]
            before, words = f"{before}{key}_", words | own
    for token in tokens:
        names |= {key_of([part]): _words_in(part, places) for part in _parts(token)}
    return names


def _words_in(text: str, places: Mapping[int, int]) -> frozenset[int]:
    terms = (TERMS[word] for word in index_words(text).split())
    return frozenset(places[term] for term in terms if term in places)


def _bare(token: str) -> tuple[str, ...]:
    """Return what a Korean token may be without its particles."""
    return stems(token) if has_cjk(token) else ()


def _parts(token: str) -> Iterator[str]:
    """Yield what may be a name within a short run of Han and Kana."""
    if has_cjk(token) and not is_hangul(token[0]) and len(token) <= _LONGEST_RUN:
        for start in range(len(token)):
            for end in range(start + 2, min(start + _LONGEST_PART, len(token)) + 1):
                if is_name_border(token, start) and is_name_border(token, end):
                    yield token[start:end]
