"""Originals: the memories that a summary is made of, stored or about to be; pure."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from service.access.origins import Origin
from service.drafts.drafts import Draft
from service.drafts.stored_memory import StoredMemory


@dataclass(frozen=True, slots=True)
class Original:
    """What a summary takes from a memory that it is made of."""

    id: str
    agent: str
    scope: str | None
    origin: Origin
    trust_tier: str
    sensitivity: str
    title: str
    content: str
    content_hash: str
    tags: tuple[str, ...]
    importance: float
    occurred_at: datetime
    session: str | None
    uri: str
    line_start: int

    @property
    def order(self) -> tuple[datetime, str, int, str]:
        """Where it stands in a summary: by time, then by document and line, then by id."""
        return (self.occurred_at, self.uri, self.line_start, self.id)


def original_of(memory: StoredMemory) -> Original:
    """Return a stored memory as a summary sees it."""
    same = {name: getattr(memory, name) for name in _SAME}
    return Original(id=memory.id, uri=memory.uri, line_start=memory.lines[0] or 0, **same)


def original_of_draft(draft: Draft) -> Original:
    """Return a memory that is about to be written as a summary will see it."""
    same = {name: getattr(draft, name) for name in _SAME}
    source = draft.source
    return Original(id=draft.id, uri=source.uri or "", line_start=source.line_start or 0, **same)


# Called the same in a stored memory, in a draft and here.
_SAME: Final = frozenset(Original.__dataclass_fields__) - {"id", "uri", "line_start"}
