"""Memories: those that go, then those that come or change."""

from typing import Any, Final

from service.drafts.drafts import Draft
from service.drafts.stored_memory import is_searched_alike
from service.store.database import record
from service.store.queries import Fragment, load_query
from service.text.words import memory_words
from service.writing.tables.linked_change import LinkedChange, fragment

QUERY: Final = load_query(__package__, "memory")


def memory(linked: LinkedChange) -> Fragment | None:
    """Remove and write rows; votes stay as they are, or come along with words that moved."""
    change = linked.change
    return fragment(
        QUERY,
        gone_memories=[record("memory", memory.id) for memory in change.gone],
        gone_waiting=[record("unembedded", [change.agent, memory.id]) for memory in change.gone],
        memories=[_row(linked, d) for d in change.drafts if d.id not in change.replaced],
        changed_memories=[_row(linked, d) for d in change.drafts if d.id in change.replaced],
        moved_votes=[row for draft in change.drafts if (row := _moved_votes(linked, draft))],
    )


def _moved_votes(linked: LinkedChange, draft: Draft) -> dict[str, Any] | None:
    """Return what comes to a draft of votes on a memory that said the same; None for nothing.

    What said something else until now has them in the place of its own: those went with its words.
    """
    before, old = draft.votes_of, linked.change.replaced.get(draft.id)
    is_other = old is not None and old.content_hash != draft.content_hash
    if before is None or not (before.votes or (is_other and old is not None and old.votes)):
        return None
    return {
        "id": record("memory", draft.id), "was": record("memory", before.id),
        "content_hash": before.content_hash, "votes": list(before.votes), "is_other": is_other,
    }  # fmt: skip


def _row(linked: LinkedChange, draft: Draft) -> dict[str, Any]:
    old = linked.change.replaced.get(draft.id)
    # The database's own index is made of words; the resident engine's is made of the text.
    words = memory_words(draft.searched_text, draft.tags) if linked.form == "array" else None
    return {
        **draft.row(), "id": record("memory", draft.id), "words": words,
        "is_embedded": is_embedded(linked, draft),
        "created_at": old.created_at if old else linked.now, "updated_at": linked.now,
    }  # fmt: skip


def is_embedded(linked: LinkedChange, draft: Draft) -> bool:
    """Say whether a draft has a vector from this transaction on: a new one, or still its old."""
    old = linked.change.replaced.get(draft.id)
    is_alike = old is not None and is_searched_alike(draft, old)
    return draft.id in linked.vectors or (is_alike and old is not None and old.is_embedded)
