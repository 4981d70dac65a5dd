"""Which concepts are the same thing under two spellings; pure.

Singular and plural (`embedding server`, `embedding servers`), blanks and hyphens or none
(`graph memory`, `GraphMemory`), and what the user declares as an alias of another. Case, accents
and a hyphen for a blank are no matter here: such spellings share one slug. A wrong merge is worse
than none: names of people, works, files and versions stay as they are, and so does a word that
means another thing in its plural.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from service.names.names import CERTAIN
from service.names.slugs import slug_of, tokens_of
from service.text.cjk import has_cjk
from service.text.words import STOP_WORDS, fold

_PHRASE: Final = re.compile(r"[A-Za-z]+(?:[ '\u2019-]+[A-Za-z]+)*")
# A full stop, a slash or an underscore belongs to the name of a file or a symbol.
_CODE: Final = re.compile(r"[./\\_:@~+=#$&]")
_FEWEST_SINGULAR: Final = 4
_FEWEST_JOINED: Final = 5
_FEWEST_JOINED_LETTERS: Final = 3
# "큰 집" is a big house, "큰집" the family's main one.
_FEWEST_CJK_LETTERS: Final = 4
_VOWELS: Final = "aeiou"
# A plural has an e behind these.
_HISSING: Final = ("s", "x", "z", "ch", "sh")
# With these endings a word is no plural: boss, bus, basis, mechanics.
_NO_PLURAL: Final = ("ss", "us", "is", "ics")
# Plurals that mean something else than their singular does, and words that are no plurals.
_OTHER_THINGS: Final = frozenset(
    """arms arrears ashes barracks blues brains canvas chaos christmas clothes commons contents
    corps cosmos customs damages earnings ethos finals glasses goods grounds guts heavens irons
    jeans keras kubernetes kudos lens looks manners mars means mercedes minutes morals news odds
    pandas pants pathos pickles premises proceeds quarters rails regards remains savings scissors
    series singles slacks species spectacles spirits stairs teams texas thanks tights times trousers
    trumps vitals windows wits woods works""".split()  # noqa: SIM905 - words, not a list
)
# Written in two words they say something else.
_OTHER_JOINED: Final = frozenset(("everyday", "everyone", "overtime"))


@dataclass(frozen=True, slots=True)
class Variants:
    """Concepts that are the same thing: `slug` stays, the `others` become one with it."""

    slug: str
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Spelling:
    """One way to write a concept; `at` is the concept's place in the order of who stays."""

    slug: str
    name: str
    kind: str
    is_cased: bool
    at: int


def find_variants(rows: Sequence[Mapping[str, Any]]) -> list[Variants]:
    """Return the groups of an agent's concepts (links/stored.py) that are the same thing.

    Of a group the declared concept stays, else the one in the most memories, else the first by
    slug. No two declared concepts are ever in one group, nor two that were parted by hand.
    """
    concepts = sorted(
        rows, key=lambda row: (not row["is_declared"], -row["memories"], row["id"][1])
    )
    ties: defaultdict[int, set[int]] = defaultdict(set)
    for one, other in _same_spellings(list(_spellings(concepts))):
        if one != other:
            ties[one].add(other)
            ties[other].add(one)
    variants, taken = [], set[int]()
    for at in sorted(ties):
        group = _group(concepts, ties, at, taken)
        taken.update(group)
        if len(group) > 1:
            slug, *others = (concepts[one]["id"][1] for one in group)
            variants.append(Variants(slug, tuple(others)))
    return variants


def _group(
    concepts: Sequence[Mapping[str, Any]],
    ties: Mapping[int, set[int]],
    start: int,
    taken: set[int],
) -> list[int]:
    """Return the concepts that are the same as the one at `start`, that one first."""
    group = [] if start in taken else [start]
    seen, slugs, apart = {start}, {_slug(concepts[start])}, {*_apart(concepts[start])}
    for one in group:
        for other in sorted(ties[one] - taken - seen):
            row = concepts[other]
            is_apart = _slug(row) in apart or not slugs.isdisjoint(_apart(row))
            if not row["is_declared"] and not is_apart:
                group.append(other)
                seen.add(other)
                slugs.add(_slug(row))
                apart.update(_apart(row))
    return group


