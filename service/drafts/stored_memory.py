"""A stored memory with what a change is compared with and linked by; pure."""

from dataclasses import dataclass, fields, replace

from service.drafts.chains import Link
from service.drafts.drafts import Draft
from service.records import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMemory(Memory):
    """A memory with what is compared and linked of it; `content` is empty unless asked by id."""

    content: str = ""
    content_hash: str
    is_embedded: bool
    chain: str | None = None
    position: int
    concepts: tuple[str, ...] = ()
    teaches: bool = True

    @property
    def uri(self) -> str:
        """The document it was read from; empty for none."""
        return self.source.uri or ""

    @property
    def ref(self) -> str | None:
        """Its writer's own id for it; why the memories of a summary belong together."""
        return self.source.ref

    @property
    def lines(self) -> tuple[int | None, int | None]:
        """Its first and last line in that document, from 1."""
        return (self.source.line_start, self.source.line_end)

    @property
    def link(self) -> Link:
        """Its place in its chain."""
        return Link(self.occurred_at, self.uri, self.position, self.id)


def draft_of_stored(old: StoredMemory) -> Draft:
    """Return a stored memory as a draft that changes nothing."""
    return Draft(**{name: getattr(old, name) for name in _SAME})


def keep_time(draft: Draft, old: StoredMemory) -> Draft:
    """Keep the first time of a memory that has none of its own: a touched file is not news."""
    return draft if draft.is_dated else replace(draft, occurred_at=old.occurred_at)


# Called the same in a stored memory and in a draft.
_SAME = {one.name for one in fields(Draft)} & {one.name for one in fields(StoredMemory)}
