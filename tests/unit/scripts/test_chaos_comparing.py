"""The checker of chaos sees every way in which what is shown is not what was acknowledged."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from scripts.chaos_rounds.comparing import Shown, Sight, compare, defects
from scripts.chaos_rounds.ledger import Entry, Ledger, Paper, State, changed, gone, stored

KEPT = State("zybababababa met GPU.", "zybababababa", "Kept", ("gpu",))
LATER = State("zybobobobobo met a kettle.", "zybobobobobo")
DELETED = State("zybubububabu met GPU.", "zybubububabu")
SECTION = "zyfafafafafa"


def ledger_of_four() -> Ledger:
    """Two that are there, one that was deleted, one section of a document."""
    entries = [Entry("main", id=key) for key in ("kept", "later", "deleted")]
    for entry, state in zip(entries, (KEPT, LATER, DELETED), strict=True):
        entry.settle("acknowledged", stored(state))
    entries[2].settle("acknowledged", gone)
    paper = Paper("main", "a.md", [(SECTION,)], {SECTION: "text"})
    return Ledger(entries, [paper], ["job"])


def row(key: str, content: str, second: int, **fields: Any) -> dict[str, Any]:
    return {
        "id": key, "content": content, "title": content[:9], "tags": [], "archived_at": None,
        "kind": "note", "source": None, "occurred_at": f"2026-02-01T00:00:0{second}Z",
    } | fields  # fmt: skip


def sound_sight() -> Sight:
    rows: list[Shown] = [
        row("kept", KEPT.text, 3, title="Kept", tags=["gpu"]),
        row("section", f"{SECTION} met GPU", 2, source={"uri": "a.md"}),
        row("later", LATER.text, 1),
    ]
    told: Any = {"agent": {"drift": {}, "left_out": {}}, "index": {"unknown_tables": {}}}
    return Sight(
        memories={"main": rows}, pages={"main": deepcopy(rows)},
        got={"deleted": (404, None), **{one["id"]: (200, deepcopy(one)) for one in rows}},
        found={("main", KEPT.word): ["kept"], ("main", LATER.word): ["later"]},
        without_vector={"main": 0}, index={"main": told}, jobs={"job": "done"},
    )  # fmt: skip


def drop(place: int) -> Callable[[Sight], object]:
    def do(sight: Sight) -> None:
        del sight.memories["main"][place]
        del sight.pages["main"][place]

    return do


def show(**fields: Any) -> Callable[[Sight], object]:
    return lambda sight: dict.update(sight.memories["main"][0], fields)


def show_more(*more: dict[str, Any]) -> Callable[[Sight], object]:
    def do(sight: Sight) -> None:
        sight.memories["main"] += more
        sight.pages["main"] += more

    return do


WRONG: dict[str, Callable[[Sight], object]] = {
    "lost: main kept (zybababababa) is [] in the list": drop(0),
    "lost: document a.md": drop(1),
    "altered: main kept (zybababababa): content is": show(content="zybababababa met nobody."),
    "altered: main kept (zybababababa): title is": show(title="Another"),
    "altered: main kept (zybababababa): tags is": show(tags=[]),
    "altered: main kept (zybababababa): archived is": show(archived_at="2026-02-01T00:00:00Z"),
    "undeleted: main deleted": show_more(row("deleted", DELETED.text, 0)),
    "twice: main later": show_more(row("again", LATER.text, 0)),
    "twice: a list of main": show_more(row("later", LATER.text, 0)),
    "stranger: main shows zyzazazazaza": show_more(row("strange", "zyzazazazaza", 0)),
    "altered: document a.md": show_more(row("more", "zyzozozozozo", 0, source={"uri": "a.md"})),
    "lost: main kept (zybababababa) is in the list and answers 404":
        lambda sight: sight.got.update(kept=(404, None)),
    "unfound: main kept": lambda sight: sight.found.update({("main", KEPT.word): ["later"]}),
    "skipped: pages of main": lambda sight: sight.pages["main"].pop(1),
    "order: 2026-02-01 00:00:02+00:00 stands before": lambda sight: sight.pages["main"].reverse(),
    "vectors: 1 memories of main wait": lambda sight: sight.without_vector.update(main=1),
    "job: job is running": lambda sight: sight.jobs.update(job="running"),
    "drift: main {'follows': 1}":
        lambda sight: sight.index["main"]["agent"].update(drift={"follows": 1}),
    "drift: main leaves out": lambda sight: sight.index["main"]["agent"].update(left_out={"x": 1}),
    "drift: unknown tables":
        lambda sight: sight.index["main"]["index"].update(unknown_tables={"x": 1}),
}  # fmt: skip


def test_what_is_as_it_was_acknowledged_is_sound() -> None:
    assert compare(ledger_of_four(), sound_sight()) == []


@pytest.mark.parametrize("fault", WRONG)
def test_each_fault_is_told(fault: str) -> None:
    sight = sound_sight()
    WRONG[fault](sight)
    told = compare(ledger_of_four(), sight)
    assert any(one.startswith(fault) for one in told), told


def test_an_answer_that_never_came_leaves_both_open() -> None:
    ledger, sight = ledger_of_four(), sound_sight()
    ledger.entries[0].settle("unknown", stored(State("zykokokokoko", "zykokokokoko")))
    assert compare(ledger, sight) == []
    ledger.entries[0].settle("refused", gone)
    ledger.entries[2].settle("unknown", stored(DELETED))
    assert compare(ledger, sight) == []
    drop(0)(sight)
    assert [one.partition(":")[0] for one in compare(ledger, sight)] == ["lost"]
    ledger.entries[0].settle("unknown", gone)
    sight.got.pop("kept")
    assert compare(ledger, sight) == []


def test_what_was_half_done_is_told() -> None:
    ledger, sight = ledger_of_four(), sound_sight()
    [paper] = ledger.papers
    paper.settle("unknown", (SECTION, "zyfofofofofo", "zyfufufufufu"))
    assert compare(ledger, sight) == []
    show_more(row("half", "zyfofofofofo", 0, source={"uri": "a.md"}))(sight)
    paper.texts |= {"zyfofofofofo": "text"}
    assert [one.partition(":")[0] for one in compare(ledger, sight)] == ["lost"]


def test_a_change_is_of_what_was_there() -> None:
    entry = Entry("main")
    entry.settle("acknowledged", stored(KEPT))
    entry.settle("unknown", changed(title="New"))
    entry.settle("acknowledged", changed(archived=True))
    assert [(one.title, one.archived) for one in entry.possible if one] == [
        ("Kept", True), ("New", True),
    ]  # fmt: skip
    assert not entry.is_certain


def test_a_traceback_in_the_log_is_a_defect() -> None:
    trace = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\n'
    log = f"1 WARNING all is well\n2 ERROR it failed\n{trace}KeyError: 'x'\n3 INFO on\n"
    assert defects(log + log) == ["defect: 2 times in the log: KeyError: 'x' (a.py:1 f)"]
    assert defects(f"{trace}asyncio.exceptions.CancelledError\n") == []
    assert defects("1 WARNING all is well\n") == []
