"""A look back over some time: what recurs, what grows, what turned, and what belongs near at hand.

No model is asked. What is not trusted is no candidate, so that nothing of it is promoted.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from service.drafts.ids import digest
from service.fixes.fixes import find_fix
from service.index.engine import Engine
from service.records import Filters, Memory
from service.recurrences.recurrences import Recurrence, list_recurrences
from service.reflect.choosing import (
    Candidate,
    Contradiction,
    Rising,
    choose,
    contradictions,
    counted,
    rising,
)
from service.sessions.evidence import evidence_of
from service.store.database import Database, record
from service.store.queries import load_query
from service.worth import Evidence, Told, worth_of

CONCEPTS_BETWEEN: Final = load_query(__package__, "concepts_between")
CONCEPT_NAMES: Final = load_query(__package__, "concept_names")
HOT: Final = load_query(__package__, "hot")
REPLACE_HOT: Final = load_query(__package__, "replace_hot")

# As in a session's context: nobody else's words are kept near at hand.
_ORIGINS: Final = ("owner", "agent", "system")
_TRUST: Final = ("trusted",)
_RULES: Final = ("preference", "decision", "fact")
_OTHERS: Final = ("note", "entity")
_MOST_RULES: Final = 400
_MOST_OTHERS: Final = 400
_MOST_MEMORIES: Final = 20_000
_PERIODS_BEFORE: Final = 4
_LEAST_SESSIONS: Final = 2
_MARKED: Final = 0.5
_SECOND: Final = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Period:
    """Whose time is looked back on: that of an agent, of a project and of none, between moments."""

    agent: str
    scope: str | None
    since: datetime
    until: datetime

    @property
    def scopes(self) -> tuple[str, ...]:
        """The project's scope and none, as tables beside the memories have them."""
        return (self.scope, "") if self.scope else ("",)


@dataclass(frozen=True, slots=True)
class RecurringError:
    """An error that came up in several sessions, and the memory that tells its fix."""

    error: Recurrence
    fix: str | None


@dataclass(frozen=True, slots=True)
class HotEntry:
    """A memory that is near at hand, since when and why; None of one that is so no more."""

    id: str
    memory: Memory | None
    why: str
    score: float
    promoted_at: datetime


@dataclass(frozen=True, slots=True)
class Reflection:
    """What the look back found; `chosen` is what belongs near at hand, the worthiest first."""

    errors: list[RecurringError]
    repeated: list[tuple[Memory, int]]
    concepts: list[tuple[str, Rising]]
    contradictions: list[Contradiction]
    hot: list[HotEntry]
    chosen: list[Candidate]

    @property
    def promoted(self) -> list[Candidate]:
        """What comes in."""
        known = {one.id for one in self.hot}
        return [one for one in self.chosen if one.memory.id not in known]

    @property
    def demoted(self) -> list[HotEntry]:
        """What leaves."""
        kept = {one.memory.id for one in self.chosen}
        return [one for one in self.hot if one.id not in kept]


async def reflect(engine: Engine, db: Database, period: Period, max_tokens: int) -> Reflection:
    """Look back over a period; changes nothing."""
    asked = Filters((period.agent,), project=period.scope or "", trust=_TRUST, origins=_ORIGINS)
    rules = await _latest(engine, replace(asked, kinds=_RULES), _MOST_RULES)
    others = await _latest(engine, replace(asked, kinds=_OTHERS), _MOST_OTHERS)
    said = {
        one.key: one.sessions
        for one in await list_recurrences(
            db, period.agent, period.scopes, "statement", period.since, _LEAST_SESSIONS
        )
    }
    hot = await read_hot(engine, db, period.agent, period.scope)
    known = {one.id: one for one in (*rules, *others)}
    known |= {one.id: one.memory for one in hot if one.memory}
    missing = [key for key in said if key not in known]
    known |= await _fetch(engine, asked, missing)
    chosen = choose(await _candidates(db, period.agent, known, said, period.until), max_tokens)
    decisions = [one for one in rules if one.kind == "decision"]
    return Reflection(
        await _errors(db, period),
        sorted(
            ((known[key], count) for key, count in said.items() if key in known),
            key=lambda one: (-one[1], one[0].id),
        ),
        await _rising(db, period), contradictions(decisions), hot, chosen,
    )  # fmt: skip


