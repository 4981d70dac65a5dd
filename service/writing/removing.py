"""Removing documents and memories, through the one pipeline."""

from collections.abc import Sequence
from typing import Final

from service.access.caller import own_scopes
from service.drafts.stored_memory import StoredMemory
from service.links import stored
from service.links.change import Change
from service.writing.pipeline import Pipeline, commit
from service.writing.tombstones import DELETED, ensure_key

_REMOVED: Final = "source_removed"


async def remove_documents(pipeline: Pipeline, agent: str, uris: Sequence[str]) -> int:
    """Remove documents and all their memories; returns how many memories went."""
    with pipeline.versions.under_way(agent, uris) as version:
        async with pipeline.reading.of(agent):
            going = [uri for uri in uris if version.is_newest(uri)]
            gone = [
                memory
                for uri in going
                for memory in (await stored.memories_of_document(pipeline.db, agent, uri)).values()
            ]
            change = Change(agent, gone=tuple(gone), gone_documents=tuple(going), audit=_REMOVED)
            await commit(pipeline, change)
            version.is_written(going)
    return len(gone)


async def remove_memories(pipeline: Pipeline, agent: str, gone: Sequence[StoredMemory]) -> None:
    """Remove memories for good, with their edges and vectors; audited, and no scan's to restore."""
    await ensure_key(pipeline.db)
    change = Change(agent, gone=tuple(gone), audit=DELETED, scopes=own_scopes())
    await commit(pipeline, change)
