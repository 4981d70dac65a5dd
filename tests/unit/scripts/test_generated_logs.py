"""The generated logs: the same every time, varied, and shaped as an agent's are."""

from collections import Counter

from scripts.consolidation.told_decisions import decision_sentences
from scripts.generated.logs import ENTRIES_A_DAY, Logs, documents, observations

ENTRIES = Logs(600).entries()


def test_equal_seeds_give_equal_entries() -> None:
    assert Logs(600).entry(123) == ENTRIES[123]
    assert Logs(600, seed=2).entry(123) != ENTRIES[123]


def test_entries_go_on_in_time_a_dozen_a_day() -> None:
    moments = [entry.moment for entry in ENTRIES]
    assert moments == sorted(moments)
    assert set(Counter(moment.date() for moment in moments).values()) == {ENTRIES_A_DAY}


def test_routine_comes_again_and_decisions_are_few() -> None:
    texts = Counter(entry.text for entry in ENTRIES)
    assert texts["Stand-up: no blockers."] > 5
    assert sum(count == 1 for count in texts.values()) > 400
    decided = sum(bool(decision_sentences(entry.text)) for entry in ENTRIES)
    assert 50 < decided < 200


def test_every_entry_is_in_a_document_or_pushed() -> None:
    texts, pushed = documents(ENTRIES), observations(ENTRIES)
    assert len(texts) == 50
    assert sum(text.count("\n## ") for text in texts.values()) + len(pushed) == 600
    assert len(pushed) == 120
    assert documents(reversed(ENTRIES)) == texts


def test_a_document_has_a_heading_for_each_entry() -> None:
    [(name, text)] = documents(ENTRIES[:1]).items()
    entry = ENTRIES[0]
    assert name == "memory/2024-01-01.md"
    assert text == f"# 2024-01-01\n\n## {entry.moment:%H:%M} {entry.title}\n\n{entry.text}\n"
