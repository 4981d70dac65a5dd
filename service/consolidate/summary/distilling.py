"""Distilling: of a group of memories the few passages that tell most, and every decision; pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from service.consolidate.summary.density import facts
from service.consolidate.summary.novelty import Said, Saying, read_saying
from service.consolidate.summary.passages import read_passages
from service.names.names import heading_name
from service.names.slugs import slug_of
from service.text.tokens import estimate_tokens

# The mark of a list item, a date of three numbers with two hyphens, and a colon.
_DAY_TOKENS: Final = 7
# Fewer than three plain words ("Thanks!", "Server side:") or emoji alone are worth no line.
_LEAST_DENSITY: Final = 0.04
_SENTENCE_ENDS: Final = (".", "!", "?", "。", "！", "？", "…", "؟", "।")


@dataclass(frozen=True, slots=True)
class Told:
    """What distilling needs of one memory; `occurred_at` knows its time zone.

    The title is told where there is no text, and where it names something that the first passage
    does not. What stands under "Decision" is decided. `place` orders what is of one moment: the
    sections of a document by their lines.
    """

    id: str
    occurred_at: datetime
    content: str
    title: str = ""
    place: tuple[str, int] = ("", 0)


@dataclass(frozen=True, slots=True)
class Distilled:
    """The text of a summary, and for each memory the lines of it that it told.

    `content` is a markdown list in the order of time, one item a day: its date, then a line for
    each passage. Lines count from 1, ascending; each belongs to one memory, and a memory that gave
    none is not there.
    """

    content: str
    lines: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A saying, where it stands among all, and whose it is."""

    place: int
    teller: Told
    saying: Saying


def distil(told: Sequence[Told], budget_tokens: int, best: str | None = None) -> Distilled:
    """Write the summary of a group of memories, the same bytes for any order of them.

    Every decision is kept, whatever the budget, then the densest passage of each memory that told
    none, then the densest of all, as far as they fit; what has been said is said once. At least
    one passage is kept if there is any, and `content` is empty if there is none.

    `best` is the id of the best-formed of memories that say nearly the same: it is kept whole, and
    of the others only the decisions that it does not tell. ValueError if it is not among them.
    """
    if best is not None and all(teller.id != best for teller in told):
        raise ValueError(f"{best} is none of the memories to distil")
    pieces = _read_pieces(told)
    whole = [piece for piece in pieces if piece.teller.id == best]
    chosen = _choose_beside(whole, pieces) if whole else _choose(pieces, budget_tokens)
    return _write(sorted(chosen, key=_place))


def best_formed(told: Iterable[Told]) -> str:
    """Return the id of the memory whose text is best formed, of several that say nearly the same.

    The most facts first, for these must not be lost; then the most complete sentences; then the
    longest text, for what is left says the least twice; then the first in time and id.
    """
    return min(told, key=_form).id


def _form(teller: Told) -> tuple[int, int, int, datetime, str]:
    passages = read_passages(teller.content, teller.title)
    known = frozenset().union(*map(facts, passages))
    complete = sum(passage.text.endswith(_SENTENCE_ENDS) for passage in passages)
    return -len(known), -complete, -len(teller.content), teller.occurred_at, teller.id


def _read_pieces(told: Iterable[Told]) -> list[_Piece]:
    pieces: list[_Piece] = []
    for teller in sorted(told, key=lambda one: (one.occurred_at, one.place, one.id, one.content)):
        passages = read_passages(teller.content, teller.title) or read_passages(teller.title)
        for passage in passages:
            pieces.append(_Piece(len(pieces), teller, read_saying(passage)))
    return pieces


