"""The vectors of many memories, read a page at a time so that memory stays bounded."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from service.store.database import Database, record
from service.store.queries import load_query
from service.store.vector_forms import FLOAT_BYTES, Matrix, read_vector, unit_rows

VECTORS_OF_MODEL: Final = load_query(__package__, "vectors_of_model")

# 2,000 vectors of 2,560 dimensions are 20 MB as bytes, and five times that as lists on their way.
_PAGE_VECTORS: Final = 2000


async def pages_of_vectors(
    db: Database, keys: Sequence[str], facts: Mapping[str, Any]
) -> AsyncIterator[tuple[list[str], Matrix]]:
    """Yield ids of memories with their vectors, one a row at length 1, 2,000 at most at a time.

    Memories without a vector are left out, and vectors of another model or length than `facts`
    (meta:embedding) names.
    """
    dimensions = facts.get("dimensions", 0)
    for start in range(0, len(keys), _PAGE_VECTORS):
        ids = [record("embedding", key) for key in keys[start : start + _PAGE_VECTORS]]
        rows = await db.run(VECTORS_OF_MODEL, ids=ids, fingerprint=facts.get("fingerprint"))
        whole = [(key, stored) for key, stored in rows if _is_whole(stored, dimensions)]
        if whole:
            vectors = np.stack([read_vector(stored) for _, stored in whole])
            yield [key for key, _ in whole], unit_rows(vectors)


def _is_whole(stored: bytes | list[float], dimensions: int) -> bool:
    return len(stored) == dimensions * (FLOAT_BYTES if isinstance(stored, bytes) else 1)
