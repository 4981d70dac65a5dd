"""What a memory's text says, piece by piece: sentences, list items, table rows and code."""

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from service.consolidate.summary.sentence_repair import whole_sentences
from service.text.blocks import Block, read_blocks
from service.text.clocks import CLOCK
from service.text.fences import closes_fence, fence_of

# A list item that is longer is told by sentence, a sentence that is longer by slices.
_LONGEST_CHARACTERS: Final = 1_000
# As many lines of code as are read at a glance: enough for a command with its answer.
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
_TELLING: Final = re.compile(r"[^\W_]|[\u2190-\u2bff\U0001f000-\U0001faff]")
# A line that opens an entry of its own, though no blank line parts it from the one above: a time,
# a day, an emoji, a speaker or label; or one behind a hard line break.
_ENTRY: Final = re.compile(
    rf"\n(?=\s*(?:[\[(]?{CLOCK}\b|\d{{4}}-\d{{2}}-\d{{2}}\b|[\u2600-\u27bf\U0001f300-\U0001faff]"
    r"|[*_]{0,2}[^\W\d_][\w.-]{1,20}(?: [\w.-]{1,20})?[*_]{0,2}[:\uff1a][*_]{0,2}\s))"
    r"|(?:  |\\)\n"
)


@dataclass(frozen=True, slots=True)
class Passage:
    """One piece of a text that can stand alone.

    `text` is one line with single blanks, without the mark of a list item; code keeps its lines
    between fences. `label` is what it stands under: a heading, or the line with a colon in front
    of its list. Done are ticked boxes and what begins with ✅ or 🚀; an open box keeps `[ ]`.
    """

    text: str
    is_done: bool = False
    is_code: bool = False
    label: str = ""


@dataclass(frozen=True, slots=True)
class _Place:
    """A block, how many list items and quotes it stands in, and what it stands under."""

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
    found: list[Passage] = []
    waiting = _placed(blocks, _Place(Block("", 0, 0), label), lines)
    while waiting:
        place = waiting.pop()
        if place.block.children:
            waiting += _placed(place.block.children, place, lines)
        elif place.block.kind in {"fence", "code_block"}:
            found += _code(place, lines)
        else:
            found += _prose(place, lines)
    return found


def _paragraphs(lines: Sequence[str]) -> Iterator[Block]:
    start = 0
    for at, line in enumerate([*lines, ""]):
        if not line.strip(" \t"):
            if at > start:
                yield Block("paragraph", start, at)
            start = at + 1


def _placed(blocks: Sequence[Block], above: _Place, lines: Sequence[str]) -> list[_Place]:
    """Return the places of neighbouring blocks, the last first."""
    items = above.items + (above.block.kind == "list_item")
    quotes = above.quotes + (above.block.kind == "blockquote")
    heading = intro = above.label
    placed: list[_Place] = []
    for block in blocks:
        is_heading = block.kind == "heading"
        label = intro if block.kind in _LISTS else above.label if is_heading else heading
        placed.append(_Place(block, label, items, quotes))
        heading = block.text if is_heading else heading
        intro = heading
        if block.kind == "paragraph" and lines[block.line_end - 1].rstrip(" *_").endswith(_COLONS):
            last_line = _bare(lines[block.line_end - 1], placed[-1])
            intro = whole_sentences(last_line)[-1]
    return placed[::-1]


def _bare_lines(place: _Place, lines: Sequence[str]) -> list[str]:
    first, end = place.block.line_start, place.block.line_end
    return [_bare(lines[at], place, is_first=at == first) for at in range(first, end)]


def _bare(line: str, place: _Place, *, is_first: bool = True) -> str:
    """Return a line without the marks of the items and quotes that it stands in."""
    marks = place.quotes + (place.items if is_first else 0)
    for _ in range(marks):
        mark = _QUOTE_MARK.match(line) or (_ITEM_MARK.match(line) if is_first else None)
        if mark is None:
            break
        line = line[mark.end() :]
    return line


def _prose(place: _Place, lines: Sequence[str]) -> Iterator[Passage]:
    for piece in _pieces(_bare_lines(place, lines), place):
        told = " ".join(piece.split())
        for text in _slices(told):
            if _TELLING.search(_BOX.sub("", text)):
                yield Passage(text, is_done=_is_done(text), label=place.label)


def _pieces(texts: Sequence[str], place: _Place) -> Iterator[str]:
    kind = place.block.kind
    whole = "\n".join(texts)
    if kind == "heading":
        yield place.block.text
    elif kind == "table":
        for row in texts:
            if _TELLING.search(row):
                yield row.strip().removeprefix("|").removesuffix("|")
    elif kind == "html_block" and not _TELLING.search(_HTML_TAG.sub("", whole)):
        return
    elif place.items and len(whole) <= _LONGEST_CHARACTERS:
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


def _code(place: _Place, lines: Sequence[str]) -> Iterator[Passage]:
    texts = _bare_lines(place, lines)
    opening = fence = ""
    if place.block.kind == "fence":
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
        if _TELLING.search("\n".join(code)):
            told = "\n".join([opening, *code, fence])
            yield Passage(told, is_code=True, label=place.label)
