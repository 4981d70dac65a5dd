"""A reflection and the hot memory as markdown; pure."""

from collections.abc import Iterable, Iterator

from service.recurrences.recurrences import MOST_SESSIONS
from service.reflect.choosing import Candidate
from service.reflect.reflecting import HotEntry, Reflection
from service.text.titles import title_of

_LINE_CHARACTERS = 200


def hot_text(hot: Iterable[HotEntry]) -> str:
    """Return what is near at hand as lines, as MEMORY.md has it; empty of nothing."""
    lines = [f"- {_one_line(one.memory.content, None)}" for one in hot if one.memory]
    return "\n".join(["# Memory", "", *lines, ""]) if lines else ""


def report_of(found: Reflection) -> str:
    """Return what a look back found, for a person to read."""
    sections = (
        ("Recurring errors", _errors(found)),
        ("Said again and again", _repeated(found)),
        ("Concepts gaining weight", _concepts(found)),
        ("Decisions that contradict each other", _contradictions(found)),
        ("Promoted to hot memory", map(_promotion, found.promoted)),
        ("Leaving hot memory", map(_demotion, found.demoted)),
    )
    told = ((heading, list(lines)) for heading, lines in sections)
    texts = ["\n".join([f"## {heading}", *lines]) for heading, lines in told if lines]
    return "\n\n".join(["# Reflection", *texts]) if texts else "# Reflection\n\nNothing stands out."


def _errors(found: Reflection) -> Iterator[str]:
    for one in found.errors:
        count = one.error.sessions
        times = f"{count} sessions" if count < MOST_SESSIONS else f"{count} sessions or more"
        fix = f"; fix: {one.fix}" if one.fix else "; no fix is known"
        yield f"- {_one_line(one.error.text)} (`{one.error.command}`, {times}{fix})"


def _repeated(found: Reflection) -> Iterator[str]:
    for memory, count in found.repeated:
        yield f"- {_one_line(memory.content)} ({count} sessions, {memory.id})"


def _concepts(found: Reflection) -> Iterator[str]:
    for name, one in found.concepts:
        yield f"- {name}: {one.recent} memories, {one.before:g} in a period before"


def _contradictions(found: Reflection) -> Iterator[str]:
    for one in found.contradictions:
        newer, older = (_one_line(memory.content) for memory in (one.newer, one.older))
        yield f"- {newer} ({one.newer.id}) against: {older} ({one.older.id})"


def _promotion(one: Candidate) -> str:
    return f"- {_one_line(one.memory.content)} ({one.why}; {one.worth.score:.2f}; {one.memory.id})"


def _demotion(one: HotEntry) -> str:
    if one.memory is None:
        return f"- {one.id}: archived, moved, gone or not trusted any more"
    title = title_of(one.memory.title, one.memory.content)
    return f"- {_one_line(title)} ({one.score:.2f}; {one.id})"


def _one_line(text: str, most: int | None = _LINE_CHARACTERS) -> str:
    line = " ".join(text.split())
    return line if most is None or len(line) <= most else f"{line[:most].rstrip()}\u2026"
