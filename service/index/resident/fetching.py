"""Whole memories out of the indexes, so that the store need not be asked."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from service.errors import QueryFailed
from service.index.resident.agent_index import AgentIndex
from service.index.resident.packing import UNFIT, Packed, unpack
from service.index.resident.residency import Residency
from service.moments import micros_of
from service.records import Filters, Memory, Place
from service.store.database import Database
from service.store.fetching import fetch_visible


def unread(residency: Residency, keys: Collection[str], agents: Iterable[str]) -> set[str]:
    """Return those of the memories that the store must be asked about: it may have another form."""
    return (
        set(keys) if residency.doubts.keys() & set(agents) else residency.follower.feed.unread(keys)
    )


def read_packed(
    index: AgentIndex, keys: Iterable[str], filters: Filters
) -> dict[str, Packed | None]:
    """Return those of the memories that pass the filters, packed; None for what is not held."""
    with index.lock:
        packed = index.packed
        return {
            key: packed.get(row) if packed else None
            for key, row in index.seen(keys, filters).items()
        }


async def unpack_or_read(
    db: Database,
    parts: Iterable[Mapping[str, Packed | None]],
    asked: set[str],
    filters: Filters,
) -> dict[str, Memory]:
    """Unpack memories, and read from the store what is asked of it and what makes no memory."""
    memories: dict[str, Memory] = {}
    for packed in parts:
        for key, one in packed.items():
            try:
                memories[key] = unpack(key, one)
            except UNFIT:
                asked.add(key)
    return memories | await fetch_visible(db, sorted(asked), filters)


def are_at(places: Sequence[Place], memories: Mapping[str, Memory]) -> bool:
    """Say whether those that stood at these places are all there, and stand there still."""
    stand = {Place(micros_of(memory.occurred_at), key) for key, memory in memories.items()}
    return stand == set(places)


async def is_current(residency: Residency, agent: str) -> bool:
    """Say whether an agent's index is in RAM with all that anyone has written by now.

    Nothing is loaded for it, and nobody waits in line where nothing is to be taken in.
    """
    follower = residency.follower
    if follower.held(agent) is None:
        return False
    try:
        if follower.feed.waiting() != []:
            await follower.catch_up()
    except QueryFailed:
        return False
    return agent not in residency.doubts and follower.held(agent) is not None
