"""Bringing a store of an older schema over, before anything else reads it.

In many small transactions, each of which leaves a store that the next start brings over the rest
of the way: killed anywhere, nothing is lost.
"""

import logging
from collections.abc import Mapping
from typing import Any, Final, Protocol

import numpy as np

from service.store.driver import RecordID
from service.store.queries import Query, load_query
from service.store.upgrade_edges import upgrade_edges
from service.store.upgrade_origins import upgrade_origins

log = logging.getLogger(__name__)

FLOAT32_PAGE: Final = load_query(__package__, "float32_page")
WRITE_VECTORS: Final = load_query(__package__, "write_vectors")
FORGET_VALID_SNAPSHOT: Final = load_query(__package__, "forget_valid_snapshot")

# Since this version vectors as bytes are of float16, and most edges plain rows.
_PLAIN_EDGES: Final = 4
# Since this one every memory has an origin.
_ORIGINS: Final = 5
_FLOAT32_BYTES: Final = 4
_PAGE_VECTORS: Final = 1000


class Store(Protocol):
    """What is asked of the database here."""

    async def run(self, query: Query, **params: Any) -> Any:
        """Run one named query."""

    async def meta(self, key: str | list[Any]) -> dict[str, Any]:
        """Return the stored facts under `key`."""

    async def set_meta(self, key: str | list[Any], facts: dict[str, Any]) -> None:
        """Replace the stored facts under `key`."""


async def upgrade(db: Store, stored: Mapping[str, Any]) -> None:
    """Bring the rows of a store over; `stored` is its meta:schema, empty for a new store.

    From the first step on no older program opens it. Raises what `run` raises.
    """
    if not stored or (stored.get("version", 0) >= _ORIGINS and not stored.get("is_upgrading")):
        return
    # Where an earlier start broke off: of a store that version 4 was bringing over, before that.
    before = stored.get("before", 0 if stored.get("is_upgrading") else stored.get("version", 0))
    log.info("the store is brought over to version %d", _ORIGINS)
    await db.set_meta("schema", {"version": _ORIGINS, "is_upgrading": True, "before": before})
    # What was logged since it names edges by the ids that they had.
    await db.run(FORGET_VALID_SNAPSHOT, id=RecordID("meta", "snapshot"))
    if before < _PLAIN_EDGES:
        await _halve_vectors(db)
        await upgrade_edges(db)
    await upgrade_origins(db)


async def _halve_vectors(db: Store) -> None:
    """Write vectors of float32 as float16; the canary last, which tells that it is done."""
    facts = await db.meta("embedding")
    size = _FLOAT32_BYTES * facts.get("dimensions", 0)
    if not size:
        return
    after: Any = ""
    while page := await db.run(FLOAT32_PAGE, after=after, limit=_PAGE_VECTORS):
        halved = [
            {"id": RecordID("embedding", row["id"]), "vector": _halved(row["vector"])}
            for row in page
            if row["vector"] is not None and len(row["vector"]) == size
        ]
        if halved:
            await db.run(WRITE_VECTORS, vectors=halved)
        after = page[-1]["id"]
    if len(facts.get("canary") or b"") == size:
        await db.set_meta("embedding", {**facts, "canary": _halved(facts["canary"])})


def _halved(vector: bytes) -> bytes:
    return np.frombuffer(vector, "<f4").astype("<f2").tobytes()
