"""Which lines fit a budget of tokens and characters; pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from service.text.tokens import estimate_prompt_tokens

_CUT: Final = "\u2026"
# A piece that is cut shorter than this says nothing.
_LEAST_CHARACTERS: Final = 40


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the context: `id` is the memory's; one that `may_be_cut` is, at a line's end."""

    text: str
    id: str | None = None
    may_be_cut: bool = False


@dataclass(frozen=True, slots=True)
class SectionOrder:
    """A section as it is wanted; `share` is its part of the budget, beside what others left."""

    name: str
    heading: str
    share: float
    pieces: Sequence[Piece]


@dataclass(frozen=True, slots=True)
class PackedSection:
    """A section as it fits; `left_out` counts the pieces that did not."""

    name: str
    heading: str
    pieces: tuple[Piece, ...]
    left_out: int

    @property
    def text(self) -> str:
        """Its heading and its pieces, each on lines of its own; empty without any."""
        return "\n".join([self.heading, *(one.text for one in self.pieces)]) if self.pieces else ""


@dataclass(slots=True)
class Budget:
    """What is left; a piece costs its characters and tokens, and those of the line's end."""

    tokens: int
    characters: int | None = None

    def part(self, share: float) -> "Budget":
        """Return a share of what there is."""
        characters = None if self.characters is None else int(self.characters * share)
        return Budget(int(self.tokens * share), characters)

    def add(self, other: "Budget") -> None:
        """Take in what another one has left."""
        self.tokens += other.tokens
        if self.characters is not None and other.characters is not None:
            self.characters += other.characters

    def fits(self, text: str) -> bool:
        """Return whether there is room for a text."""
        has_room = self.characters is None or len(text) + 1 <= self.characters
        return has_room and cost(text) <= self.tokens

    def spend(self, text: str) -> bool:
        """Take the room for a text; False, and nothing is taken, where it does not fit."""
        if not self.fits(text):
            return False
        self.tokens -= cost(text)
        if self.characters is not None:
            self.characters -= len(text) + 1
        return True


def cost(text: str) -> int:
    """Return the tokens of a text with the line's end behind it; never below those of a whole."""
    return estimate_prompt_tokens(text + "\n")


def pack(orders: Sequence[SectionOrder], budget: Budget) -> list[PackedSection]:
    """Return the sections as they fit, in their order; what one leaves the next ones may use."""
    packed: list[PackedSection] = []
    room, whole = budget.part(0), budget.part(1)
    for order in orders:
        room.add(whole.part(order.share))
        packed.append(_packed(order, room))
    return packed


def _packed(order: SectionOrder, room: Budget) -> PackedSection:
    taken: list[Piece] = []
    # The blank line in front of a section and its heading cost too, once there is a piece.
    opening = f"\n{order.heading}"
    for piece in order.pieces:
        text = piece.text if taken else f"{opening}\n{piece.text}"
        if room.spend(text):
            taken.append(piece)
        elif piece.may_be_cut and (short := _cut(piece, "" if taken else f"{opening}\n", room)):
            taken.append(short)
            break
    left_out = len(order.pieces) - len(taken)
    return PackedSection(order.name, order.heading, tuple(taken), left_out)


def in_brief(text: str, most: int) -> str:
    """Return a text of at most `most` characters and a mark, or the beginning of a longer one."""
    return text if len(text) <= most else f"{_whole_lines(text[:most])}{_CUT}"


def _whole_lines(text: str) -> str:
    """Return a beginning without its last line, where at least half of it is left."""
    line_end = text.rfind("\n")
    return text[:line_end] if line_end >= len(text) // 2 else text


def _cut(piece: Piece, opening: str, room: Budget) -> Piece | None:
    """Return the beginning of a piece that fits, and take the room for it; None of too little."""
    low, high = 0, len(piece.text)
    while low < high:
        middle = (low + high + 1) // 2
        if room.fits(f"{opening}{piece.text[:middle]}{_CUT}"):
            low = middle
        else:
            high = middle - 1
    kept = _whole_lines(piece.text[:low])
    if len(kept) < _LEAST_CHARACTERS or not room.spend(f"{opening}{kept}{_CUT}"):
        return None
    return Piece(f"{kept}{_CUT}", piece.id)