async def apply(db: Database, period: Period, found: Reflection) -> None:
    """Keep near at hand what the look back chose, in one transaction."""
    scope = period.scope or ""
    since = {one.id: one.promoted_at for one in found.hot}
    kept = [
        {
            "id": record("hot_memory", digest(period.agent, scope, one.memory.id)),
            "memory": one.memory.id, "why": one.why, "score": one.worth.score,
            "promoted_at": since.get(one.memory.id, period.until),
        }
        for one in found.chosen
    ]  # fmt: skip
    await db.run(REPLACE_HOT, kept=kept, agent=period.agent, scope=scope)


async def read_hot(engine: Engine, db: Database, agent: str, scope: str | None) -> list[HotEntry]:
    """Return what is near at hand; of what is archived, gone or not trusted any more no memory.

    Nor of what is of another project by now.
    """
    found: list[Mapping[str, Any]] = await db.run(HOT, agent=agent, scope=scope or "")
    # Two projects that became one may both have had it.
    rows = list({row["memory"]: row for row in reversed(found)}.values())[::-1]
    asked = Filters((agent,), project=scope or "", trust=_TRUST, origins=_ORIGINS)
    memories = await _fetch(engine, asked, [row["memory"] for row in rows])
    return [
        HotEntry(
            row["memory"], memories.get(row["memory"]), row["why"], row["score"], row["promoted_at"]
        )
        for row in rows
    ]


async def _candidates(
    db: Database, agent: str, known: Mapping[str, Memory], said: Mapping[str, int], now: datetime
) -> list[Candidate]:
    """Return what may be near at hand: marked, said again and again, or used by sessions."""
    evidence = await evidence_of(db, agent, sorted(known))
    candidates = []
    for key, memory in sorted(known.items()):
        proof = replace(evidence.get(key, Evidence()), said=said.get(key, 0))
        worth = worth_of(memory.content, Told.of(memory), proof, now)
        if why := _why(worth.explicit, proof):
            candidates.append(Candidate(memory, worth, why))
    return candidates


def _why(explicit: float, proof: Evidence) -> str:
    reasons = []
    if explicit >= _MARKED:
        reasons.append("marked as important")
    if proof.said >= _LEAST_SESSIONS:
        reasons.append(f"said in {proof.said} sessions")
    if proof.used >= _LEAST_SESSIONS:
        reasons.append(f"used in {proof.used} of {proof.given} sessions")
    return ", ".join(reasons)


async def _errors(db: Database, period: Period) -> list[RecurringError]:
    found = await list_recurrences(
        db, period.agent, period.scopes, "error", period.since, _LEAST_SESSIONS
    )
    errors = []
    for one in found:
        fix = await find_fix(db, period.agent, period.scope, one.text, one.command)
        errors.append(RecurringError(one, fix.id if fix else None))
    return errors


async def _rising(db: Database, period: Period) -> list[tuple[str, Rising]]:
    """Return concepts that gain weight, each with its name."""
    earlier = period.since - _PERIODS_BEFORE * (period.until - period.since)
    recent = await _mentions(db, period, period.since, period.until + _SECOND)
    before = await _mentions(db, period, earlier, period.since)
    found = rising(recent, before, _PERIODS_BEFORE)
    ids = [record("concept", [period.agent, one.slug]) for one in found]
    rows = await db.run(CONCEPT_NAMES, ids=ids) if ids else []
    names = {row["id"][1]: row["name"] for row in rows}
    return [(names.get(one.slug, one.slug), one) for one in found]


async def _mentions(db: Database, period: Period, since: datetime, until: datetime) -> Counter[str]:
    rows = await db.run(
        CONCEPTS_BETWEEN, agent=period.agent, scope=period.scope, since=since, until=until,
        limit=_MOST_MEMORIES,
    )  # fmt: skip
    return counted(rows)


async def _latest(engine: Engine, asked: Filters, limit: int) -> list[Memory]:
    keys = await engine.latest(asked, limit)
    found = await engine.fetch(keys, asked)
    return [found[key] for key in keys if key in found]


async def _fetch(engine: Engine, asked: Filters, keys: Sequence[str]) -> dict[str, Memory]:
    return dict(await engine.fetch(tuple(keys), asked)) if keys else {}
