"""What surrounds a memory, from the rows of the query to what the door answers."""

from typing import Any

from service.memories.shapes import ConceptMention, Neighbour, SourceMemory
from service.text.titles import title_of


def mentions_of(rows: list[dict[str, Any]] | None, *, is_counted: bool) -> list[ConceptMention]:
    """Return the concepts that a memory mentions, the rarest first where they are counted."""
    mentions = [
        ConceptMention(row["id"][1], row["name"], row["memories"] if is_counted else None)
        for row in rows or []
    ]
    return sorted(mentions, key=lambda mention: (mention.memories or 0, mention.id))


def neighbours_of(rows: list[dict[str, Any]] | None) -> list[Neighbour]:
    """Return the memories just before or just after, by their titles."""
    return [
        Neighbour(row["id"], title_of(row["title"], row["content"]), row["trust_tier"])
        for row in rows or []
    ]


def sources_in(rows: list[dict[str, Any]] | None) -> list[SourceMemory]:
    """Return the memories that a summary is made of, in the order of its lines."""
    sources = [
        SourceMemory(
            row["id"],
            title_of(row["title"], row["content"]),
            row["trust_tier"],
            row["occurred_at"],
            row["lines"],
        )
        for row in rows or []
    ]
    return sorted(sources, key=lambda source: (source.lines or [0], source.occurred_at, source.id))
