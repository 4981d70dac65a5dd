"""Whole memories out of the indexes, so that the store need not be asked."""

from collections.abc import Collection, Iterable

from service.index.resident.agent_index import AgentIndex
from service.index.resident.packing import Packed
from service.index.resident.residency import Residency
from service.records import Filters


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
