"""Which abbreviation leads to which concept, by what all memories of an agent explain."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from service.drafts.named import Written, length_of
from service.links import stored
from service.names.abbreviations import ABBREVIATED, abbreviations
from service.names.dictionary import Dictionary
from service.names.names import Name
from service.store.database import Database
from service.text.titles import text_of
from service.threads import read_texts


@dataclass(frozen=True, slots=True)
class Expansions:
    """What a change of memories does to abbreviations, by their keys (`rag`).

    `said` gives the long name by (memory, abbreviation); `new` are long names that no concept had;
    `aliases` are all abbreviations of a concept (slug) from now on; `moved` are the abbreviations
    that lead elsewhere now, `left` the concepts that they led to: memories that use the one or
    reference the other must be linked anew.
    """

    said: Mapping[tuple[str, str], Name]
    new: tuple[Name, ...] = ()
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    moved: tuple[str, ...] = ()
    left: frozenset[str] = frozenset()


def _explained_in(texts: Mapping[str, Written]) -> dict[tuple[str, str], Name]:
    return {(key, short): name for key, t in texts.items() for short, name in explained(t).items()}


async def learn_expansions(
    db: Database,
    dictionary: Dictionary,
    agent: str,
    stale: Collection[str],
    texts: Mapping[str, Written],
    reopened: Collection[str] = (),
) -> Expansions:
    """Teach the dictionary what abbreviations mean with these texts.

    What the store has of the `stale` memories counts no more: they go, or come again in `texts`.
    An abbreviation leads to its long name while all memories that explain it agree; a name that
    the user declares is left as it is. Those `reopened` are looked at in any case.
    """
    said = await read_texts(length_of(texts.values()), _explained_in, texts)
    # One more voice for what is agreed already changes nothing.
    unsettled = set(reopened)
    for (_, short), name in said.items():
        if dictionary.expansion_of(short) != dictionary.stands_for(name.slug):
            unsettled.add(short)
    known = await stored.meanings(db, agent, unsettled, stale)
    longs: dict[str, dict[str, Name]] = {short: {} for short in known}
    told = [(short, *named) for short, names in known.items() for named in names.items()]
    told += [(short, name.slug, name.name) for (_, short), name in said.items() if short in longs]
    for short, slug, long in told:
        concept = dictionary.stands_for(slug)
        longs[short][concept] = Name(concept, long, ABBREVIATED)
    return replace(_settle(dictionary, longs), said=said)


def explained(memory: Written) -> dict[str, Name]:
    """Return the abbreviations that a memory explains in its title and content."""
    return abbreviations(text_of((), memory.title, memory.content))


def _settle(dictionary: Dictionary, longs: Mapping[str, Mapping[str, Name]]) -> Expansions:
    """Give each abbreviation to the one long name it has, if it has one."""
    new, moved, left = [], [], set()
    for short, meanings in sorted(longs.items()):
        name = _agreed(meanings)
        if name is not None and not dictionary.may_abbreviate(short, name):
            name = None
        before = dictionary.expansion_of(short)
        if before == (name.slug if name else None):
            continue
        if name is not None and name.slug not in dictionary:
            dictionary.add(name)
            new.append(name)
        dictionary.abbreviate(short, name.slug if name else None)
        moved.append(short)
        left |= {before or short, short, dictionary.stands_for(short)}
    named = left.union(*longs.values())
    aliases = {slug: dictionary.abbreviations_of(slug) for slug in sorted(named)}
    return Expansions({}, tuple(new), aliases, tuple(moved), frozenset(left))


def _agreed(meanings: Mapping[str, Name]) -> Name | None:
    """Return the one meaning; singular and plural are the same, the shorter spelling stands."""
    if len({slug.removesuffix("s") for slug in meanings}) != 1:
        return None
    return meanings[min(meanings)]
