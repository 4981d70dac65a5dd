"""What tools answer: a model that a program reads, and its words for whoever reads text alone."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Final, Self

from pydantic import BaseModel

from service.access.origins import doubt_of
from service.client.answers import Hit, Memory, Source
from service.text.titles import headings_of, is_beside, one_heading

# Of one memory in a list, and of one text that is read whole.
MOST_ITEM_CHARACTERS: Final = 2_000
MOST_TEXT_CHARACTERS: Final = 20_000


class Answer(BaseModel, ABC):
    """An answer; what the service tells beyond its fields is left out."""

    @abstractmethod
    def as_text(self) -> str:
        """Return it in words."""


class Place(BaseModel):
    """Where a memory was read from: lines of a document, or a caller's own reference."""

    path: str | None
    line_start: int | None
    line_end: int | None
    ref: str | None

    @classmethod
    def of(cls, source: Source) -> Self:
        """Read the service's own."""
        lines = {"line_start": source["line_start"], "line_end": source["line_end"]}
        return cls(path=source["uri"], ref=source["ref"], **lines)

    def __str__(self) -> str:
        lines = f"#L{self.line_start}-L{self.line_end}" if self.line_start else ""
        return f"{self.path}{lines}" if self.path else ""


class Item(BaseModel):
    """A memory; `title` is empty where its text begins with it, `is_cut` says that it is longer.

    The headings above it are in its title: it does not say them itself. `memory_get` has all of a
    text.
    """

    id: str
    title: str
    text: str
    is_cut: bool
    kind: str
    scope: str | None
    tags: list[str]
    occurred_at: str
    source: Place
    origin: str
    trust_tier: str
    score: float

    @classmethod
    def of(cls, hit: Hit, most: int = MOST_ITEM_CHARACTERS) -> Self:
        """Read a hit of the service; of its text at most so many characters."""
        text, is_cut = cut(hit.get("content") or hit["snippet"], most)
        return cls(text=text, is_cut=is_cut, score=hit["score"], **told_of(hit, text))

    def as_text(self) -> str:
        """Return a line that says what it is, and its words."""
        doubt = doubt_of(self.trust_tier)
        facts = [self.kind, self.occurred_at[:10], str(self.source), doubt, f"id {self.id}"]
        more = " …" if self.is_cut else ""
        return f"{headed(self.title, facts)}\n{self.text}{more}"


def told_of(memory: Memory, text: str) -> dict[str, object]:
    """Return the fields of a memory that tools tell beside its text."""
    same = ("id", "kind", "scope", "tags", "occurred_at", "origin", "trust_tier")
    own = {"title": heading_of(memory, text), "source": Place.of(memory["source"])}
    return {name: memory[name] for name in same} | own  # type: ignore[literal-required]


def heading_of(memory: Memory, text: str) -> str:
    """Return the headings that it stands below; its file and its day are told beside them."""
    file, day = PurePosixPath(memory["source"]["uri"] or "").stem, memory["occurred_at"][:10]
    # A service of before has none of these.
    deeper = [one for one in memory.get("search_headings", ()) if one != file]
    path = [one for one in memory["heading_path"] if one != day]
    return one_heading(headings_of(path, memory["title"], deeper), text)


def beside(title: str, text: str) -> str:
    """Return a title, or nothing where it is how the text begins: programs pay for each word."""
    return title if is_beside(title, text) else ""


def headed(title: str, facts: Iterable[str]) -> str:
    """Return the line above a text."""
    return f"{title} ({', '.join(filter(None, facts))})".lstrip()


def in_doubt(title: str, trust_tier: str) -> str:
    """Return the title of a memory that is told alone; of words that nobody trusts it says so."""
    doubt = doubt_of(trust_tier)
    return f"{title} ({doubt})" if doubt else title


def cut(text: str, most: int) -> tuple[str, bool]:
    """Return what fits of a text, and whether that is not all."""
    return text[:most], len(text) > most


def numbered(items: Iterable[str]) -> str:
    """Return texts as a numbered list."""
    return "\n\n".join(f"{number}. {one}" for number, one in enumerate(items, 1))


def with_warnings(text: str, warnings: Iterable[str]) -> str:
    """Return a text with a line for each warning."""
    return "\n".join([text, *(f"Warning: {one}" for one in warnings)])
