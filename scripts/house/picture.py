"""The picture of the rooms as SVG: the same text for the same code.

A box is a room with its sub-rooms in it; it stands one row above the highest room it imports. An
arrow is an import that no way over other rooms explains.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import Final

from scripts.house.rooms import PURE, ROOMS, Module, room_imports

Edges = Mapping[str, frozenset[str]]

_WIDTH: Final = 980
_ROW_GAP, _BOX_GAP, _BOX_HEIGHT, _CHIP_HEIGHT = 34, 18, 30, 24
# Of the sans-serif fonts that browsers choose, at 14 px; a little too wide is good.
_NAME_PX: Final = 8.2
_SWEEPS: Final = 8

_STYLE: Final = """
text { font-family: system-ui, sans-serif; fill: #1f2328; text-anchor: middle }
.paper { fill: #ffffff } .package { font-size: 17px; font-weight: 700; text-anchor: start }
.name { font-size: 14px; font-weight: 600 }
.legend { font-size: 12px; text-anchor: start }
.room { fill: #eef1f5; stroke: #8c959f } .pure { fill: #d2f0dc; stroke: #3f9e62 }
.arrow { fill: none; stroke: #8c959f; stroke-width: 1.2 } .head { fill: #8c959f }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .paper { fill: #0d1117 } .small { fill: #a5b0bb }
.room { fill: #212830; stroke: #66707b } .pure { fill: #12402a; stroke: #3fa565 }
.arrow { stroke: #66707b } .head { fill: #66707b } }
"""


@dataclass(slots=True)
class Box:
    """A room in the picture, or with `parts` one that has others in it; pixels."""

    name: str
    is_pure: bool
    parts: list["Box"] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0

    @property
    def width(self) -> float:
        """As wide as its words, or as its parts side by side."""
        words = len(self.name) * _NAME_PX + 20
        parts = sum(part.width for part in self.parts) + 8 * (len(self.parts) + 1)
        return max(words, parts if self.parts else 0)

    @property
    def height(self) -> float:
        """Higher where it has parts."""
        return _BOX_HEIGHT + (_CHIP_HEIGHT + 12 if self.parts else 0)

    @property
    def middle(self) -> float:
        """Where arrows begin and end."""
        return self.x + self.width / 2


def draw(modules: Sequence[Module]) -> str:
    """Return the picture of all packages, the last one of the table on the ground."""
    imports = room_imports(list(modules))
    body, top = _legend(), 50.0
    for package in ROOMS:
        boxes, edges = _boxes(package), _edges(package, imports)
        rows = _ordered(_rows(edges, boxes), edges)
        body.append(f'<text class="package" x="20" y="{top + 16:.0f}">{package}</text>')
        top = _place(rows, boxes, top + 30)
        direct = _reduced(edges)
        body += [_arrow(boxes[a], boxes[b]) for a in sorted(direct) for b in sorted(direct[a])]
        body += [line for row in reversed(rows) for name in row for line in _drawn(boxes[name])]
        top += 30
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {top:.0f}">'
    paper = f'<rect class="paper" width="{_WIDTH}" height="{top:.0f}"/>'
    return "\n".join([head, f"<style>{_STYLE}</style>", _HEAD, paper, *body, "</svg>\n"])


_HEAD: Final = (
    '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
    'orient="auto"><path class="head" d="M0 0L8 4L0 8z"/></marker></defs>'
)


_RULE: Final = "Imports lead down. One that follows from others is not drawn."


def _legend() -> list[str]:
    return [
        '<rect class="pure" x="20" y="16" width="22" height="16" rx="4"/>',
        '<text class="legend" x="50" y="29">pure: no I/O</text>',
        '<rect class="room" x="150" y="16" width="22" height="16" rx="4"/>',
        '<text class="legend" x="180" y="29">may do I/O</text>',
        f'<text class="legend" x="280" y="29">{_RULE}</text>',
    ]


def _boxes(package: str) -> dict[str, Box]:
    """Return the rooms of a package by name; sub-rooms lie in theirs."""
    names = [room.name for line in ROOMS[package] for room in line]
    boxes = {n: _box(f"{package}.{n}") for n in sorted(names, key=lambda n: "." in n)}
    for name in [name for name in boxes if "." in name]:
        boxes[name.partition(".")[0]].parts.append(boxes.pop(name))
    return boxes


def _box(room: str) -> Box:
    return Box(room.rpartition(".")[2], room in PURE)


def _edges(package: str, imports: Mapping[tuple[str, str], int]) -> Edges:
    """Return what each room imports; sub-rooms count as theirs."""
    pairs = {(_outer(a), _outer(b)) for a, b in imports if a.startswith(f"{package}.")}
    rooms = {room.name.partition(".")[0] for line in ROOMS[package] for room in line}
    return {a: frozenset(b for x, b in pairs if x == a and b in rooms - {a}) for a in rooms}


def _outer(room: str) -> str:
    return room.split(".")[1]


def _rows(edges: Edges, boxes: Iterable[str]) -> list[list[str]]:
    """Return the rooms by height, the ground first."""
    heights: dict[str, int] = {}

    def height(name: str) -> int:
        if name not in heights:
            heights[name] = 1 + max((height(below) for below in edges[name]), default=-1)
        return heights[name]

    rows: list[list[str]] = [[] for _ in range(1 + max(height(name) for name in boxes))]
    for name in boxes:
        rows[height(name)].append(name)
    return rows


def _reduced(edges: Edges) -> Edges:
    """Return the edges that no longer way explains."""
    reached: dict[str, frozenset[str]] = {}

    def reach(name: str) -> frozenset[str]:
        if name not in reached:
            reached[name] = edges[name].union(*(reach(below) for below in edges[name]))
        return reached[name]

    return {a: below - frozenset().union(*(reach(b) for b in below)) for a, below in edges.items()}


def _ordered(rows: list[list[str]], edges: Edges) -> list[list[str]]:
    """Order each row so that arrows cross seldom: by the mean place of what a room is tied to."""
    direct = _reduced(edges)
    tied = {a: direct[a] | {b for b in direct if a in direct[b]} for a in direct}
    for _ in range(_SWEEPS):
        place = {n: (i + 0.5) / len(row) for row in rows for i, n in enumerate(row)}
        for row in rows:
            means = {n: fsum(place[t] for t in tied[n]) / max(len(tied[n]), 1) for n in row}
            row.sort(key=lambda n: (means[n], n))
            place |= {n: (i + 0.5) / len(row) for i, n in enumerate(row)}
    return rows


def _place(rows: Sequence[Sequence[str]], boxes: Mapping[str, Box], top: float) -> float:
    """Give every box its place, the last row on top; returns where the ground ends."""
    for row in reversed(rows):
        height = max(boxes[name].height for name in row)
        free = _WIDTH - sum(boxes[name].width for name in row)
        gap = max(min(free / (len(row) + 1), 90), _BOX_GAP)
        x = (free - gap * (len(row) - 1)) / 2
        for name in row:
            box = boxes[name]
            box.x, box.y = x, top + (height - box.height) / 2
            x += box.width + gap
        top += height + _ROW_GAP
    return top - _ROW_GAP


def _arrow(above: Box, below: Box) -> str:
    start, end = above.y + above.height, below.y - 1
    bend = max(18.0, (end - start) * 0.45)
    return (
        f'<path class="arrow" marker-end="url(#head)" d="M{above.middle:.0f} {start:.0f}'
        f"C{above.middle:.0f} {start + bend:.0f} {below.middle:.0f} {end - bend:.0f} "
        f'{below.middle:.0f} {end:.0f}"/>'
    )


def _drawn(box: Box, height: float | None = None) -> list[str]:
    """Return a box and what lies in it."""
    kind = "pure" if box.is_pure else "room"
    size = f'width="{box.width:.0f}" height="{height or box.height:.0f}"'
    lines = [
        f'<rect class="{kind}" x="{box.x:.0f}" y="{box.y:.0f}" {size} rx="7"/>',
        f'<text class="name" x="{box.middle:.0f}" y="{box.y + 20:.0f}">{box.name}</text>',
    ]
    x = box.middle - (sum(part.width for part in box.parts) + 8 * (len(box.parts) - 1)) / 2
    for part in box.parts:
        part.x, part.y = x, box.y + _BOX_HEIGHT - 2
        lines += _drawn(part, _CHIP_HEIGHT + 4)
        x += part.width + 8
    return lines
