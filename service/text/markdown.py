"""Markdown notes: a text becomes a document of sections, each with its headings and lines."""

import datetime as dt
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from service.text.blocks import MOST_STEPS, Block, Outline, Passage, read_blocks
from service.text.clean import clean_text
from service.text.clocks import read_clock
from service.text.data_urls import without_data
from service.text.fences import closes_fence, fence_of
from service.text.front_matter import Preface, read_date_line, read_front_matter
from service.text.headings import headings_over, read_title
from service.text.marks import find_tags, find_wikilinks
from service.text.splitting import Body, Limits, Part, cut_body

_DEEPEST_LEVEL = 3
# Anything but white space and ASCII punctuation: a body of rules and bars alone says nothing.
_TEXT = re.compile(r"[^\s!-/:-@\[-`{-~]")


@dataclass(frozen=True, slots=True)
class Section:
    """The text below one heading, or one part of it when it is long.

    `heading_path` holds the headings from H1 down to this one, () before the first; `level` is 0
    there and `title` the document's. `ordinal` counts sections of equal path from 0; `part` counts
    the parts of one section from 0. `content` is markdown as written, without the heading line.
    `deeper_headings` are those below H3 that a part stands below and does not hold itself, then the
    header row of the table that it begins amid. Lines count from 1, both inclusive, in the
    original text, part 0 with its heading. `clock` is the time of day at the beginning of the
    heading or of the nearest one above.
    """

    heading_path: tuple[str, ...]
    level: int
    title: str
    content: str
    line_start: int
    line_end: int
    ordinal: int = 0
    part: int = 0
    parts: int = 1
    clock: dt.time | None = None
    deeper_headings: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed note: what its front matter says of it, its sections in order, and warnings.

    `title` is the front matter's, else the first H1, else empty; `has_h1` tells whether there is
    an H1, above the sections. `date` is the front matter's, `date_in_text` that of a line.
    """

    title: str = ""
    has_h1: bool = True
    tags: tuple[str, ...] = ()
    date: dt.datetime | dt.date | None = None
    date_in_text: dt.datetime | dt.date | None = None
    kind: str | None = None
    scope: str | None = None
    status: str = ""
    concepts: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class _Chapter:
    """A heading of level 1 to 3, or the start of the text, and the blocks below it."""

    path: tuple[str, ...] = ()
    level: int = 0
    title: str = ""
    clock: dt.time | None = None
    line_start: int = 0
    body_start: int = 0
    body_end: int = 0
    is_leaf: bool = False
    blocks: list[Block] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Marks:
    """The wikilinks and tags of one passage, each once, in order."""

    line_end: int
    links: dict[str, None]
    tags: dict[str, None]


@dataclass(frozen=True, slots=True)
class _Text:
    lines: Sequence[str]
    marks: Sequence[_Marks]
    mark_starts: Sequence[int]  # the line each begins at, ascending
    limits: Limits


def parse_markdown(
    text: str, max_tokens: int = 400, overlap_tokens: int = 60, max_sections: int = 4000
) -> Document:
    """Parse a note into sections of at most `max_tokens` (estimated), never raising on any text.

    H1, H2 and H3 outside fences, comments, quotes and lists begin sections; deeper headings are
    text. A heading with sub-headings but no text of its own is in their paths only; one with
    neither is a section with empty content, so that "## 14:30 Deployed v2" is not lost. A text
    of front matter only has no sections. See `cut_body` for how long sections are cut.

    What is too much is cut with a warning rather than refused: the beginning of a long log is worth
    remembering, and the document is stored whole, so that nothing is lost. Of more sections than
    `max_sections` the first are kept. Text of more structure than `blocks.MOST_STEPS` is plain
    from there on: its sections are cut by length, under the last heading above.
    """
    clean = clean_text(text)
    lines = without_data(clean.text).split("\n")
    preface = read_front_matter(lines)
    outline = read_blocks(_hide_preface(lines, preface))
    chapters = _find_chapters(outline, preface.line_count, len(lines))
    front = preface.front_matter
    title = front.title or next((c.title for c in chapters if c.level == 1), "")
    chapters[0].title = title
    marks = [_read_marks(passage) for passage in outline.passages]
    starts = [passage.line_start for passage in outline.passages]
    known = _Text(lines, marks, starts, Limits.clamp(max_tokens, overlap_tokens))
    every = _make_sections(known, chapters)
    sections = tuple(islice(every, max(1, max_sections)))
    return Document(
        title=title,
        has_h1=any(chapter.level == 1 for chapter in chapters),
        tags=front.tags,
        date=front.date,
        date_in_text=read_date_line(lines[preface.line_count :]),
        kind=front.kind,
        scope=front.scope,
        status=front.status,
        concepts=front.concepts,
        aliases=front.aliases,
        sections=sections,
        warnings=(
            *clean.warnings,
            *preface.warnings,
            *_warn_of_open_fence(lines, outline),
            *_warn_of_plain_text(outline),
            *_warn_of_cut(next(every, None), len(sections)),
        ),
    )


def _hide_preface(lines: Sequence[str], preface: Preface) -> list[str]:
    """Blank the lines that are no body, so that all others keep their numbers."""
    shown = [""] * preface.line_count + [*lines[preface.line_count :]]
    if preface.fence is not None:
        shown[preface.fence] = ""
    return shown


def _warn_of_open_fence(lines: Sequence[str], outline: Outline) -> list[str]:
    """Say when the text ends inside a fence: everything below its opening has become code."""
    if not outline.blocks or (last := outline.blocks[-1]).kind != "fence":
        return []
    inside = (line.strip() for line in reversed(lines[last.line_start + 1 :]))
    is_closed = closes_fence(next(filter(None, inside), ""), fence_of(lines[last.line_start]))
    return [] if is_closed else [f"line {last.line_start + 1}: the code fence is never closed"]


def _warn_of_plain_text(outline: Outline) -> list[str]:
    if outline.plain_from is None:
        return []
    told = (
        f"line {outline.plain_from + 1}: more lists, quotes, tables and lines than can be read of "
        f"one document ({MOST_STEPS:,} steps); from here on it is plain text, without headings, "
        "links and tags. Split the document."
    )
    return [told]


def _warn_of_cut(left: Section | None, kept: int) -> list[str]:
    """Say where memories end, if a section is left behind the kept ones."""
    if left is None:
        return []
    told = (
        f"line {left.line_start}: more than {kept:,} sections (MEMORY_MAX_DOCUMENT_SECTIONS); from "
        "here on the document is stored, but not remembered. Split the document."
    )
    return [told]


def _find_chapters(outline: Outline, body_start: int, line_count: int) -> list[_Chapter]:
    """Divide the blocks among the headings above them; the first chapter has no heading."""
    chapters = [_Chapter(line_start=body_start, body_start=body_start, body_end=line_count)]
    ancestors: list[_Chapter] = []
    for block in outline.blocks:
        title = read_title(block) if 0 < block.level <= _DEEPEST_LEVEL else ""
        if not title:
            chapters[-1].blocks.append(block)
            continue
        while ancestors and ancestors[-1].level >= block.level:
            ancestors.pop()
        above = ancestors[-1] if ancestors else chapters[0]
        chapter = _Chapter(
            path=(*above.path, title),
            level=block.level,
            title=title,
            clock=read_clock(title) or above.clock,
            line_start=block.line_start,
            body_start=block.line_end,
            body_end=line_count,
            is_leaf=True,
        )
        above.is_leaf = False
        chapters[-1].body_end = block.line_start
        chapters.append(chapter)
        ancestors.append(chapter)
    return chapters


def _make_sections(text: _Text, chapters: Sequence[_Chapter]) -> Iterator[Section]:
    seen: Counter[tuple[str, ...]] = Counter()
    for chapter in chapters:
        body = Body(text.lines, chapter.body_start, chapter.body_end, chapter.blocks)
        has_text = any(_TEXT.search(text.lines[i]) for i in range(body.line_start, body.line_end))
        if not has_text and not chapter.is_leaf:
            continue
        # Rules, bars and padding that a cut left alone say nothing either.
        parts = [part for part in cut_body(body, text.limits) if _TEXT.search(part.content)]
        if not parts:
            parts = [Part("", chapter.line_start, chapter.body_start)]
        over = headings_over(chapter.blocks, parts)
        for index, part in enumerate(parts):
            links, tags = _find_marks(text, chapter, part, is_cut=len(parts) > 1)
            yield Section(
                heading_path=chapter.path,
                level=chapter.level,
                title=chapter.title,
                content=part.content,
                line_start=1
                + (chapter.line_start if chapter.level and not index else part.line_start),
                line_end=part.line_end,
                ordinal=seen[chapter.path],
                part=index,
                parts=len(parts),
                clock=chapter.clock,
                deeper_headings=over[index],
                links=links,
                tags=tags,
            )
        seen[chapter.path] += 1


def _read_marks(passage: Passage) -> _Marks:
    links = dict.fromkeys(find_wikilinks(passage.text))
    return _Marks(passage.line_end, links, dict.fromkeys(find_tags(passage.text)))


def _find_marks(
    text: _Text, chapter: _Chapter, part: Part, *, is_cut: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Find the wikilinks and tags of a part; those of the heading belong to each part."""
    shown = _marks_between(text, chapter.line_start, chapter.body_start)
    body = _marks_between(text, part.line_start, part.line_end)
    if is_cut and body:
        # A cut paragraph is one passage: only what stands in this part is its own.
        own = _read_marks(Passage(part.line_start, part.line_end, part.content))
        links = {link: None for link in own.links if any(link in m.links for m in body)}
        tags = {tag: None for tag in own.tags if any(tag in m.tags for m in body)}
        body = [_Marks(part.line_end, links, tags)]
    shown = [*shown, *body]
    return (
        tuple(dict.fromkeys(link for marks in shown for link in marks.links)),
        tuple(dict.fromkeys(tag for marks in shown for tag in marks.tags)),
    )


def _marks_between(text: _Text, line_start: int, line_end: int) -> Sequence[_Marks]:
    first = bisect_left(text.mark_starts, line_start)
    while first and text.marks[first - 1].line_end > line_start:
        first -= 1
    return text.marks[first : bisect_left(text.mark_starts, line_end)]
