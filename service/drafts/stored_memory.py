"""A stored memory with what a change is compared with and linked by; pure."""

from collections import defaultdict, deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any

from service.access.origins import lower_tier
from service.drafts.chains import Link
from service.drafts.drafts import Draft
from service.drafts.kinds import name_of
from service.metadata import MAKE_VERSION
from service.records import Memory, Voted


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
    # Who says whether it helped, each [key, whether].
    votes: Sequence[list[Any]] = ()

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


def differs(draft: Draft, old: StoredMemory) -> bool:
    """Say whether a draft is another version than the stored one: it counts as an update."""
    return draft.content_hash != old.content_hash or any(
        getattr(draft, name) != getattr(old, name)
        for name in ("title", "kind", "type", "tags", "concepts", "search_headings", *MAKE_VERSION)
    )


def is_searched_alike(draft: Draft, old: StoredMemory) -> bool:
    """Say whether a draft is embedded and searched by the very text of a stored memory."""
    is_said = draft.content_hash == old.content_hash
    return is_said and draft.search_headings == old.search_headings


def is_other(draft: Draft, old: Voted) -> bool:
    """Say whether a section has other words than it had, or stands below other ones of its text.

    Of what left its place no such headings are known. The name of its file is no word of the text.
    """
    known = old.search_headings if isinstance(old, StoredMemory) else ()
    others = {*draft.search_headings} - {*known, name_of(draft.source.uri or "")}
    return draft.content_hash != old.content_hash or bool(others)


def keep_time(draft: Draft, first: datetime) -> Draft:
    """Keep the first time of a memory that has none of its own: a touched file is not news."""
    return draft if draft.is_dated else replace(draft, occurred_at=first)


def says_more(draft: Draft, old: StoredMemory) -> bool:
    """Say whether what is sent again says something else than what is stored, or its text does."""
    if differs(draft, old) or (draft.is_dated and draft.occurred_at != old.occurred_at):
        return True
    said = {name: getattr(draft, name) for name in draft.said}
    if "trust_tier" in said:  # it is raised by an admin's change alone
        said["trust_tier"] = lower_tier(draft.trust_tier, old.trust_tier)
    return any(value != getattr(old, name) for name, value in said.items())


def keep_ids(drafts: Sequence[Draft], old: Mapping[str, StoredMemory]) -> list[Draft]:
    """Give a document's sections the ids of the stored ones that say the same, wherever they stood.

    Of sections with the same headings one may come, go or move: what was set on another, as a pin
    or a quarantine, belongs to its words. What says something new has its own id, or one that is
    left where another one took that. A title that somebody set is not what it says.
    """
    titles = _set_titles(drafts, old)
    pairs = [(one, _hashes(one, titles[one.heading_path])) for one in drafts]
    stay = {one.id for one, said in pairs if one.id in old and old[one.id].content_hash in said}
    moving: dict[str, deque[str]] = defaultdict(deque)
    for memory in sorted(old.values(), key=lambda memory: memory.position):
        if memory.id not in stay:
            moving[memory.content_hash].append(memory.id)
    if len(stay) == len(drafts) or not moving:
        return list(drafts)
    kept = [
        one.id if one.id in stay
        else next((moving[text].popleft() for text in said if moving[text]), None)
        for one, said in pairs
    ]  # fmt: skip
    taken = set(kept)
    left = iter([
        one.id for one, key in zip(drafts, kept, strict=True) if key and one.id not in taken
    ])  # fmt: skip
    keys = [
        key or (one.id if one.id not in taken else next(left))
        for one, key in zip(drafts, kept, strict=True)
    ]
    return [replace(one, id=key) for one, key in zip(drafts, keys, strict=True)]


def _set_titles(
    drafts: Sequence[Draft], old: Mapping[str, StoredMemory]
) -> dict[tuple[str, ...], set[str]]:
    """Return the titles of stored sections that their document does not give, by headings."""
    titles: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for memory in old.values():
        titles[memory.heading_path].add(memory.title)
    for draft in drafts:
        titles[draft.heading_path].discard(draft.title)
    return titles


def _hashes(draft: Draft, titles: Collection[str]) -> list[str]:
    """Return by what a section is known that says this, under its own title first."""
    return [draft.content_hash, *(replace(draft, title=one).content_hash for one in sorted(titles))]


# Called the same in a stored memory and in a draft.
_SAME = {one.name for one in fields(Draft)} & {one.name for one in fields(StoredMemory)}
