"""Of what people say to an agent, most that holds for long is kept, and little of the rest.

The half `report` was not looked at while the cues were chosen. docs/observer-measured.md has the
figures; these are floors below them.
"""

import json
from pathlib import Path

import pytest

from scripts.measure_observer import told
from service.observe.cues import statements
from tests.linear_time import is_quick

TURNS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "golden" / "turns.jsonl")
    .read_text("utf-8")
    .splitlines()
]


@pytest.mark.parametrize(("half", "found", "wrong"), [("tune", 0.85, 0.05), ("report", 0.4, 0.08)])
def test_what_holds_is_kept_and_little_else(half: str, found: float, wrong: float) -> None:
    turns = [turn for turn in TURNS if turn["half"] == half]
    lasting = [turn for turn in turns if turn["kind"] != "none"]
    rest = [turn for turn in turns if turn["kind"] == "none"]
    kept = [turn for turn in lasting if told(turn, list(statements(turn["text"])))]
    assert len(kept) >= found * len(lasting)
    assert sum(bool(list(statements(turn["text"]))) for turn in rest) <= wrong * len(rest)


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("Don\u2019t ever commit to main.", "preference"),
        ("We\u2019ve decided to use Postgres for the queue.", "decision"),
        ("I\u2019d rather you ask first.", "preference"),
    ],
)
def test_the_apostrophe_of_phones_is_one(said: str, kind: str) -> None:
    assert [(one.kind, one.text) for one in statements(said)] == [(kind, said)]


def test_a_long_text_or_a_quoted_one_is_somebody_elses() -> None:
    page = "The billing service belongs to the Lisbon team. " + "It goes on and on. " * 40
    assert list(statements(page)) == []
    [said] = statements(f"{page}\nRemember that Mina is on leave.")
    assert said == ("fact", "Remember that Mina is on leave.", False)
    assert list(statements("> our staging db gets wiped sunday nights\n\nis that so?")) == []


def test_code_between_fences_is_not_read_and_what_stands_beside_it_is() -> None:
    text = "```\nWe always use tabs.\n```\nour staging db gets wiped sunday nights\n```\nno mocks"
    assert list(statements(text)) == [("fact", "our staging db gets wiped sunday nights", True)]


@pytest.mark.parametrize(
    "part",
    ["a ", "the our my is are ", "we ", "not in the a ", "'", "a-b ", "should must ", "Xx and ",
     "若", "는 ", "할 ", '"', "1:1 ", "ok so ", "a.b@c "],
)  # fmt: skip
def test_the_longest_sentence_is_judged_at_once(part: str) -> None:
    sentence = (part * 300)[:299]
    assert is_quick(lambda: list(statements(sentence)), 0.05)
