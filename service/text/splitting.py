"""Cutting a section's text into parts that an embedding model can take in."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from service.text.blocks import Block
from service.text.sentences import find_sentence_starts
from service.text.tokens import MOST_CHARACTERS_PER_TOKEN, estimate_tokens

_LINE_BEGIN: Final = re.compile(r"\n(?=.)", re.DOTALL)

_WORD = re.compile(r"\S+\s*|\s+")
_LEADING_BLANK = re.compile(r"(?:[^\S\n]*\n)+")


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a part may be, and how much of a cut paragraph the next part repeats."""

    max_tokens: int
    overlap_tokens: int

    @classmethod
    def clamp(cls, max_tokens: int, overlap_tokens: int) -> "Limits":
        """Make limits under which cutting goes forward: at least 1 token, overlap half of it."""
        most = max(1, max_tokens)
        return cls(most, max(0, min(overlap_tokens, most // 2)))


@dataclass(frozen=True, slots=True)
class Body:
    """The lines [line_start, line_end) of a document and the top-level blocks within them."""

    lines: Sequence[str]
    line_start: int
    line_end: int
    blocks: Sequence[Block]


@dataclass(frozen=True, slots=True)
class Part:
    """A run of text without blank lines at its ends; lines count from 0, the end is exclusive."""

    content: str
    line_start: int
    line_end: int


@dataclass(frozen=True, slots=True)
class _Unit:
    """Text that is not cut any more. One that continues a paragraph begins a part."""

    text: str
    line_start: int
    tokens: int
    is_heading: bool = False
    continues: bool = False


def cut_body(body: Body, limits: Limits) -> list[Part]:
    """Cut a body at the borders of its blocks into parts of at most `max_tokens`, if it is longer.

    Blocks are packed greedily. A list or quote above the limit is cut between its items, a
    paragraph at sentences, then lines, then words, with overlap; a table or HTML block at lines
    first. A fence is never cut: one above the limit makes a part above the limit. A heading
    stays with what follows it. Text of blank lines only gives no part.
    """
    whole = _join_lines(body.lines, body.line_start, body.line_end)
    if estimate_tokens(whole) <= limits.max_tokens:
        units = [[_Unit(whole, body.line_start, 0)]]
    else:
        units = _pack(_find_units(body, limits), limits.max_tokens)
    parts = (_make_part(packed) for packed in units)
    return [part for part in parts if part.content]


def _join_lines(lines: Sequence[str], start: int, end: int) -> str:
    return "\n".join(lines[start:end])


def _make_part(units: Sequence[_Unit]) -> Part:
    text = "\n".join(unit.text for unit in units).rstrip()
    blank = _LEADING_BLANK.match(text)
    content = text[blank.end() :] if blank else text
    start = units[0].line_start + (blank[0].count("\n") if blank else 0)
    return Part(content, start, start + content.count("\n") + 1)


def _pack(units: Iterator[_Unit], max_tokens: int) -> list[list[_Unit]]:
    packed: list[list[_Unit]] = []
    current: list[_Unit] = []
    size = 0
    for unit in units:
        if current and (unit.continues or size + unit.tokens > max_tokens):
            # Behind a heading there is room for what follows, or that is too long in any case.
            room = max_tokens - unit.tokens if unit.tokens <= max_tokens else max_tokens
            carried = _trailing_headings(current, room)
            packed.append(current[: len(current) - len(carried)])
            current, size = carried, sum(heading.tokens for heading in carried)
        current.append(unit)
        size += unit.tokens
    return [*packed, current]


def _trailing_headings(units: Sequence[_Unit], max_tokens: int) -> list[_Unit]:
    """Return the headings at the end that fit, unless they are all there is."""
    count = size = 0
    while count < len(units) and units[-1 - count].is_heading:
        size += units[-1 - count].tokens
        if size > max_tokens:
            break
        count += 1
    return [*units[len(units) - count :]] if count < len(units) else []


def _find_units(body: Body, limits: Limits) -> Iterator[_Unit]:
    """Yield the units of a body in order; together they cover each of its lines."""
    starts = [block.line_start for block in body.blocks]
    starts[:1] = [body.line_start]
    for block, start, end in zip(body.blocks, starts, [*starts[1:], body.line_end], strict=True):
        text = _join_lines(body.lines, start, end)
        tokens = estimate_tokens(text)
        if tokens <= limits.max_tokens or block.kind == "fence":
            yield _Unit(text, start, tokens, is_heading=block.kind == "heading")
        elif block.children:
            yield from _find_units(Body(body.lines, start, end, block.children), limits)
        else:
            yield from _cut_text(text, start, limits, by_line=block.kind != "paragraph")


def _cut_text(text: str, line_start: int, limits: Limits, *, by_line: bool) -> Iterator[_Unit]:
    first: list[_Cutter] = [find_sentence_starts, _find_line_starts]
    if by_line:
        first.reverse()
    # No character has more than one token: such a slice fits, with room for an overlap.
    slice_length = limits.max_tokens - limits.overlap_tokens
    last: list[_Cutter] = [_find_word_starts, partial(_find_slice_starts, slice_length)]
    atoms = list(_find_atoms(text, 0, limits.max_tokens, [*first, *last]))
    line, position = line_start, 0
    for start, end in _overlap_atoms(text, atoms, limits):
        line += text.count("\n", position, start)
        piece = text[start:end]
        yield _Unit(piece, line, estimate_tokens(piece), continues=start > position)
        position = start


_Atom = tuple[int, int]  # where it starts in the text, how many tokens it has
_Cutter = Callable[[str], Sequence[int]]


def _find_atoms(
    text: str, offset: int, max_tokens: int, cutters: Sequence[_Cutter]
) -> Iterator[_Atom]:
    """Yield the pieces of a text: whole sentences, and smaller only where one is too long."""
    tokens = estimate_tokens(text)
    if tokens <= max_tokens or not cutters:
        yield offset, tokens
        return
    starts = cutters[0](text)
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        yield from _find_atoms(text[start:end], offset + start, max_tokens, cutters[1:])


def _overlap_atoms(text: str, atoms: Sequence[_Atom], limits: Limits) -> Iterator[tuple[int, int]]:
    """Yield the spans of greedily packed atoms, each from the second on begun a little earlier."""
    starts = [start for start, _ in atoms]
    begin = size = 0
    for start, tokens in atoms:
        if size and size + tokens > limits.max_tokens:
            yield begin, start
            room = min(limits.overlap_tokens, limits.max_tokens - tokens)
            earlier = begin + _find_overlap(text[begin:start], room)
            sentence = starts[bisect_left(starts, earlier)]
            earlier = sentence if sentence < start else earlier
            # Slices of one word have more tokens than the whole: do not repeat all of it.
            begin = earlier if earlier > begin else start
            size = estimate_tokens(text[begin:start])
        size += tokens
    yield begin, len(text)


def _find_overlap(text: str, room: int) -> int:
    """Find where the last `room` tokens of a text begin, at a word if one fits."""
    tail = max(0, len(text) - room * MOST_CHARACTERS_PER_TOKEN)
    words = [match.start() for match in _WORD.finditer(text, tail)]
    fitting, size, end = len(text), 0, len(text)
    for start in reversed(words):
        size += estimate_tokens(text[start:end])
        if size > room:
            break
        fitting = end = start
    return fitting if fitting < len(text) else len(text) - room


def _find_line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in _LINE_BEGIN.finditer(text))]


def _find_word_starts(text: str) -> list[int]:
    return [match.start() for match in _WORD.finditer(text)]


def _find_slice_starts(length: int, text: str) -> range:
    return range(0, len(text), length)
