"""Drafts: memories on their way in, complete but for links and vectors; pure."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, date, datetime
from typing import Any, Final

from service.access.origins import UNKNOWN, Provenance, tier_of
from service.drafts.decided import told_sections
from service.drafts.ids import digest
from service.drafts.kinds import (
    date_of,
    date_of_file,
    linked_name,
    name_of,
    occurred_at,
    type_of,
)
from service.kinds import OUTDATED
from service.metadata import Metadata
from service.moments import micros_of
from service.names.names import file_name
from service.names.subjects import concept_of_summary, subject_of
from service.records import CONSOLIDATION, DOCUMENT, QUARANTINED, Source, Voted
from service.text.markdown import Document, Section
from service.text.titles import text_of
from service.text.written_dates import written_date

# Changed whenever the same text would be cut or linked in another way: every document is then
# read anew at its next scan.
RECIPE: Final = "12"
_MOST_TITLE_CHARACTERS: Final = 200
_HEADING_SEPARATOR: Final = "\x1e"


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft(Metadata):
    """One memory to store. `is_dated` is false when `occurred_at` is only the time of writing.

    `said` names the kept fields (KEPT) that its writer has said: the others stay as they were set.
    With `scope` in it that is its writer's own word, not what a project's name came to.
    `search_headings` say where it stands, which its text does not: it is found by them, and no
    hash, name or size counts them. One that `is_by_words` has no name but what it says: its id is
    made of that. `votes_of` said the same in another place: the votes on that come along.
    """

    id: str
    agent: str
    content: str
    title: str
    kind: str
    type: str
    occurred_at: datetime
    is_dated: bool = True
    heading_path: tuple[str, ...] = ()
    search_headings: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    source: Source = field(default_factory=Source)
    source_kind: str = "push"
    chain: str | None = None
    position: int = 0
    said: frozenset[str] = frozenset()
    is_by_words: bool = False
    votes_of: Voted | None = None

    @property
    def text(self) -> str:
        """What it says: the headings that lead here, then the content."""
        return text_of(self.heading_path, self.title, self.content)

    @property
    def searched_text(self) -> str:
        """What is embedded and searched: what it says, and where it stands."""
        return text_of(self.heading_path, self.title, self.content, self.search_headings)

    @property
    def content_hash(self) -> str:
        """The hash of what it says."""
        return digest(self.text)

    @property
    def subject(self) -> str | None:
        """The slug of what it is about as a whole; a summary's is the concept it was made for."""
        if self.source_kind == CONSOLIDATION:
            return concept_of_summary(self.source.ref)
        return subject_of(self.title, self.content)

    @property
    def teaches(self) -> bool:
        """Whether names are learned from it and concepts count it.

        A summary only repeats what its sources say; words of what is quarantined are nobody's to
        see, not even as the name of a concept.
        """
        return self.source_kind != CONSOLIDATION and self.trust_tier != QUARANTINED

    def row(self) -> dict[str, Any]:
        """Return the columns of table `memory` that a writer sets, whatever the engine."""
        columns = {n: getattr(self, n) for n in _COLUMNS}
        columns |= {n: columns[n].astimezone(UTC) for n in _MOMENTS if columns[n] is not None}
        source = {n: getattr(self.source, n) for n in _SOURCE}
        return {
            **{n: list(v) if isinstance(v, tuple) else v for n, v in columns.items()},
            "source": source,
            # The store checks no field of a new row (decision 0046): a float is one here.
            "importance": float(self.importance),
            "occurred_micros": micros_of(self.occurred_at),
            "screened": list(self.screened) or None,
            "search_headings": list(self.search_headings) or None,
            "pinned": self.pinned or None,
            "subject": self.subject,
            "content_hash": self.content_hash,
            "teaches": self.teaches,
        }


_MOMENTS: Final = ("occurred_at", "valid_from", "valid_until")
_SOURCE: Final = tuple(f.name for f in fields(Source))
_APART: Final = frozenset({"id", "is_by_words", "is_dated", "source", "said", "votes_of"})
_COLUMNS: Final = tuple(f.name for f in fields(Draft) if f.name not in _APART)


@dataclass(frozen=True, slots=True)
class Cutting:
    """How documents are cut: the most tokens of a section, and the most sections of a document."""

    section_tokens: int = 200
    max_sections: int = 4000


@dataclass(frozen=True, slots=True)
class DocumentText:
    """One document to bring the store in line with: its path, its text and what is known of it."""

    uri: str
    text: str
    agent: str = "main"
    scope: str | None = None
    kind: str | None = None
    occurred_at: datetime | None = None
    modified_at: datetime | None = None
    folder: str | None = None
    sender: Provenance = UNKNOWN
    # What screening found, before anything else was done with the text.
    is_screened: bool = False
    is_quarantined: bool = False
    screened: tuple[str, ...] = ()

    def text_hash(self, cutting: Cutting) -> str:
        """Return the hash that tells whether reading this document again could change anything."""
        given = (self.scope, self.kind, self.occurred_at, self.sender.origin)
        bounds = (cutting.section_tokens, cutting.max_sections)
        return digest(RECIPE, *map(str, (*bounds, *given)), self.text)


