"""What a memory gives to be linked by, whether it is a draft or stored; pure."""

from collections.abc import Iterable
from typing import Protocol

from service.drafts.kinds import name_of
from service.kinds import OUTDATED
from service.names.names import Name, declared_name, file_name, heading_name
from service.records import Source


class Named(Protocol):
    """A memory as far as its names go: a draft or a stored one."""

    @property
    def title(self) -> str:
        """The last heading, or the title that was given."""

    @property
    def heading_path(self) -> tuple[str, ...]:
        """The headings from the document's title down to this memory's own."""

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags."""

    @property
    def concepts(self) -> tuple[str, ...]:
        """Names the writer linked itself."""

    @property
    def source(self) -> Source:
        """Where it was read."""


class Written(Named, Protocol):
    """A memory with its text: a draft or a stored one."""

    @property
    def content(self) -> str:
        """The text below the headings."""

    @property
    def trust_tier(self) -> str:
        """How far it is trusted."""

    @property
    def teaches(self) -> bool:
        """Whether names are learned from it and concepts count it."""


def length_of(memories: Iterable[Written]) -> int:
    """Return how many characters they have: what it takes to read them."""
    return sum(len(memory.content) for memory in memories)


def names_in(memory: Named) -> list[Name]:
    """Return the names a memory gives on purpose: tags, links, its file's, title and headings.

    What is outdated has nothing in common for that, and its title says so: neither is a name.
    """
    is_outdated = OUTDATED in memory.tags
    file = name_of(memory.source.uri or "")
    called = file_name(file) if file in memory.concepts else None
    given = [declared_name(tag, "tag") for tag in memory.tags if tag != OUTDATED]
    links = (name for name in memory.concepts if not (called and name == file))
    given += [called, *(declared_name(name, "link") for name in links)]
    path = memory.heading_path
    given += [heading_name(h, "title" if h in path[:1] else "heading") for h in path]
    is_titled = memory.title not in path and not (is_outdated and path)
    titled = heading_name(memory.title, "title") if is_titled else None
    if titled and not (called and called.slug == titled.slug):
        given.append(titled)
    return list({name.slug: name for name in given if name is not None}.values())
