"""Summaries made anew when their sources change, leave or come back.

A summary says nothing that its sources do not: a deleted or quarantined memory takes its sentences
along, in the same transaction.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from service.consolidate.derived_from import Derived, derived_from
from service.consolidate.grouping import Wall
from service.consolidate.reading import KINDS, declared_names
from service.consolidate.summary.originals import Original, original_of, original_of_draft
from service.consolidate.summary.summaries import Summary, summarise
from service.drafts.drafts import Draft
from service.drafts.stored_memory import StoredMemory
from service.links import stored
from service.links.change import Change
from service.records import CONSOLIDATION
from service.store.database import Database, record
from service.store.queries import load_query

SOURCES: Final = load_query(__package__, "sources")


@dataclass(slots=True)
class Revision:
    """What becomes of some summaries: texts to write, summaries to remove, and the rest of it."""

    drafts: list[Draft] = field(default_factory=list)
    gone: list[StoredMemory] = field(default_factory=list)
    replaced: dict[str, StoredMemory] = field(default_factory=dict)
    derived: list[Derived] = field(default_factory=list)
    released: list[str] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)

    def added_to(self, change: Change, *, pin: bool = False) -> Change:
        """Return the change with this revision in it; what is released is pinned if `pin`."""
        whole = replace(
            change, drafts=(*change.drafts, *self.drafts), gone=(*change.gone, *self.gone),
            replaced={**change.replaced, **self.replaced},
            unarchive=change.unarchive - set(self.released),
        )  # fmt: skip
        return whole.with_fragment(
            derived_from(derived=self.derived, released=self.released, left=self.left, pin=pin)
        )


async def revise(db: Database, change: Change, budget_tokens: int) -> Change:
    """Return a change with what it does to the summaries that are made of its memories.

    A source that goes, leaves the archive, gets another scope, trust or sensitivity, a time of its
    own, or a kind that is kept leaves its summary; one whose text changes is told anew. When a
    summary goes, its sources come back. A step of the pipeline.
    """
    leaving, released = _leaving(change)
    unarchived = await stored.memories_by_id(db, change.unarchive)
    for memory in unarchived.values():
        if memory.consolidated_into:
            leaving[memory.consolidated_into].add(memory.id)
            released.append(memory.id)
    summaries = [memory.id for memory in change.gone if memory.source_kind == CONSOLIDATION]
    for key in summaries:
        leaving.pop(key, None)
    if not leaving and not summaries:
        return change
    changed = {draft.id: original_of_draft(draft) for draft in change.drafts}
    revision = await without(db, leaving, budget_tokens, changed)
    orphaned = [key for keys in (await sources_of(db, summaries)).values() for key in keys]
    deleted = {memory.id for memory in change.gone}
    every = dict.fromkeys([*released, *revision.released, *orphaned])
    revision.released = [key for key in every if key not in deleted]
    return revision.added_to(change)


def _leaving(change: Change) -> tuple[defaultdict[str, set[str]], list[str]]:
    """Return the sources that leave each summary that changes, and those that live on without."""
    leaving: defaultdict[str, set[str]] = defaultdict(set)
    released: list[str] = []
    # A summary that changes its wall in the same change takes along those that do.
    walls = {one.id: _wall(one) for one in change.drafts if one.source_kind == CONSOLIDATION}
    for memory in change.gone:
        if memory.consolidated_into:
            leaving[memory.consolidated_into].add(memory.id)
    for draft in change.drafts:
        old = change.replaced.get(draft.id)
        if old is None or not old.consolidated_into:
            continue
        is_parted = _wall(draft) not in {_wall(old), walls.get(old.consolidated_into)}
        if is_parted or _is_of_its_own(draft):
            leaving[old.consolidated_into].add(old.id)
            released.append(old.id)
        elif original_of_draft(draft) != original_of(old):
            leaving.setdefault(old.consolidated_into, set())
    return leaving, released


async def without(
    db: Database,
    leaving: Mapping[str, Collection[str]],
    budget_tokens: int,
    changed: Mapping[str, Original] | None = None,
) -> Revision:
    """Make summaries anew without the sources that leave each; one without any left goes.

    `changed` are sources as they are about to be. Only those that have nothing to say in a summary
    that goes are released here: what becomes of the leaving ones is the caller's affair.
    """
    revision = Revision()
    summaries = await stored.memories_by_id(db, leaving)
    sources = await sources_of(db, summaries)
    every = {key for runs in sources.values() for key in runs}
    originals = {
        key: original_of(one) for key, one in (await stored.memories_by_id(db, every)).items()
    }
    originals |= {key: one for key, one in (changed or {}).items() if key in originals}
    refs = [old.ref or "" for old in summaries.values()]
    names = await declared_names(db, summaries.values(), refs)
    for key, old in sorted(summaries.items()):
        runs = sources[key]
        staying = [originals[one] for one in runs if one not in leaving[key] and one in originals]
        made = (key, old.ref or "", staying, budget_tokens, names)
        summary = summarise(*made) if staying else None
        revision.left += [(key, one) for one in sorted(leaving[key]) if one in runs]
        if summary is None:
            revision.gone.append(old)
            revision.released += [one.id for one in staying]
        else:
            revision.drafts.append(kept(summary.draft, old))
            revision.replaced[key] = old
            revision.derived += edges_of(summary, staying, runs)
    return revision


def edges_of(
    summary: Summary, originals: Iterable[Original], runs: Mapping[str, str]
) -> list[Derived]:
    """Return the edges from a summary to its sources; `runs` names the run that joined each."""
    return [
        Derived(
            summary.draft.id, one.id, summary.lines.get(one.id, ()), one.content_hash, runs[one.id]
        )
        for one in originals
    ]


def kept(draft: Draft, old: StoredMemory) -> Draft:
    """Keep what somebody has set on a summary since it was first made."""
    return replace(draft, pinned=old.pinned, valid_from=old.valid_from, valid_until=old.valid_until)


async def sources_of(db: Database, summaries: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return the sources of each summary, with the run that joined them."""
    found: dict[str, dict[str, str]] = {key: {} for key in summaries}
    ids = [record("memory", key) for key in found]
    rows: list[dict[str, Any]] = await db.run(SOURCES, ids=ids) if ids else []
    for row in rows:
        found[row["summary"]][row["source"]] = row.get("run") or ""
    return found


def _is_of_its_own(draft: Draft) -> bool:
    """Say whether a memory is in no summary: what ends by its own time, or is of a kept kind."""
    return draft.kind not in KINDS or bool(draft.valid_from or draft.valid_until)


def _wall(memory: Draft | StoredMemory) -> Wall:
    return Wall(memory.scope, memory.trust_tier, memory.sensitivity)
