"""The block structure of a markdown text: headings, paragraphs, lists, fences, by line."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

# Characters given to the parser at once: its tokens take up to 500 bytes a character, and where a
# top-level block begins does not depend on the ones before, so the windows add up to the same
# blocks. 60,000 is as fast as more.
_WINDOW_CHARACTERS = 60_000
# What the parser may look at in one text: a line costs a step at each level of quotes and lists it
# lies in, and one more for each "|" (a cell has three tokens). A step takes 10 to 20 µs; a megabyte
# of notes has some 20,000 to 120,000, one of "- a" 800,000, and lazy lines below ">>>>" 10 million.
MOST_STEPS: Final = 150_000
_LISTS = frozenset({"bullet_list", "ordered_list"})
_EMPTY_CELL = "–"
_CONTAINERS = _LISTS | {"list_item", "blockquote"}


class _TooManyStepsError(Exception):
    """The parser looked at more than it may."""


def _take_step(state: StateBlock, line: int, _end: int, _silent: bool) -> bool:
    """Count a look of the parser at a line, as a rule that never matches.

    The parser cannot be interrupted, but it asks its rules at each line of each level. Counting
    is linear and always gives the same for the same text, which a clock would not.
    """
    bars = state.src.count("|", state.bMarks[line], state.eMarks[line])
    state.env["steps"] -= 1 + bars
    if state.env["steps"] < 0:
        raise _TooManyStepsError
    return False


def _make_block_parser() -> MarkdownIt:
    # Link definitions stay text: nobody resolves links here, and text must not vanish.
    parser = MarkdownIt("commonmark").enable("table").disable("reference")
    parser.core.ruler.enableOnly(["block"])
    within = ["paragraph", "blockquote", "list"]
    parser.block.ruler.before("table", "step", _take_step, {"alt": within})
    return parser


_BLOCKS = _make_block_parser()


@dataclass(frozen=True, slots=True)
class Block:
    """A block, its kind in the parser's words; lines count from 0, `line_end` is the one after.

    Only lists, list items and quotes have children; only headings have a level. The text of a
    heading is what it says, that of a table its header row.
    """

    kind: str
    line_start: int
    line_end: int
    level: int = 0
    text: str = ""
    children: tuple["Block", ...] = ()


@dataclass(frozen=True, slots=True)
class Passage:
    """A run of text outside code that may hold a wikilink or a tag."""

    line_start: int
    line_end: int
    text: str


@dataclass(frozen=True, slots=True)
class Outline:
    """The top-level blocks of a text and its passages with marks, both in order.

    From the line `plain_from` on, the text has too much structure to be read: one block `plain`.
    """

    blocks: list[Block] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)
    plain_from: int | None = None


def read_blocks(
    lines: Sequence[str],
    window_characters: int = _WINDOW_CHARACTERS,
    most_steps: int = MOST_STEPS,
) -> Outline:
    """Read the blocks of a text given as lines without their ends.

    The text is parsed in windows; a list longer than one may come as several lists, cut between
    two items. The window in which `most_steps` run out, and all below it, is one block `plain`:
    its words are as good as any, while headings guessed behind what was not read might be code.
    """
    offsets = list(accumulate((len(line) + 1 for line in lines), initial=0))
    outline = Outline()
    start, size, steps = 0, window_characters, {"steps": most_steps}
    while start < len(lines):
        end = min(bisect_left(offsets, offsets[start] + size), len(lines))
        try:
            window = _parse(lines[start:end], start, steps)
        except _TooManyStepsError:
            outline.blocks.append(Block("plain", start, len(lines)))
            return replace(outline, plain_from=start)
        if end < len(lines):
            unfinished = _pop_unfinished(window.blocks, start)
            if unfinished == start:
                size *= 4  # one block fills the window: its end is still to be seen
                continue
            end = unfinished or end
        outline.blocks.extend(window.blocks)
        outline.passages.extend(item for item in window.passages if item.line_start < end)
        start, size = end, window_characters
    return outline


def _pop_unfinished(blocks: list[Block], start: int) -> int | None:
    """Take off the last block, or the last item of a list: it may go on behind the window."""
    if not blocks:
        return None
    last = blocks.pop()
    if len(blocks) == 0 and len(last.children) > 1 and last.kind in _LISTS:
        *whole, unfinished = last.children
        blocks.append(replace(last, line_end=unfinished.line_start, children=tuple(whole)))
        return unfinished.line_start
    return last.line_start if blocks else start


def _parse(lines: Sequence[str], first_line: int, steps: dict[str, int]) -> Outline:
    """Parse a window; what it takes is taken from `steps`. Raises _TooManyStepsError."""
    reader = _TokenReader(first_line)
    for token in _BLOCKS.parse("\n".join(lines), steps):
        reader.read(token)
    return Outline(reader.levels[0], reader.passages)


class _TokenReader:
    """Folds the parser's flat list of opening and closing tokens into blocks."""

    def __init__(self, first_line: int) -> None:
        self.levels: list[list[Block]] = [[]]
        self.passages: list[Passage] = []
        self._first_line = first_line
        self._opened: list[Token] = []
        self._inline_text = ""
        self._header_cells: list[str] = []

    def read(self, token: Token) -> None:
        """Take in the next token; `levels[0]` and `passages` have what is closed so far."""
        if token.nesting > 0:
            self._opened.append(token)
            self.levels.append([])
        elif token.nesting < 0:
            children = self.levels.pop()
            self._add(self._opened.pop(), children)
        elif token.type == "inline":
            self._note_passage(token)
            if self._opened and self._opened[-1].type == "th_open":
                self._header_cells.append(token.content)
        else:
            self._add(token, [])

    def _note_passage(self, token: Token) -> None:
        self._inline_text = token.content
        if token.map and ("[[" in token.content or "#" in token.content):
            start, end = token.map
            passage = Passage(start + self._first_line, end + self._first_line, token.content)
            self.passages.append(passage)

    def _add(self, token: Token, children: list[Block]) -> None:
        if not token.map:
            return
        kind = token.type.removesuffix("_open")
        text = ""
        if kind == "heading":
            text = self._inline_text
        elif kind == "table":
            text, self._header_cells = _header_of(self._header_cells), []
        block = Block(
            kind,
            token.map[0] + self._first_line,
            token.map[1] + self._first_line,
            level=int(token.tag[1:]) if kind == "heading" else 0,
            text=text,
            children=tuple(children) if kind in _CONTAINERS else (),
        )
        self.levels[-1].append(block)


def _header_of(cells: Sequence[str]) -> str:
    """Return a header row as one line; an empty cell keeps its place, unless all behind it are."""
    row = " | ".join(cell or _EMPTY_CELL for cell in cells)
    return row.rstrip(f" |{_EMPTY_CELL}")
