"""What stands in which section of a session context, and that nothing is told twice."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from service.hooks.replies import line_of
from service.intents.matching import Intent
from service.records import Memory
from service.session_context.packing import Budget
from service.session_context.sections import (
    Found,
    compose,
    for_sub_agent,
    line_of_decision,
    most_active,
    newer,
)
from service.working_memory.texts import WorkingMemory

_AT = datetime(2026, 2, 13, 9, tzinfo=UTC)
_NOTHING = Found((), (), (), (), (), (), (), ())


def _memory(key: str, kind: str = "note", text: str = "", days: float = 0.0) -> Memory:
    """Return a memory of so many days ago."""
    at = _AT - timedelta(days=days)
    text = text or f"Words of {key}."
    return Memory(key, "main", kind, "semantic", "", text, at, at, at)


def _rule(key: str, kind: str) -> Memory:
    return replace(_memory(key, kind), tags=("constraint",))


def _told(found: Found) -> dict[str, list[str | None]]:
    """Return the ids in each section that has some, with room for all of it."""
    _, sections = compose(found, Budget(100_000), "main", None)
    return {one.name: [piece.id for piece in one.pieces] for one in sections if one.pieces}


def test_a_long_handoff_that_nobody_wrote_leaves_room_for_one_that_somebody_did() -> None:
    left = _memory("left", "handoff", "Last request: more.\n" + "- a file of many\n" * 160)
    wrote = _memory("wrote", "handoff", "Next: the refunds.", days=1)
    rules = tuple(replace(_rule(f"r{n}", "decision"), content="rule " * 70) for n in range(20))
    found = Found((left, wrote), (), rules, (), (), (), (), ())
    for budget in (Budget(2000), Budget(9500, 9500), Budget(100_000)):
        text, sections = compose(found, budget, "main", None)
        [handoff] = [one for one in sections if one.name == "handoff"]
        assert [piece.id for piece in handoff.pieces] == ["left", "wrote"]
        assert "Next: the refunds." in text
    # Alone it is told whole, where there is room.
    text, _ = compose(replace(found, handoffs=(left,)), Budget(100_000), "main", None)
    assert text.count("a file of many") == 160


def test_each_memory_stands_in_one_section() -> None:
    rules = (_rule("d0", "decision"), _rule("p0", "preference"))
    decisions = tuple(_memory(f"d{n}", "decision") for n in range(1, 12))
    preference, hot = _memory("p1", "preference"), _memory("hot")
    notes = tuple(_memory(f"n{n:02}", days=n) for n in range(14))
    found = Found(
        (), (), rules, (), (rules[0], *decisions), (rules[1], preference),
        (hot, preference, decisions[0], rules[0]), (*notes, hot),
    )  # fmt: skip
    assert _told(found) == {
        "constraints": ["d0", "p0"],
        "decisions": [f"d{n}" for n in range(1, 11)],
        "preferences": ["p1"],
        "active": ["hot", *(f"n{n:02}" for n in range(12))],
        "index": ["n12", "n13"],
    }


def test_what_the_handoff_says_is_told_once() -> None:
    said = [_memory(f"s{n}", text=f"What was said {n}, and no more.") for n in range(4)]
    words = "\n".join(one.content for one in said)
    rule = replace(said[0], id="rule", tags=("constraint",))
    other = _memory("other")
    found = Found(
        (_memory("handoff", "handoff", words),), (), (rule,), (), (said[0], other), (said[1],),
        (said[2],), (said[3],),
    )  # fmt: skip
    assert _told(found) == {"constraints": ["rule"], "handoff": ["handoff"], "decisions": ["other"]}
    assert "s0" in _told(replace(found, handoffs=()))["decisions"]


def test_a_word_below_a_heading_that_the_handoff_mentions_is_told_with_its_heading() -> None:
    handoff = _memory("handoff", "handoff", "Ask Jonas about the refunds.")
    called = replace(_memory("called", text="Jonas"), title="On call")
    bare = replace(_memory("bare", text=" "), title="Left empty")
    found = replace(_NOTHING, handoffs=(handoff,), hot=(called,), others=(bare,))
    assert _told(found)["active"] == ["called", "bare"]
    assert "On call: Jonas" in compose(found, Budget(100_000), "main", None)[0]


def test_what_matters_counts_half_as_much_a_week_later() -> None:
    newest = _memory("newest")
    older = [replace(_memory(f"week {n}", days=7 * n), importance=0.9) for n in (1, 2)]
    assert most_active([older[1], newest, older[0]]) == [newest, older[0], older[1]]
    weighty = replace(older[0], importance=1.0)
    # As much as the newest has: then by id.
    assert most_active([newest, replace(weighty, id="a")])[0].id == "a"
    assert most_active([newest, replace(weighty, id="z")])[0].id == "newest"


def test_lines_are_short_and_tell_what_is_behind_them() -> None:
    decided = replace(_memory("d", "decision", "Use\n it."), tags=("storage", "app"))
    assert line_of_decision(decided) == "- [2026-02-13 09:00] [storage, app] Use it."
    headed = replace(decided, title="Postgres keeps the orders", tags=())
    line = "- [2026-02-13 09:00] Postgres keeps the orders: Use it."
    assert line_of_decision(headed) == line
    above = replace(headed, heading_path=("Shop", headed.title))
    assert line_of_decision(above) == line.replace("Postgres", "Shop › Postgres")
    assert line_of(above) == "- 2026-02-13 Shop › Postgres keeps the orders: Use it. [d]"
    assert line_of_decision(replace(headed, title="Use it.")) == "- [2026-02-13 09:00] Use it."
    long = _memory("long", "preference", "word " * 100)
    many = tuple(_memory(f"n{n:02}", text="abcd" * n, days=n) for n in range(1, 15))
    text, _ = compose(replace(_NOTHING, preferences=(long,), others=many), Budget(10**5), "me", "p")
    lines = text.splitlines()
    assert lines[0] == '<graph-memory-context agent="me" project="p">'
    assert f"- 2026-02-13 {('word ' * 80).rstrip()}\u2026" in lines
    # Of 13 times 4 characters and the line's end.
    assert f"- n13 \u00b7 {'abcd' * 13} \u00b7 14 tokens" in lines


def test_a_sub_agent_is_told_neither_the_handoff_nor_what_is_due() -> None:
    due = Intent("i", (), "Say it.", None, _AT, 1, 1, 0, None, None, _AT, "owner", "trusted")
    found = replace(
        _NOTHING, handoffs=(_memory("h", "handoff"),), intents=(due,), others=(_memory("n"),)
    )
    assert _told(found) == {"handoff": ["h"], "intents": ["i"], "active": ["n"]}
    assert _told(for_sub_agent(found)) == {"active": ["n"]}


def test_who_goes_on_is_told_what_changed_since_and_others_said() -> None:
    since = _AT - timedelta(days=1)
    old, new = _memory("old", days=1), _memory("new")
    mine = replace(_memory("mine"), session="s")
    focus = [WorkingMemory(at.isoformat(), "owner", "trusted", at) for at in (since, _AT)]
    many = (old, new, mine)
    found = newer(Found((new,), tuple(focus), many, (), many, many, many, many), since, "s")
    assert found == Found((new,), (focus[1],), (new,), (), (new,), (new,), (new,), (new,))
    for left in (old, mine):
        assert newer(replace(_NOTHING, handoffs=(left,)), since, "s") == _NOTHING
