"""Extractive summaries: of a group's passages the densest, and every decision; pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from service.consolidate.summary.density import facts
from service.consolidate.summary.novelty import NoveltyFilter, ScoredPassage, score_passage
from service.consolidate.summary.originals import Original
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
class Extract:
    """The text of a summary, and which of its lines each original gave.

    `content` is a markdown list in the order of time, one item a day: its date, then a line for
    each passage. Lines count from 1, ascending; each belongs to one original, and an original that
    gave none is not there.
    """

    content: str
    lines: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class _Unit:
    """A passage that may be selected: its index among all of the group, and its original."""

    index: int
    original: Original
    passage: ScoredPassage

    @property
    def text(self) -> str:
        """The passage as it will stand in the summary."""
        return self.passage.passage.text

    @property
    def is_code(self) -> bool:
        """Whether its lines stand between fences."""
        return self.passage.passage.is_code


def extract(originals: Sequence[Original], budget_tokens: int, best: str | None = None) -> Extract:
    """Write the summary of a group of memories, the same bytes for any order of them.

    Every decision is kept, whatever the budget, then the densest passage of each memory that has
    no line yet, then the densest of all, as far as they fit; repetitions are left out. At least
    one passage is kept if there is any, and `content` is empty if there is none.

    `best` is the id of the best-formed of near-duplicates: it is kept whole, and of the others
    only the decisions that it does not hold. ValueError if it is not among them.
    """
    if best is not None and all(original.id != best for original in originals):
        raise ValueError(f"{best} is none of the memories to summarise")
    units = _read_units(originals)
    whole = [unit for unit in units if unit.original.id == best]
    selected = _select_beside(whole, units) if whole else _select(units, budget_tokens)
    return _render(sorted(selected, key=_by_index))


def best_formed(originals: Iterable[Original]) -> str:
    """Return the id of the memory whose text is best formed, of near-duplicates.

    The most facts first, for these must not be lost; then the most complete sentences; then the
    longest text, which leaves the least out; then the first in time and id.
    """
    return min(originals, key=_form).id


def _form(original: Original) -> tuple[int, int, int, datetime, str]:
    passages = read_passages(original.content, original.title)
    known = frozenset().union(*map(facts, passages))
    complete = sum(passage.text.endswith(_SENTENCE_ENDS) for passage in passages)
    return -len(known), -complete, -len(original.content), original.occurred_at, original.id


def _read_units(originals: Iterable[Original]) -> list[_Unit]:
    """Read the passages of all memories in their order; of one without text its title."""
    units: list[_Unit] = []
    for original in sorted(originals, key=lambda one: (one.order, one.content)):
        passages = read_passages(original.content, original.title)
        for passage in passages or read_passages(original.title):
            units.append(_Unit(len(units), original, score_passage(passage)))
    return units


def _select(units: Sequence[_Unit], budget_tokens: int) -> list[_Unit]:
    novelty = NoveltyFilter()
    ranked = sorted(units, key=_by_density)
    # Decisions are looked at first, so that no other passage makes one a repetition.
    selected = [u for u in ranked if u.passage.is_decision and novelty.is_new(u.passage)]
    others = [u for u in ranked if not u.passage.is_decision and novelty.is_new(u.passage)]
    originals = {unit.original.id: unit.original for unit in units}
    headers = {key: _header_tokens(original) for key, original in originals.items()}
    covered = {unit.original.id for unit in selected}
    left = budget_tokens - sum(map(_tokens, selected)) - sum(headers[key] for key in covered)
    for unit in _uncovered_first(others, covered):
        if left <= 0 or unit.passage.density < _LEAST_DENSITY:
            continue
        key = unit.original.id
        tokens = _tokens(unit) + (0 if key in covered else headers[key])
        if tokens <= left:
            selected.append(unit)
            covered.add(key)
            left -= tokens
    return selected or others[:1]


def _tokens(unit: _Unit) -> int:
    return estimate_tokens(unit.text)


def _header_tokens(original: Original) -> int:
    """Return what the day and the title in front of a memory's first line cost at most."""
    return _DAY_TOKENS + estimate_tokens(_naming_title(original))


def _uncovered_first(ranked: Sequence[_Unit], covered: Iterable[str]) -> list[_Unit]:
    """Put the best unit of each memory that is not covered yet in front of all others."""
    first: list[_Unit] = []
    later: list[_Unit] = []
    seen = set(covered)
    for unit in ranked:
        (later if unit.original.id in seen else first).append(unit)
        seen.add(unit.original.id)
    return first + later


def _select_beside(whole: Sequence[_Unit], units: Sequence[_Unit]) -> list[_Unit]:
    """Select all of the best-formed memory, and of the others the decisions that it lacks."""
    novelty = NoveltyFilter()
    for unit in whole:
        novelty.is_new(unit.passage)
    covered = _CoveredFacts(unit.passage for unit in whole)
    decisions = [
        unit
        for unit in sorted(units, key=_by_density)
        if unit.passage.is_decision
        and unit.original.id != whole[0].original.id
        and not covered.hold(unit.passage)
        and novelty.is_new(unit.passage)
    ]
    return [*whole, *decisions]


class _CoveredFacts:
    """The facts of each decision of one memory."""

    def __init__(self, passages: Iterable[ScoredPassage]) -> None:
        self._by_fact: defaultdict[str, set[tuple[frozenset[str], bool]]] = defaultdict(set)
        for passage in passages:
            for fact in passage.facts if passage.is_decision else ():
                self._by_fact[fact].add((passage.facts, passage.is_negated))

    def hold(self, passage: ScoredPassage) -> bool:
        """Say whether one decision, negated as this one, has all its facts; False without any."""
        if not passage.facts:
            return False
        fewest = min((self._by_fact.get(fact, set()) for fact in passage.facts), key=len)
        return any(
            passage.facts <= known and passage.is_negated == is_negated
            for known, is_negated in fewest
        )


def _by_density(unit: _Unit) -> tuple[float, int]:
    return -unit.passage.density, unit.index


def _by_index(unit: _Unit) -> int:
    return unit.index


def _render(units: Iterable[_Unit]) -> Extract:
    written: list[str] = []
    lines_of: defaultdict[str, list[int]] = defaultdict(list)
    last_day = ""
    for unit in units:
        day = f"- {unit.original.occurred_at.astimezone(UTC):%Y-%m-%d}:"
        lines = _unit_lines(unit, is_first=unit.original.id not in lines_of)
        start = len(written)
        if day != last_day and not unit.is_code:
            written.append(f"{day} {lines.pop(0)}")
        elif day != last_day:
            # Behind a date an opening fence would be none.
            written.append(day)
        written += [f"  {line}".rstrip() for line in lines]
        lines_of[unit.original.id] += range(start + 1, len(written) + 1)
        last_day = day
    return Extract("\n".join(written), {key: tuple(lines) for key, lines in lines_of.items()})


def _unit_lines(unit: _Unit, *, is_first: bool) -> list[str]:
    """Return the lines of a unit; the first of a memory names what it is about, if it does not."""
    text = unit.text
    name = _naming_title(unit.original) if is_first and not unit.is_code else ""
    if name and slug_of(name) not in slug_of(text):
        text = f"{name}: {text}"
    return text.split("\n")


def _naming_title(original: Original) -> str:
    """Return a title that names something, without the clock in front of it; else nothing."""
    name = heading_name(original.title, "title")
    return name.name if name else ""