def document_drafts(
    document: DocumentText, parsed: Document, places: Mapping[str, str]
) -> list[Draft]:
    """Turn a parsed document into drafts, in the order of its lines.

    `places` (pattern → kind) are tried before the built-in table. A document without a title is
    called as its file is, and whatever its title, a link to the file leads to it.
    """
    origin = document.sender.origin
    name, told = name_of(document.uri), _date_of(document, parsed)
    sections = told_sections(parsed, document.uri, document.kind, places)
    drafts = []
    for position, told_section in enumerate(sections):
        section, kind = told_section.section, told_section.kind
        outdated = [OUTDATED] if told_section.is_outdated else []
        dated = document.occurred_at or _date_in(section.heading_path) or told
        at = occurred_at(dated, document.uri, section.clock, document.modified_at)
        title = section.title or parsed.title or name or document.uri
        drafts.append(
            Draft(
                id=_section_key(document, section),
                agent=document.agent,
                content=section.content,
                title=title[:_MOST_TITLE_CHARACTERS],
                kind=kind,
                type=type_of(kind, document.uri),
                occurred_at=at.moment,
                is_dated=at.is_dated,
                scope=document.scope or parsed.scope,
                heading_path=_headings_above(parsed, section),
                search_headings=_search_headings(parsed, section, name),
                tags=tuple(dict.fromkeys([*parsed.tags, *section.tags, *outdated])),
                concepts=_concepts_of(parsed, section, name),
                source=Source(document.uri, section.line_start, section.line_end),
                source_kind=DOCUMENT,
                chain=_chain_of(document.uri, kind),
                position=position,
                **asdict(document.sender),
                screened=document.screened,
                trust_tier=QUARANTINED if document.is_quarantined else tier_of(origin),
            )
        )
    return drafts


def _date_of(document: DocumentText, parsed: Document) -> datetime | date | None:
    """Return the date that a text tells of itself; a line of it only says more than its name.

    A daily log may quote the date of an invoice in such a line, and is of its own day all the same.
    """
    told, named = parsed.date_in_text, date_of_file(document.uri)
    if parsed.date or not told or named is None:
        return parsed.date or told
    return told if isinstance(told, datetime) and told.date() == named.date() else None


def _headings_above(parsed: Document, section: Section) -> tuple[str, ...]:
    """Return the headings that lead to a section, below the title of a text without an H1.

    The name of a file is none of them: a file that is renamed says the same under the same ones.
    """
    path = section.heading_path
    is_told = bool(path) and (parsed.has_h1 or path[0] == parsed.title)
    return path if is_told or not parsed.title else (parsed.title, *path)


def _search_headings(parsed: Document, section: Section, name: str) -> tuple[str, ...]:
    """Return what a section is found by besides its text: a file's name and the headings in it.

    The name stands for the title of a text without one; a section without a heading is called so.
    """
    is_title = bool(name and section.title) and not parsed.has_h1 and not parsed.title
    return (*([name] if is_title else []), *section.deeper_headings)


def _concepts_of(parsed: Document, section: Section, name: str) -> tuple[str, ...]:
    """Return the names that a section gives by links and front matter, and that of its file.

    A name that no heading could give (`box`) would link by accident here too.
    """
    given = [*map(linked_name, section.links), *parsed.concepts, *parsed.aliases]
    return tuple(dict.fromkeys([*given, *([name] if file_name(name) else [])]))


def _date_in(heading_path: tuple[str, ...]) -> datetime | None:
    """Return the date that the nearest heading begins with: `## 2026-02-12 Chose Qwen3`."""
    dates = (
        date_of(heading.replace("/", "-")) or written_date(heading)
        for heading in reversed(heading_path)
    )
    return next((date for date in dates if date), None)


def _section_key(document: DocumentText, section: Section) -> str:
    path = section.heading_path
    place = (str(section.ordinal), str(section.part))
    if any(_HEADING_SEPARATOR in heading for heading in path):
        # More parts than any other key of a section has.
        return digest(document.agent, document.uri, "", *path, *place)
    return digest(document.agent, document.uri, _HEADING_SEPARATOR.join(path), *place)


def _chain_of(uri: str, kind: str) -> str:
    """Name the line of time a section belongs to: all daily logs of a folder are one line."""
    return f"daily:{uri.rpartition('/')[0]}" if kind == "daily_log" else f"source:{uri}"
