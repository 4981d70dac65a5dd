"""Distilling: of a group of memories the few passages that tell most, and every decision; pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from service.consolidate.density import facts
from service.consolidate.passages import read_passages
from service.consolidate.sayings import Said, Saying, read_saying
from service.ingest.sizes import estimate_tokens

_SENTENCE_ENDS: Final = (".", "!", "?", "。", "！", "？", "…", "؟", "।")


@dataclass(frozen=True, slots=True)
class Told:
    """What distilling needs of one memory; `occurred_at` knows its time zone.

    The title is told only where there is no text. What stands under "Decision" is decided.
    """

    id: str
    occurred_at: datetime
    content: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Distilled:
    """The text of a summary, and for each memory the lines of it that it told.

    `content` is a markdown list in the order of time. Lines count from 1, ascending; each belongs
    to one memory, and a memory that gave none is not there.
    """

    content: str
    lines: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A saying, where it stands among all, whose it is, its lines and their estimated tokens."""

    place: int
    teller: Told
    saying: Saying
    lines: tuple[str, ...]
    tokens: int


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
    for teller in sorted(told, key=lambda one: (one.occurred_at, one.id, one.content)):
        text = teller.content if teller.content.strip() else teller.title
        day = teller.occurred_at.astimezone(UTC).date().isoformat()
        for passage in read_passages(text, teller.title):
            lines = _lines(day, passage.text)
            tokens = sum(map(estimate_tokens, lines))
            pieces.append(_Piece(len(pieces), teller, read_saying(passage), lines, tokens))
    return pieces


def _lines(day: str, text: str) -> tuple[str, ...]:
    if "\n" not in text:
        return (f"- {day}: {text}",)
    # A fence has its own line, or it would be none.
    return (f"- {day}:", *(f"  {line}".rstrip() for line in text.split("\n")))


def _choose(pieces: Sequence[_Piece], budget_tokens: int) -> list[_Piece]:
    said = Said()
    ranked = sorted(pieces, key=_rank)
    kept = [p for p in ranked if p.saying.is_decision and said.take(p.saying)]
    others = [p for p in ranked if not p.saying.is_decision and said.take(p.saying)]
    left = budget_tokens - sum(piece.tokens for piece in kept)
    for piece in _spread(others, {piece.teller.id for piece in kept}):
        if piece.tokens <= left:
            kept.append(piece)
            left -= piece.tokens
    return kept or others[:1]


def _spread(ranked: Sequence[_Piece], heard: set[str]) -> list[_Piece]:
    """Put the best piece of each memory that was not heard yet in front of all others."""
    first, later = [], []
    for piece in ranked:
        (later if piece.teller.id in heard else first).append(piece)
        heard.add(piece.teller.id)
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
    for piece in pieces:
        first = len(written) + 1
        written += piece.lines
        told[piece.teller.id] += range(first, len(written) + 1)
    return Distilled("\n".join(written), {id_: tuple(lines) for id_, lines in told.items()})
