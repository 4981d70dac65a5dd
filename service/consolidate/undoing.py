"""Consolidations taken back: the originals return, the summaries go or say less."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from service.concepts.merging import part_concepts
from service.consolidate.grouping import batches
from service.consolidate.revising import Revision, sources_of, without
from service.errors import ConceptNotFound, MemoryNotFound, RunNotFound
from service.links import stored
from service.links.change import Change
from service.store.database import Database
from service.store.queries import load_query
from service.writing.pipeline import Pipeline, write_change

DERIVED_BY_RUN: Final = load_query(__package__, "derived_by_run")


@dataclass(slots=True)
class Undone:
    """The memories that came back, the summaries that went, and those that say less now.

    `parted` are the concepts that are again of their own.
    """

    restored: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    revised: list[str] = field(default_factory=list)
    parted: list[str] = field(default_factory=list)


async def undo_run(pipeline: Pipeline, agent: str, run: str, *, pin: bool) -> Undone:
    """Take back what one run joined and which concepts it merged; raises RunNotFound.

    Sources that other runs joined stay in their summaries.
    """
    # One that is still under way comes to its end first: all of it is taken back.
    async with pipeline.consolidating.of(agent):
        rows = await pipeline.db.run(DERIVED_BY_RUN, agent=agent, run=run)
    parted = await part_concepts(pipeline, agent, run=run)
    if not rows and not parted:
        msg = f"Agent {agent!r} has no consolidation {run!r}, or it was undone already."
        raise RunNotFound(msg)
    leaving: dict[str, set[str]] = {}
    for row in rows:
        leaving.setdefault(row["summary"], set()).add(row["source"])
    undone = await _take_back(pipeline, agent, leaving, pin=pin)
    return replace(undone, parted=[one.slug for one in parted])


async def undo_concept(pipeline: Pipeline, agent: str, concept: str) -> Undone:
    """Part what was merged into a concept, or one that was merged; raises ConceptNotFound."""
    parted = await part_concepts(pipeline, agent, concept=concept)
    if not parted:
        msg = f"Agent {agent!r} has no concept {concept!r} that was merged."
        raise ConceptNotFound(msg)
    return Undone(parted=[one.slug for one in parted])


async def undo_summary(pipeline: Pipeline, agent: str, key: str, *, pin: bool) -> Undone:
    """Take back one summary with all its sources; raises MemoryNotFound."""
    memory = (await stored.memories_by_id(pipeline.db, [key])).get(key)
    sources = await sources_of(pipeline.db, [key])
    # Older versions let a writer call a memory of his own a summary: undone, it would be lost.
    if memory is None or memory.agent != agent or not sources[key]:
        raise MemoryNotFound(f"Agent {agent!r} has no summary with id {key!r}.")
    return await _take_back(pipeline, agent, sources, pin=pin)


async def _take_back(
    pipeline: Pipeline, agent: str, leaving: Mapping[str, Collection[str]], *, pin: bool
) -> Undone:
    """Each summary is before or after, whenever this ends."""
    undone = Undone()
    sizes = {key: len(leaving[key]) + 1 for key in sorted(leaving)}
    for batch in batches(sizes):
        taking = _Taking({key: leaving[key] for key in batch}, pipeline.section_tokens, pin=pin)
        async with pipeline.consolidating.of(agent):
            await write_change(pipeline, Change(agent, in_turn=taking.take), {})
        undone.restored += taking.revision.released
        undone.removed += [memory.id for memory in taking.revision.gone]
        undone.revised += [draft.id for draft in taking.revision.drafts]
    return undone


@dataclass(slots=True)
class _Taking:
    """Sources that leave summaries, and what that makes of these in the turn to write.

    What somebody changed, deleted or quarantined meanwhile does not come back.
    """

    leaving: Mapping[str, Collection[str]]
    budget_tokens: int
    pin: bool
    revision: Revision = field(default_factory=Revision)

    async def take(self, db: Database, change: Change) -> Change:
        self.revision = await without(db, self.leaving, self.budget_tokens)
        self.revision.released += sorted(source for _, source in self.revision.left)
        return self.revision.added_to(change, pin=self.pin)
