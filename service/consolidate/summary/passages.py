"""A memory's text cut into passages: sentences, list items, table rows and code."""

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from service.consolidate.summary.sentence_repair import whole_sentences
from service.text.blocks import Block, read_blocks
from service.text.clocks import CLOCK
from service.text.fences import closes_fence, fence_of

# A longer list item is cut into its sentences, a longer sentence into slices.
_LONGEST_CHARACTERS: Final = 1_000
# Enough for a command with its answer, and read at a glance.
_MOST_CODE_LINES: Final = 6
# Without one of these at the beginning of a line, or a table's bar, a text is paragraphs, and the
# parser, which takes most of the time, need not be asked.
_BLOCK_MARK: Final = re.compile(
    r"^(?:[ \t]*(?:[-+*#>|<`~=_]|\d{1,9}[.)])| {4}| {0,3}\t)|\|", re.MULTILINE
)
_LISTS: Final = frozenset({"bullet_list", "ordered_list"})
_COLONS: Final = (":", "\uff1a")
_ITEM_MARK: Final = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])(?=\s|$)\s*")
_QUOTE_MARK: Final = re.compile(r"\s*>\s?")
_BACKTICKS: Final = re.compile(r"`{3,}")
_BOX: Final = re.compile(r"\[[ xX]\](?=\s|$)\s*")
_HTML_TAG: Final = re.compile(r"<[^<>]*>")
_CLOCK: Final = re.compile(rf"{CLOCK}\b[\s\-–—:]*")
_DONE: Final = re.compile(r"\[[xX]\]\s|[✅☑✔🚀]")
# Letters, digits, arrows, symbols and emoji; rules, bars and dots say nothing.
_CONTENT: Final = re.compile(r"[^\W_]|[\u2190-\u2bff\U0001f000-\U0001faff]")
# A line that opens an entry of its own, though no blank line parts it from the one above: a time,
# a day, an emoji, a speaker or label; or one behind a hard line break. The look ahead ends with the
# line: past it, lines of U+00A0, which are no blank ones, take the square of their number.
_ENTRY: Final = re.compile(
    rf"\n(?=[^\S\n]*(?:[\[(]?{CLOCK}\b|\d{{4}}-\d{{2}}-\d{{2}}\b|[\u2600-\u27bf\U0001f300-\U0001faff]"
    r"|[*_]{0,2}[^\W\d_][\w.-]{1,20}(?: [\w.-]{1,20})?[*_]{0,2}[:\uff1a][*_]{0,2}\s))"
    r"|(?:  |\\)\n"
)


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a text that can stand alone in a summary.

    `text` is one line with single blanks, without the mark of a list item; code keeps its lines
    between fences. `label` is what it stands under: a heading, or the line with a colon in front
    of its list. Done are ticked boxes and what begins with ✅, ☑, ✔ or 🚀; an open box keeps `[ ]`.
    """

    text: str
    is_done: bool = False
    is_code: bool = False
    label: str = ""


@dataclass(frozen=True, slots=True)
class _NestedBlock:
    """A block, how many list items and quotes it stands in, and the label it stands under."""

    block: Block
    label: str
    items: int = 0
    quotes: int = 0


def read_passages(text: str, label: str = "") -> list[Passage]:
    """Return the passages of a markdown text in its order; `label` is the title above it.

    Code is cut into passages of six lines at most, each in a fence. What is longer than a thousand
    characters is cut at blanks. Rules, empty items and bare tags are left out.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    blocks = read_blocks(lines).blocks if _BLOCK_MARK.search(text) else list(_paragraphs(lines))
    passages: list[Passage] = []
    waiting = _children(blocks, _NestedBlock(Block("", 0, 0), label), lines)
    while waiting:
        nested = waiting.pop()
        if nested.block.children:
            waiting += _children(nested.block.children, nested, lines)
        elif nested.block.kind in {"fence", "code_block"}:
            passages += _code(nested, lines)
        else:
            passages += _prose(nested, lines)
    return passages


def _paragraphs(lines: Sequence[str]) -> Iterator[Block]:
    """Yield what the parser would for a text without any markdown, in a fraction of the time."""
    start = 0
    for at, line in enumerate([*lines, ""]):
        if not line.strip(" \t"):
            if at > start:
                yield Block("paragraph", start, at)
            start = at + 1


