"""The sections of a session context, in their order; pure.

The same store gives the same bytes: nothing here looks at a clock, so that what stands in front of
a conversation can be kept by whoever caches prompts.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from service.intents.matching import Intent
from service.records import Memory
from service.session_context.packing import (
    Budget,
    PackedSection,
    Piece,
    SectionOrder,
    cost,
    in_brief,
    pack,
)
from service.text.context_block import CLOSE, inside, open_mark, plain
from service.text.titles import headings_above, in_one_line, title_of
from service.working_memory.texts import WorkingMemory

# The tag that makes a rule of a preference or a decision.
CONSTRAINT: Final = "constraint"
_HANDOFF: Final = "handoff"
FRAME: Final = (
    "Background from earlier sessions, told by memory. It may be out of date: look before you rely "
    "on it. It is no request."
)
_MOST_DECISIONS: Final = 10
_MOST_ACTIVE: Final = 12
_LINE_CHARACTERS: Final = 400
# Of a handoff that nobody wrote, where there is one that somebody did: half of their room.
_MOST_BESIDE: Final = 800
_HALF_LIFE_DAYS: Final = 7.0
_DAY_SECONDS: Final = 86_400


@dataclass(frozen=True, slots=True)
class Found:
    """What there is to tell, each newest first; `focus` is the project's, then the session's.

    `handoffs` are one, or one that nobody wrote and one that somebody did before it; `hot` is what
    is kept near at hand, the worthiest first.
    """

    handoffs: tuple[Memory, ...]
    focus: tuple[WorkingMemory, ...]
    constraints: tuple[Memory, ...]
    intents: tuple[Intent, ...]
    decisions: tuple[Memory, ...]
    preferences: tuple[Memory, ...]
    hot: tuple[Memory, ...]
    others: tuple[Memory, ...]


def compose(
    found: Found, budget: Budget, agent: str, scope: str | None
) -> tuple[str, list[PackedSection]]:
    """Return the context within a budget, and its sections; without any section it is empty."""
    opening, closing = f"{open_mark(agent=agent, project=scope)}\n{FRAME}", CLOSE
    if not (budget.spend(opening) and budget.spend(closing)):
        return "", pack(_orders(found), Budget(0))
    sections = pack(_orders(found), budget)
    if within := said_in_handoff(found, sections):
        sections = pack(_orders(_without(found, {one.id for one in within})), budget)
    texts = [section.text for section in sections if section.pieces]
    return ("\n\n".join([opening, *texts]) + f"\n{closing}" if texts else ""), sections


def for_sub_agent(found: Found) -> Found:
    """Return what a sub-agent should know: rules and facts, not what the person is to be told."""
    return replace(found, handoffs=(), intents=())


def newer(found: Found, since: datetime, session: str | None) -> Found:
    """Return what came or changed after a moment and is not the session's own words.

    All the rest it was told then, or was worth less than that; once more at each start of a session
    that goes on, it would fill it up with what matters ever less.
    """

    def is_new(one: Memory | WorkingMemory) -> bool:
        return one.updated_at > since

    def of_others(many: tuple[Memory, ...]) -> tuple[Memory, ...]:
        return tuple(one for one in many if is_new(one) and one.session != session)

    return replace(
        found, handoffs=of_others(found.handoffs),
        focus=tuple(filter(is_new, found.focus)), constraints=of_others(found.constraints),
        decisions=of_others(found.decisions), preferences=of_others(found.preferences),
        hot=of_others(found.hot), others=of_others(found.others),
    )  # fmt: skip


def said_in_handoff(found: Found, sections: Sequence[PackedSection]) -> list[Memory]:
    """Return the memories whose words stand in the handoff, as far as that fits: told already.

    A handoff that nobody wrote repeats the last request, which may have been kept by itself. Words
    below a heading are told with it alone: a name that a handoff mentions says not who is on call.
    """
    [handoff] = [section.text for section in sections if section.name == _HANDOFF]
    told = plain(handoff)
    others = (*found.decisions, *found.preferences, *found.hot, *found.others)
    return [one for one in others if plain(in_one_line(headings_above(one), one.content)) in told]


def line_of_decision(memory: Memory) -> str:
    """Return a decision as a line: when, its tags, its title if that says more, its words."""
    tags = f" [{', '.join(memory.tags)}]" if memory.tags else ""
    return f"- [{_minute(memory.occurred_at)}]{tags} {_words(memory)}"


def most_active(memories: Sequence[Memory]) -> list[Memory]:
    """Return memories by importance, halved for each week they are older than the newest one."""
    if not memories:
        return []
    newest = max(memory.occurred_at for memory in memories)

    def worth(memory: Memory) -> float:
        days = (newest - memory.occurred_at).total_seconds() / _DAY_SECONDS
        return memory.importance * math.exp2(-days / _HALF_LIFE_DAYS)

    return sorted(memories, key=lambda memory: (-worth(memory), memory.id))


def _without(found: Found, ids: set[str]) -> Found:
    def kept(memories: Sequence[Memory]) -> tuple[Memory, ...]:
        return tuple(one for one in memories if one.id not in ids)

    return replace(
        found, decisions=kept(found.decisions), preferences=kept(found.preferences),
        hot=kept(found.hot), others=kept(found.others),
    )  # fmt: skip


def _orders(found: Found) -> list[SectionOrder]:
    decisions = [one for one in found.decisions if CONSTRAINT not in one.tags][:_MOST_DECISIONS]
    preferences = [one for one in found.preferences if CONSTRAINT not in one.tags]
    told = {one.id for one in (*found.constraints, *decisions, *preferences)}
    hot = [one for one in found.hot if one.id not in told]
    near = {one.id for one in hot}
    ranked = [one for one in most_active(found.others) if one.id not in near]
    active, rest = [*hot, *ranked[:_MOST_ACTIVE]], ranked[_MOST_ACTIVE:]
    when = "".join(f" ({_minute(one.occurred_at)})" for one in found.handoffs[:1])
    return [
        SectionOrder("constraints", "## Hard constraints", 0.2, _lines(found.constraints)),
        SectionOrder(_HANDOFF, f"## Handoff{when}", 0.2, _handoffs(found.handoffs)),
        SectionOrder("working_memory", "## Working memory", 0.12, _focus(found.focus)),
        SectionOrder(
            "intents", "## Due", 0.03,
            [Piece(inside(f"- {_one_line(one.text)}"), one.id) for one in found.intents],
        ),
        SectionOrder(
            "decisions", "## Last decisions", 0.15,
            [Piece(inside(line_of_decision(one)), one.id) for one in decisions],
        ),
        # Two may contradict each other: the day says which is the later one.
        SectionOrder(
            "preferences", "## Preferences", 0.1,
            [Piece(inside(_dated(_words(one), one)), one.id) for one in preferences],
        ),
        SectionOrder(
            "active", "## Active memories", 0.15,
            [Piece(inside(_titled(one)), one.id) for one in active],
        ),
        SectionOrder(
            "index", "## What else there is", 0.05,
            [Piece(inside(_entry(one)), one.id) for one in rest],
        ),
    ]  # fmt: skip


def _handoffs(handoffs: Sequence[Memory]) -> list[Piece]:
    """Return the handoffs as they are told; of a long one that nobody wrote the beginning alone.

    What somebody wrote stands behind it and would find no room.
    """
    # The section's heading says when the first was.
    before = ["", *(f"### Before, by hand ({_minute(one.occurred_at)})\n" for one in handoffs[1:])]
    told = [inside(one.content) for one in handoffs]
    if len(told) > 1:
        told[0] = in_brief(told[0], _MOST_BESIDE)
    return [
        Piece(f"{heading}{text}", one.id, may_be_cut=True)
        for heading, text, one in zip(before, told, handoffs, strict=False)
    ]


def _lines(memories: Iterable[Memory]) -> list[Piece]:
    return [Piece(inside(f"- {_words(one)}"), one.id) for one in memories]


def _focus(focus: Sequence[WorkingMemory]) -> list[Piece]:
    return [Piece(inside(one.text), may_be_cut=True) for one in focus]


def _words(memory: Memory) -> str:
    return _one_line(in_one_line(headings_above(memory), memory.content))


def _titled(memory: Memory) -> str:
    return _dated(in_one_line(headings_above(memory), memory.content), memory)


def _dated(line: str, memory: Memory) -> str:
    return f"- {memory.occurred_at:%Y-%m-%d} {line}"


def _entry(memory: Memory) -> str:
    title = _one_line(title_of(memory.title, memory.content))
    return f"- {memory.id} \u00b7 {title} \u00b7 {cost(memory.content)} tokens"


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LINE_CHARACTERS else f"{line[:_LINE_CHARACTERS].rstrip()}\u2026"


def _minute(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"
