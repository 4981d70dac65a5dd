"""Which concepts the memories of a change mention, and which older memories are touched by it."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from service.drafts.chains import Link, expected_edges
from service.drafts.named import Written, length_of, names_in
from service.index.engine import Engine
from service.links import stored
from service.links.change import Change, Edge
from service.links.expansions import Expansions, learn_expansions
from service.links.merges import MOST_RELINKED
from service.links.orphans import Orphans, find_orphans
from service.links.stored import PairEdge, StoredText
from service.names.dictionary import Dictionary
from service.names.names import CERTAIN, Name
from service.names.proper_nouns import proper_names
from service.names.relations import LinkChange, Pair, link_change
from service.names.slugs import unmarked
from service.records import QUARANTINED
from service.store.database import Database
from service.text.titles import text_of
from service.threads import read_texts

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Links:
    """What a change does to concepts and edges; slugs and memory ids throughout.

    `pairs` are the edges between concepts that are there already, of those that it alters.
    `unlinked` are names that more memories may mention: the next transactions link those.
    """

    new_concepts: tuple[Name, ...]
    orphans: Orphans
    references: LinkChange
    pairs: Mapping[Pair, PairEdge]
    candidates: Mapping[str, tuple[str, str]]
    gone_candidates: frozenset[str]
    expansions: Expansions
    concepts_of: Mapping[str, frozenset[str]]
    unlinked: tuple[str, ...]


async def find_links(db: Database, engine: Engine, dictionary: Dictionary, change: Change) -> Links:
    """Work out all links of `change`; `dictionary` learns the new concepts on the way.

    Reads only. The caller holds the agent's turn to write, so that what is read here still
    stands when it is written.
    """
    texts, expansions, unlinked = await _texts_of(db, engine, dictionary, change)
    # Perhaps in threads: nobody else holds this dictionary in the agent's turn.
    teaching = _teaching(texts)
    given = await read_texts(
        length_of(teaching.values()), _given_names, dictionary, teaching.values()
    )
    for name in given:
        dictionary.add(name)
    proper = await _proper_names(db, dictionary, change, _teaching(texts))
    for name in proper.promoted.values():
        dictionary.add(name)
    new = (*expansions.new, *given, *proper.promoted.values(), *change.regrouped.names)
    found = await stored.mentioning(engine, change.agent, [name.name for name in new])
    touched = await _touched(db, change, found.keys - texts.keys())
    touched = await read_texts(length_of(touched.values()), _naming, new, touched)
    texts |= touched
    after = await read_texts(length_of(texts.values()), _find_all, dictionary, texts)
    mentioned = frozenset().union(*(after[key] for key in _teaching(texts)))
    # A longer name may stand wherever a proper noun was met: nobody mentions that one.
    unheard = {name.slug for name in new} - mentioned - change.regrouped.waiting_slugs
    dictionary.remove(*unheard)
    # One that is silent may have heard it all the same, in place of a shorter name.
    after |= {key: find_concepts(dictionary, texts[key]) for key in after if after[key] & unheard}
    new_concepts = tuple(name for name in new if name.slug not in unheard)
    later, names = _later(touched, after, new_concepts, found.unlinked)
    texts, after = _without(texts, later), _without(after, later)
    existing = {*after, *(m.id for m in change.gone)} - _brand_new(change)
    before = await stored.linked_concepts(db, existing)
    silent = _silent(change, texts)
    references = await read_texts(length_of(texts.values()), link_change, before, after, *silent)
    orphans = await find_orphans(db, engine, dictionary, change, references, new_concepts)
    if orphans.mentioning:
        # Where one stood that goes, a shorter name is heard; none of these counts for any.
        dictionary.remove(*orphans.slugs)
        keys = set(sorted(orphans.mentioning)[:MOST_RELINKED])
        texts |= await _touched(db, change, keys - texts.keys())
        keys &= texts.keys()
        before |= await stored.linked_concepts(db, keys - before.keys())
        after |= {key: find_concepts(dictionary, texts[key]) for key in keys}
        references = link_change(before, after, *_silent(change, texts))
    return Links(
        new_concepts=new_concepts,
        orphans=orphans,
        references=references,
        pairs=await stored.pair_edges(
            db, change.agent, references.weights.keys() | set(change.declared.related)
        ),
        candidates=proper.waiting,
        gone_candidates=frozenset(proper.promoted.keys() - unheard),
        expansions=expansions,
        concepts_of=after,
        unlinked=(*unlinked, *names),
    )


async def _texts_of(
    db: Database, engine: Engine, dictionary: Dictionary, change: Change
) -> tuple[dict[str, Written], Expansions, tuple[str, ...]]:
    """Return what is linked anew, by id, and what the dictionary has learned of abbreviations.

    Behind them the names so far that perhaps more memories mention.
    """
    again, moved = change.relink | change.regrouped.relink, change.moved
    relinked = await stored.texts_by_id(db, again - {d.id for d in change.drafts})
    drafts = {d.id: d for d in change.drafts if d.id not in moved}
    texts: dict[str, Written] = {**relinked, **drafts}
    anew = change.replaced.keys() - moved
    stale = {memory.id for memory in change.gone} | anew | relinked.keys()
    reopened = change.regrouped.shorts
    expansions = await learn_expansions(
        db, dictionary, change.agent, stale, _teaching(texts), reopened
    )
    # Before names are looked for: what an abbreviation took may be a name again.
    short = await stored.mentioning(engine, change.agent, expansions.moved)
    keys = short.keys | await engine.referencing(change.agent, expansions.left)
    texts |= await _touched(db, change, keys - texts.keys())
    return texts, expansions, (*change.unlinked, *short.unlinked)


async def find_follows(db: Database, change: Change) -> tuple[set[Edge], set[Edge]]:
    """Return the `follows` edges (later, earlier) to add and to drop for this change."""
    leaving: dict[str, set[Link]] = defaultdict(set)
    coming: dict[str, set[Link]] = defaultdict(set)
    for memory in (*change.gone, *change.replaced.values()):
        if memory.chain:
            leaving[memory.chain].add(memory.link)
    for draft in change.drafts:
        if draft.chain:
            coming[draft.chain].add(
                Link(draft.occurred_at, draft.source.uri or "", draft.position, draft.id)
            )
    changed = {chain for chain in leaving.keys() | coming.keys() if leaving[chain] != coming[chain]}
    fresh = {chain for chain in changed & change.fresh if not leaving[chain]}
    wanted = {edge for chain in fresh for edge in expected_edges(coming[chain])}
    touched = {chain: leaving[chain] | coming[chain] for chain in sorted(changed - fresh)}
    known: set[str] = set()
    spans = await stored.chain_spans(db, change.agent, _moments(touched))
    for chain, links in touched.items():
        moved = {link.key for link in links}
        members = {link for link in spans[chain] if link.key not in moved} | coming[chain]
        wanted |= expected_edges(members)
        known |= moved | {link.key for link in spans[chain]}
    edges = await stored.chain_edges(db, known - _brand_new(change))
    # An edge that leads out of the span is none of this change's business.
    now = {edge for edge in edges if edge[1] in known}
    gone = {memory.id for memory in change.gone}
    return wanted - now, {edge for edge in now - wanted if not gone & set(edge)}


def _moments(chains: Mapping[str, set[Link]]) -> dict[str, tuple[datetime, datetime]]:
    times = {chain: [link.occurred_at for link in links] for chain, links in chains.items()}
    return {chain: (min(each), max(each)) for chain, each in times.items()}


def _brand_new(change: Change) -> set[str]:
    return {d.id for d in change.drafts if d.id not in change.replaced}


def _silent(change: Change, texts: Mapping[str, Written]) -> tuple[set[str], set[str]]:
    """Return the ids of the memories that no concept counts: before the change and after it."""
    after = {key: text.teaches for key, text in texts.items()}
    stored = [*change.gone, *change.replaced.values()]
    before = after | {memory.id: memory.teaches for memory in stored}
    return _untold(before), _untold(after)


def _untold(teaching: Mapping[str, bool]) -> set[str]:
    return {key for key, teaches in teaching.items() if not teaches}


def _teaching(texts: Mapping[str, Written]) -> dict[str, Written]:
    """Return the texts that names are learned from."""
    return {key: text for key, text in texts.items() if text.teaches}


def _given_names(dictionary: Dictionary, texts: Iterable[Written]) -> list[Name]:
    """Return the names given on purpose that no concept has yet, each once."""
    new: dict[str, Name] = {}
    for text in texts:
        for name in names_in(text):
            if dictionary.resolve(name) is None:
                new.setdefault(name.slug, name)
    return list(new.values())


@dataclass(frozen=True, slots=True)
class _Proper:
    promoted: dict[str, Name]
    waiting: dict[str, tuple[str, str]]


async def _proper_names(
    db: Database, dictionary: Dictionary, change: Change, texts: Mapping[str, Written]
) -> _Proper:
    """Sort the proper nouns of new texts: certain or used twice → concept; else they wait."""
    names: dict[str, Name] = {}
    users: dict[str, set[str]] = defaultdict(set)
    found = await read_texts(length_of(texts.values()), _proper_nouns, texts)
    for key, nouns in found.items():
        for slug, name in nouns.items():
            if slug not in dictionary:
                names.setdefault(slug, name)
                users[slug].add(key)
    earlier = await stored.candidate_memories(db, change.agent, names)
    leaving = {memory.id for memory in change.gone} | texts.keys()
    others = {slug for slug, key in earlier.items() if key not in leaving}
    promoted = {
        slug: name
        for slug, name in names.items()
        if name.kind in CERTAIN or len(users[slug]) + (slug in others) > 1
    }
    waiting = {
        slug: (name.name, min(users[slug])) for slug, name in names.items() if slug not in promoted
    }
    return _Proper(promoted, waiting)


def _proper_nouns(texts: Mapping[str, Written]) -> dict[str, Mapping[str, Name]]:
    return {key: proper_names(text.content) for key, text in texts.items()}


async def _touched(db: Database, change: Change, keys: set[str]) -> dict[str, StoredText]:
    """Return the other memories that may mention a concept which has just come up.

    Those that a later transaction links anew are left to it.
    """
    left_out = change.regrouped.later.union(memory.id for memory in change.gone)
    return await stored.texts_by_id(db, keys - left_out)


def _naming(names: Iterable[Name], texts: Mapping[str, StoredText]) -> dict[str, StoredText]:
    """Return the texts that mention one of the names: of all that hold its words some do.

    Names of the dictionary that are longer may stand there instead; in the others nothing changes.
    """
    dictionary = Dictionary()
    for name in names:
        dictionary.add(name)
    return {key: text for key, text in texts.items() if find_concepts(dictionary, text)}


def _later(
    touched: Iterable[str],
    after: Mapping[str, frozenset[str]],
    new: Sequence[Name],
    cut: Collection[str],
) -> tuple[frozenset[str], list[str]]:
    """Return older memories that are linked later, and the names of new concepts in these.

    And those names that more memories may mention than were looked at: `cut`.
    """
    slugs = {name.slug for name in new}
    later = sorted(key for key in touched if after[key] & slugs)[MOST_RELINKED:]
    waiting = frozenset().union(*(after[key] for key in later))
    return frozenset(later), [one.name for one in new if one.slug in waiting or one.name in cut]


def _without(found: Mapping[str, T], keys: frozenset[str]) -> dict[str, T]:
    return {key: value for key, value in found.items() if key not in keys}


def _find_all(dictionary: Dictionary, texts: Mapping[str, Written]) -> dict[str, frozenset[str]]:
    return {key: find_concepts(dictionary, text) for key, text in texts.items()}


def find_concepts(dictionary: Dictionary, memory: Written) -> frozenset[str]:
    """Return the slugs of the known concepts that a memory gives on purpose or mentions.

    What is quarantined gives none: a tag of its own, which stands in no text, would not be found
    again when it becomes a name.
    """
    names = [] if memory.trust_tier == QUARANTINED else names_in(memory)
    # By its older slug where no memory has brought the name anew: what was given stays linked.
    given = (
        dictionary.resolve(name) or dictionary.resolve(replace(name, slug=unmarked(name.slug)))
        for name in names
    )
    text = text_of(memory.heading_path, memory.title, memory.content)
    return frozenset({slug for slug in given if slug}) | dictionary.mentions(text)