def _slug(row: Mapping[str, Any]) -> str:
    slug: str = row["id"][1]
    return slug


def _apart(row: Mapping[str, Any]) -> Sequence[str]:
    return row.get("apart") or ()


def _same_spellings(spellings: Sequence[_Spelling]) -> Iterator[tuple[int, int]]:
    """Yield the places of concepts of which two spellings are the same but for blanks or number."""
    by_slug: defaultdict[str, list[_Spelling]] = defaultdict(list)
    by_letters: defaultdict[str, list[_Spelling]] = defaultdict(list)
    for one in spellings:
        by_slug[one.slug].append(one)
        by_letters[_letters(one.slug)].append(one)
    for alike in by_slug.values():
        yield from _tied(alike)
    for alike in by_letters.values():
        if len(alike) > 1:
            yield from _tied([one for one in alike if _may_be_joined(one)])
    for one in spellings:
        singulars = [other for slug in _singulars(one.slug) for other in by_slug.get(slug, ())]
        if singulars and _is_plain(one):
            yield from ((other.at, one.at) for other in singulars if _is_plain(other))


def _tied(alike: Sequence[_Spelling]) -> Iterator[tuple[int, int]]:
    return ((one.at, other.at) for one, other in pairwise(alike))


def _spellings(concepts: Sequence[Mapping[str, Any]]) -> Iterator[_Spelling]:
    """Yield how concepts are written: their names, the user's aliases, what was merged."""
    for at, row in enumerate(concepts):
        yield _Spelling(row["id"][1], row["name"], row["kind"], row["is_cased"], at)
        for alias in row["aliases"] if row["is_declared"] else ():
            yield _Spelling(slug_of(alias), alias, row["kind"], False, at)
        for old in row.get("merged") or ():
            yield _Spelling(old["slug"], old["name"], old["kind"], old["is_cased"], at)


def _letters(slug: str) -> str:
    """Return a slug without its blanks, but for those that part two numbers: v1 2 is not v12."""
    tokens = slug.split("_")
    gaps = [
        "_" if before[-1:].isdigit() and after[:1].isdigit() else ""
        for before, after in pairwise(tokens)
    ]
    return "".join(token + gap for token, gap in zip(tokens, [*gaps, ""], strict=True))


def _may_be_joined(one: _Spelling) -> bool:
    """Say whether a spelling means the same with its blanks and without them."""
    letters = _letters(one.slug)
    if one.is_cased or one.kind in CERTAIN or _CODE.search(one.name) or letters in _OTHER_JOINED:
        return False
    if has_cjk(letters):
        return len(letters) >= _FEWEST_CJK_LETTERS
    if len(letters) < _FEWEST_JOINED or not STOP_WORDS.isdisjoint(one.slug.split("_")):
        return False
    return sum(letter.isalpha() for letter in letters) >= _FEWEST_JOINED_LETTERS


def _singulars(slug: str) -> list[str]:
    """Return what may be the singular of a slug's last word."""
    head, _, word = slug.rpartition("_")
    if word[-1:] != "s" or word.endswith(_NO_PLURAL) or word in _OTHER_THINGS:
        return []
    stems = [word[:-1]] if not word[:-1].endswith((*_HISSING, "i")) else []
    if word.endswith("es") and word[:-2].endswith((*_HISSING, "o")):
        stems.append(word[:-2])
    if word.endswith("ies") and word[-4:-3] not in _VOWELS:
        stems.append(word[:-3] + "y")
    prefix = f"{head}_" if head else ""
    return [prefix + stem for stem in stems if len(stem) >= _FEWEST_SINGULAR]


def _is_plain(one: _Spelling) -> bool:
    """Say whether a spelling is a phrase whose last word is no name, as far as letters tell."""
    if one.is_cased or one.kind in CERTAIN or one.kind == "proper":
        return False
    name = fold(one.name)
    return bool(_PHRASE.fullmatch(name)) and tokens_of(name)[-1].islower()
