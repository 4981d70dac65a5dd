"""Vectors: those whose text is gone or another, then the new ones."""

from typing import Final

from service.store.database import record
from service.store.queries import Fragment, load_query
from service.store.vector_forms import stored_vector
from service.writing.tables.linked_change import LinkedChange, fragment
from service.writing.tables.memory import is_embedded

QUERY: Final = load_query(__package__, "embedding")


def embedding(linked: LinkedChange) -> Fragment | None:
    """Remove the vectors of what goes or changed, and write those that were made."""
    change = linked.change
    coming = {draft.id for draft in change.drafts}
    stale = [memory.id for memory in change.gone]
    stale += [d.id for d in change.drafts if d.id in change.replaced and not is_embedded(linked, d)]
    return fragment(
        QUERY,
        gone_embeddings=[record("embedding", key) for key in stale],
        embeddings=[
            {
                "id": record("embedding", key), "vector": stored_vector(vector, linked.form),
                "fingerprint": linked.fingerprint,
            }
            for key, vector in linked.vectors.items()
            if key in coming
        ],
    )  # fmt: skip