def _choose(pieces: Sequence[_Piece], budget_tokens: int) -> list[_Piece]:
    said = Said()
    ranked = sorted(pieces, key=_rank)
    kept = [p for p in ranked if p.saying.is_decision and said.take(p.saying)]
    others = [p for p in ranked if not p.saying.is_decision and said.take(p.saying)]
    heard = {piece.teller.id for piece in kept}
    opening = {piece.teller.id: _opening_tokens(piece.teller) for piece in pieces}
    left = budget_tokens - sum(map(_tokens, kept)) - sum(map(opening.__getitem__, heard))
    for piece in _spread(others, heard):
        if left <= 0 or piece.saying.density < _LEAST_DENSITY:
            continue
        tokens = _tokens(piece) + (0 if piece.teller.id in heard else opening[piece.teller.id])
        if tokens <= left:
            kept.append(piece)
            heard.add(piece.teller.id)
            left -= tokens
    return kept or others[:1]


def _tokens(piece: _Piece) -> int:
    return estimate_tokens(piece.saying.passage.text)


def _opening_tokens(teller: Told) -> int:
    """Return what the day and the title of a memory cost at most."""
    return _DAY_TOKENS + estimate_tokens(_telling_title(teller))


def _spread(ranked: Sequence[_Piece], heard: set[str]) -> list[_Piece]:
    """Put the best piece of each memory that was not heard yet in front of all others."""
    first: list[_Piece] = []
    later: list[_Piece] = []
    spread = set(heard)
    for piece in ranked:
        (later if piece.teller.id in spread else first).append(piece)
        spread.add(piece.teller.id)
    return first + later


def _choose_beside(whole: Sequence[_Piece], pieces: Sequence[_Piece]) -> list[_Piece]:
    said = Said()
    for piece in whole:
        said.take(piece.saying)
    covered = _Covered(piece.saying for piece in whole)
    others = [
        piece
        for piece in sorted(pieces, key=_rank)
        if piece.saying.is_decision
        and piece.teller.id != whole[0].teller.id
        and not covered.holds(piece.saying)
        and said.take(piece.saying)
    ]
    return [*whole, *others]


class _Covered:
    """The facts that the decisions of one memory tell."""

    def __init__(self, sayings: Iterable[Saying]) -> None:
        self._by_fact: defaultdict[str, set[tuple[frozenset[str], bool]]] = defaultdict(set)
        for saying in sayings:
            for fact in saying.facts if saying.is_decision else ():
                self._by_fact[fact].add((saying.facts, saying.is_negated))

    def holds(self, saying: Saying) -> bool:
        """Say whether one decision tells all these facts; one without any is never covered."""
        if not saying.facts:
            return False
        fewest = min((self._by_fact.get(fact, set()) for fact in saying.facts), key=len)
        return any(
            saying.facts <= told and saying.is_negated == negated for told, negated in fewest
        )


def _rank(piece: _Piece) -> tuple[float, int]:
    return -piece.saying.density, piece.place


def _place(piece: _Piece) -> int:
    return piece.place


def _write(pieces: Iterable[_Piece]) -> Distilled:
    written: list[str] = []
    told: defaultdict[str, list[int]] = defaultdict(list)
    last_day = ""
    for piece in pieces:
        day = f"- {piece.teller.occurred_at.astimezone(UTC):%Y-%m-%d}:"
        lines = _told_lines(piece, is_first=piece.teller.id not in told)
        start = len(written)
        if day != last_day and not piece.saying.passage.is_code:
            written.append(f"{day} {lines.pop(0)}")
        elif day != last_day:
            # A fence has its own line, or it would be none.
            written.append(day)
        written += [f"  {line}".rstrip() for line in lines]
        told[piece.teller.id] += range(start + 1, len(written) + 1)
        last_day = day
    return Distilled("\n".join(written), {id_: tuple(lines) for id_, lines in told.items()})


def _told_lines(piece: _Piece, *, is_first: bool) -> list[str]:
    text = piece.saying.passage.text
    name = _telling_title(piece.teller) if is_first and not piece.saying.passage.is_code else ""
    if name and slug_of(name) not in slug_of(text):
        text = f"{name}: {text}"
    return text.split("\n")


def _telling_title(teller: Told) -> str:
    """Return a title that names something, without the clock in front of it."""
    name = heading_name(teller.title, "title")
    return name.name if name else ""
