"""Headings as plain text, and those amid a section that its parts stand below."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

from markdown_it import MarkdownIt

from service.text.blocks import Block
from service.text.marks import read_heading_text
from service.text.splitting import Part

# A longer "heading" is a paragraph behind a stray "#"; as text it can be cut.
_MAX_HEADING_CHARACTERS = 500
# Deeper than any heading is.
_DEEPER: Final = 7
_INLINE_MARK = re.compile(r"[`*_\[\]<>\\&!~]")
# The inline parser's time grows with the square of these in one heading: 240 "![" took 6 ms, and a
# megabyte of such headings 13 s. A title has a few; one of more is shown as written.
_MOST_INLINE_MARKS = 64
_INLINE = MarkdownIt("commonmark")


def read_title(heading: Block) -> str:
    """Read a heading as plain text; empty if it is no title."""
    if len(heading.text) > _MAX_HEADING_CHARACTERS:
        return ""
    text = read_heading_text(heading.text)
    if 0 < sum(1 for _ in _INLINE_MARK.finditer(text)) <= _MOST_INLINE_MARKS:
        tokens = _INLINE.parseInline(text)[0].children or []
        text = "".join(" " if t.type.endswith("break") else t.content for t in tokens)
    return " ".join(text.split())


def headings_over(blocks: Sequence[Block], parts: Sequence[Part]) -> list[tuple[str, ...]]:
    """Return for each part the headings amid its section that it stands below, outermost first.

    The header row of a table is the last one of the parts that begin below it, amid the table.
    """
    headings = [block for block in blocks if block.level]
    tables = [*_tables_in(blocks)]
    starts = [table.line_start for table in tables]
    told, over, at = [], list[tuple[int, str]](), 0
    for part in parts:
        while at < len(headings) and headings[at].line_start < part.line_start:
            over = [one for one in over if one[0] < headings[at].level]
            over.append((headings[at].level, read_title(headings[at])))
            at += 1
        begins = at < len(headings) and headings[at].line_start == part.line_start
        shallower = headings[at].level if begins else _DEEPER
        above = [title for level, title in over if level < shallower]
        begun = bisect_left(starts, part.line_start)
        if begun and part.line_start < tables[begun - 1].line_end:
            above.append(read_title(tables[begun - 1]))
        told.append(tuple(title for title in above if title))
    return told


def _tables_in(blocks: Sequence[Block]) -> Iterator[Block]:
    for block in blocks:
        if block.kind == "table":
            yield block
        yield from _tables_in(block.children)