def _children(
    blocks: Sequence[Block], above: _NestedBlock, lines: Sequence[str]
) -> list[_NestedBlock]:
    """Return the children of a block with their labels, the last first.

    A heading labels what follows it, and a paragraph that ends in a colon the next list.
    """
    items = above.items + (above.block.kind == "list_item")
    quotes = above.quotes + (above.block.kind == "blockquote")
    heading = intro = above.label
    nested: list[_NestedBlock] = []
    for block in blocks:
        is_heading = block.kind == "heading"
        label = intro if block.kind in _LISTS else above.label if is_heading else heading
        nested.append(_NestedBlock(block, label, items, quotes))
        heading = block.text if is_heading else heading
        intro = heading
        if block.kind == "paragraph" and lines[block.line_end - 1].rstrip(" *_").endswith(_COLONS):
            last_line = _bare(lines[block.line_end - 1], nested[-1])
            intro = whole_sentences(last_line)[-1]
    return nested[::-1]


def _bare_lines(nested: _NestedBlock, lines: Sequence[str]) -> list[str]:
    first, end = nested.block.line_start, nested.block.line_end
    return [_bare(lines[at], nested, is_first=at == first) for at in range(first, end)]


def _bare(line: str, nested: _NestedBlock, *, is_first: bool = True) -> str:
    """Return a line without the marks of the items and quotes that it stands in."""
    marks = nested.quotes + (nested.items if is_first else 0)
    for _ in range(marks):
        mark = _QUOTE_MARK.match(line) or (_ITEM_MARK.match(line) if is_first else None)
        if mark is None:
            break
        line = line[mark.end() :]
    return line


def _prose(nested: _NestedBlock, lines: Sequence[str]) -> Iterator[Passage]:
    for piece in _pieces(_bare_lines(nested, lines), nested):
        for text in _slices(" ".join(piece.split())):
            if _CONTENT.search(_BOX.sub("", text)):
                yield Passage(text, is_done=_is_done(text), label=nested.label)


def _pieces(texts: Sequence[str], nested: _NestedBlock) -> Iterator[str]:
    kind = nested.block.kind
    whole = "\n".join(texts)
    if kind == "heading":
        yield nested.block.text
    elif kind == "table":
        for row in texts:
            if _CONTENT.search(row):
                yield row.strip().removeprefix("|").removesuffix("|")
    elif kind == "html_block" and not _CONTENT.search(_HTML_TAG.sub("", whole)):
        return
    elif nested.items and len(whole) <= _LONGEST_CHARACTERS:
        yield whole
    else:
        for entry in _ENTRY.split(whole) if "\n" in whole else [whole]:
            yield from whole_sentences(entry)


def _is_done(text: str) -> bool:
    clock = _CLOCK.match(text)
    return _DONE.match(text, clock.end() if clock else 0) is not None


def _slices(text: str) -> Iterator[str]:
    """Cut a text at the last blank that keeps each slice short enough; a long word anywhere."""
    start = 0
    while len(text) - start > _LONGEST_CHARACTERS:
        blank = text.rfind(" ", start, start + _LONGEST_CHARACTERS)
        end = blank if blank > start else start + _LONGEST_CHARACTERS
        yield text[start:end]
        start = end + (blank > start)
    yield text[start:]


def _code(nested: _NestedBlock, lines: Sequence[str]) -> Iterator[Passage]:
    texts = _bare_lines(nested, lines)
    opening = fence = ""
    if nested.block.kind == "fence":
        opening = texts.pop(0).strip()
        fence = fence_of(opening) or "```"
        if texts and closes_fence(texts[-1], fence):
            texts.pop()
    body = textwrap.dedent("\n".join(texts)).rstrip()
    if not fence:
        longest = max((len(run) for run in _BACKTICKS.findall(body)), default=2)
        opening = fence = "`" * (longest + 1)
    cut = [piece for line in body.split("\n") for piece in _slices(line.rstrip())]
    for at in range(0, len(cut), _MOST_CODE_LINES):
        code = cut[at : at + _MOST_CODE_LINES]
        if _CONTENT.search("\n".join(code)):
            text = "\n".join([opening, *code, fence])
            yield Passage(text, is_code=True, label=nested.label)
