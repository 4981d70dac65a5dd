"""Questions made of notes: words that a memory holds must find it, whatever titles say; pure.

After Azzopardi and de Rijke's simulated known-item finding. A known item is asked for by words of
one of its sentences, a lured one by the title of another memory and rare words of its own. Both
are in English and Korean; Korean nouns carry other particles in the question than in the note.
What is drawn for a memory depends on its name alone, so notes that are added or changed elsewhere
leave its question as it is, but for words that are no longer telling.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from scripts.recall.note_words import Roots, sentences_of, words_of
from scripts.recall.sets import Question

KNOWN, LURED = "known item", "lured"
_MOST: Final = 300
_SEED: Final = 7
# Of the memories: a word in more of them tells too little to be asked for.
_TELLING: Final = 0.2
_TELLING_TITLE: Final = 0.3
_FEWEST_OF_A_MEMORY: Final = 20
_FEWEST_OF_A_SENTENCE: Final = 6
_FEWEST_ASKED, _MOST_ASKED = 4, 5
_LONGEST_TITLE, _MOST_LURING = 5, 3
_RARE_WORDS: Final = 2
# A rare word is in so many memories at most.
_RARE: Final = 3
# One title lures so often at most, else a few would be all there is.
_MOST_OF_A_TITLE: Final = 5


@dataclass(frozen=True, slots=True)
class Note:
    """A memory of notes; its name in the data set is its section's with `#1`, `#2` and so on."""

    name: str
    title: str
    text: str


class Collection:
    """Notes with their words by root: which memory holds what, and in how many a root stands."""

    def __init__(self, notes: Sequence[Note]) -> None:
        self.notes = sorted(notes, key=lambda note: _by_chance(note.name))
        self.roots = Roots(word for note in notes for word in words_of(f"{note.title} {note.text}"))
        self.titles = {note.name: self.roots.by_root(note.title) for note in notes}
        self.texts = {note.name: self.roots.by_root(note.text) for note in notes}
        self.holders: dict[str, set[str]] = defaultdict(set)
        for note in notes:
            for root in self.texts[note.name] | self.titles[note.name]:
                self.holders[root].add(note.name)

    def is_telling(self, root: str, share: float = _TELLING) -> bool:
        """Say whether fewer than this share of the memories hold the word."""
        return len(self.holders[root]) < len(self.notes) * share

    def holding(self, roots: Iterable[str]) -> set[str]:
        """Return the names of the memories that hold all of these, one at least."""
        return set.intersection(*(self.holders[root] for root in roots))

    def otherwise(self, words: Iterable[str], chance: Random) -> list[str]:
        """Return the words, Korean nouns with other particles."""
        return [self.roots.other_form(word, chance) for word in words]


def made_questions(notes: Sequence[Note]) -> list[Question]:
    """Return the known items and the lured questions, up to 300 of each."""
    collection = Collection(notes)
    return [*known_items(collection), *lured(collection)]


def known_items(collection: Collection, most: int = _MOST) -> list[Question]:
    """Return questions of four or five telling words, in their order, of a memory's sentence."""
    found = []
    for note in collection.notes:
        chance = Random(f"{_SEED} {note.name}")
        if words := _telling_words(note, collection, chance):
            found.append(_question(KNOWN, note.name, collection.otherwise(words, chance)))
    return found[:most]


def lured(collection: Collection, most: int = _MOST) -> list[Question]:
    """Return questions of a memory's title and of two rare words that one other memory holds.

    That one holds the words of the title too, but not all in its own title; no third holds all.
    """
    pairs = {question.text: (title, question) for title, question in _lured(collection)}
    found, lures = [], Counter[str]()
    for title, question in sorted(pairs.values(), key=lambda pair: _by_chance(pair[1].id)):
        if lures[title] < _MOST_OF_A_TITLE:
            lures[title] += 1
            found.append(question)
    return found[:most]


def _telling_words(note: Note, collection: Collection, chance: Random) -> list[str]:
    """Return words of one sentence, none of a root twice; empty if no sentence has enough."""
    if len(collection.texts[note.name]) < _FEWEST_OF_A_MEMORY:
        return []
    sentences = map(collection.roots.by_root, sentences_of(note.text))
    long = [words for words in sentences if len(words) >= _FEWEST_OF_A_SENTENCE]
    drawn = chance.choice(long) if long else {}
    telling = [word for root, word in drawn.items() if collection.is_telling(root)]
    if len(telling) < _FEWEST_ASKED:
        return []
    places = sorted(chance.sample(range(len(telling)), min(_MOST_ASKED, len(telling))))
    return [telling[place] for place in places]


def _lured(collection: Collection) -> Iterator[tuple[str, Question]]:
    for lure in collection.notes:
        title = _luring_words(collection, lure.name)
        others = collection.holding(title) - {lure.name} if title else set()
        for name in sorted(others):
            if title.keys() <= collection.titles[name].keys():
                continue
            if title.keys() <= collection.texts[name].keys() and (
                rare := _rare_words(collection, name, lure.name)
            ):
                if collection.holding([*title, *rare]) != {name}:
                    continue
                other = collection.otherwise(rare.values(), Random(f"{_SEED} {lure.name} {name}"))
                yield " ".join(title), _question(LURED, name, [*title.values(), *other])


def _luring_words(collection: Collection, name: str) -> dict[str, str]:
    """Return the telling words of a short title; empty if it is long, or of stop words only."""
    title = collection.titles[name]
    telling = {
        root: word for root, word in title.items() if collection.is_telling(root, _TELLING_TITLE)
    }
    is_short = len(title) <= _LONGEST_TITLE and len(telling) <= _MOST_LURING
    return telling if is_short else {}


def _rare_words(collection: Collection, name: str, lure: str) -> dict[str, str]:
    """Return the two rarest words of a memory that the luring one does not hold, if it has two."""
    told = collection.texts[lure] | collection.titles[lure]
    own = {
        root: word for root, word in collection.texts[name].items()
        if root not in told and len(collection.holders[root]) <= _RARE
    }  # fmt: skip
    rarest = sorted(own, key=lambda root: (len(collection.holders[root]), root))[:_RARE_WORDS]
    return {root: own[root] for root in rarest} if len(rarest) == _RARE_WORDS else {}


def _question(category: str, name: str, words: Sequence[str]) -> Question:
    text = " ".join(words)
    return Question(f"{category} {name}: {text}", text, {name: 1.0}, category)


def _by_chance(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest()
