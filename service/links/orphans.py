"""Concepts that go with a change, as nobody mentions them any more."""

from collections.abc import Iterable
from dataclasses import dataclass

from service.index.engine import Engine
from service.links import stored
from service.links.change import Change
from service.names.dictionary import Dictionary
from service.names.names import Name
from service.names.relations import LinkChange
from service.records import RelatedEdge
from service.store.database import Database


@dataclass(frozen=True, slots=True)
class Orphans:
    """Concepts that go, by slug: no memory mentions them any more and nobody declares them.

    `mentioning` are the memories that do not count but name one all the same, `edges` the edges of
    `related_to` that are there, with one at either end.
    """

    slugs: frozenset[str] = frozenset()
    mentioning: frozenset[str] = frozenset()
    edges: tuple[RelatedEdge, ...] = ()


async def find_orphans(
    db: Database, engine: Engine, dictionary: Dictionary, change: Change, references: LinkChange,
    new: Iterable[Name],
) -> Orphans:  # fmt: skip
    """Return what there is of concepts that go: in the store, and in what is to be written."""
    agent, slugs = change.agent, await _orphan_slugs(db, dictionary, change, references, new)
    if not slugs:
        return Orphans()
    mentioning = await engine.referencing(agent, slugs)
    mentioning |= {key for key, slug in references.added if slug in slugs}
    return Orphans(slugs, frozenset(mentioning), tuple(await engine.related_edges(agent, slugs)))


async def _orphan_slugs(
    db: Database,
    dictionary: Dictionary,
    change: Change,
    references: LinkChange,
    new: Iterable[Name],
) -> frozenset[str]:
    """Return the concepts that no memory mentions any more and nobody declares.

    One that is being merged, or parted, stays until the last of its memories is linked anew, and so
    does what it becomes: silent ones, which do not count, may mention it still.
    """
    over, waiting = change.regrouped.over_slugs, change.regrouped.waiting_slugs
    fewer = {slug for slug, by in references.counts.items() if by < 0} | over
    declared = change.declared.flags
    undeclared = {slug for slug, is_declared in declared.items() if not is_declared}
    counts = await stored.concept_counts(db, change.agent, fewer | undeclared)
    empty = {
        slug
        for slug, (memories, is_declared) in counts.items()
        if memories + references.counts.get(slug, 0) <= 0 and not declared.get(slug, is_declared)
    }
    waiting |= {slug for slug in empty if dictionary.stands_for(slug) != slug}
    if empty - over:
        waiting |= await stored.waiting_slugs(db, change.agent)
    return frozenset(empty - (waiting - over) - {name.slug for name in new})
