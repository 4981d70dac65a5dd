"""What chaos draws, what it counts as time of the service, and what it calls declared."""

from random import Random
from threading import Event

import pytest

from scripts.chaos_rounds.asking import Answer, Asking, Notes, undeclared
from scripts.chaos_rounds.draws import (
    ENGINES,
    MOODS,
    MOVES,
    OF_CLOCK,
    OF_SERVER,
    Scope,
    draw_round,
)
from scripts.chaos_rounds.ledger import Ledger
from scripts.chaos_rounds.paper_writers import Documenter
from scripts.chaos_rounds.pens import Pen
from scripts.chaos_rounds.report import figures_of
from scripts.chaos_rounds.rounds import Outcome
from scripts.chaos_rounds.watching import Look, longest
from scripts.chaos_rounds.world import Down
from scripts.servers.hostile_embedder import WELL, answer_to

DRAWN = [draw_round(seed, Scope()) for seed in range(200)]
FAULTS = [fault for drawn in DRAWN for fault in drawn.faults]
PROBLEM = {"type": "t", "title": "Away", "status": 503, "detail": "Wait.", "request_id": "r"}


def test_a_seed_is_a_round() -> None:
    assert [draw_round(seed, Scope()) for seed in range(200)] == DRAWN
    assert len({str(drawn) for drawn in DRAWN}) == 200


def test_all_is_drawn_in_time() -> None:
    assert {drawn.engine for drawn in DRAWN} == set(ENGINES)
    assert {drawn.store for drawn in DRAWN} == {"embedded", "server"}
    assert {fault.mood for fault in FAULTS} == {*MOODS, None}
    assert {fault.move for fault in FAULTS} == {*MOVES, 0.0}
    assert len({fault.kind for fault in FAULTS}) == 9
    assert {len(drawn.faults) for drawn in DRAWN} == {1, 2, 3, 4}
    for drawn in DRAWN:
        assert all(fault.at < drawn.seconds for fault in drawn.faults)
        if drawn.store == "embedded":
            assert not any(fault.kind in OF_SERVER for fault in drawn.faults)


def test_nothing_is_drawn_that_is_not_there() -> None:
    scope = Scope(("database",), has_clock=False)
    drawn = [draw_round(seed, scope) for seed in range(50)]
    assert {one.engine for one in drawn} == {"database"}
    assert not any(fault.kind in OF_CLOCK for one in drawn for fault in one.faults)


def test_the_name_of_a_document_that_was_given_up_is_not_given_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its entry stands for what may have become of it: another's answers would contradict it."""
    lost = Answer("unknown", 0, None, gave_up=True)
    asking, ledger = Asking("http://127.0.0.1:9", Notes()), Ledger()
    monkeypatch.setattr(Asking, "ask", lambda *_args, **_body: lost)
    stop = Event()
    monkeypatch.setattr(stop, "wait", lambda _seconds: False)
    Documenter(asking, ledger, Pen(Random(1), 0), "bob", stop).run()
    asking.close()
    names = [paper.uri for paper in ledger.papers]
    assert len(names) == len(set(names)) == 9


def test_only_what_a_running_service_answers_counts() -> None:
    looks = [Look(0.0, 0.2, 0.0), Look(1.0, 4.0, 0.1), Look(5.0, 5.5, 0.0)]
    assert longest(looks, []) == looks[1]
    assert longest(looks, [Down(2.0, 3.0)]) == looks[2]
    assert longest(looks, [Down(0.5)]) == looks[0]
    assert longest([Look(0.0, 1.0, 0.0)], [Down(0.5)]) is None


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Answer("unknown", 503, PROBLEM, "application/problem+json"), ""),
        (Answer("unknown", 503, PROBLEM, "application/json"), "of type 'application/json'"),
        (Answer("unknown", 502, None, "text/html"), "of type 'text/html'"),
        (Answer("unknown", 503, {"title": "x"}, "application/problem+json"), "a problem without"),
        (Answer("unknown", 500, PROBLEM, "application/problem+json"), "that nobody named: Wait."),
    ],
)
def test_a_refusal_says_what_it_is(answer: Answer, fault: str) -> None:
    assert fault in undeclared(answer)
    assert bool(fault) == bool(undeclared(answer))


def test_no_word_is_made_twice() -> None:
    pens = [Pen(Random(0), start) for start in (0, 5000)]
    words = [pen.word() for pen in pens for _ in range(5000)]
    assert len(set(words)) == 10_000


def test_losses_are_counted_apart() -> None:
    outcomes = [
        Outcome(DRAWN[0], 10, live=0.5, refusal=2.0, faults=["lost: a", "altered: b", "drift: c"]),
        Outcome(DRAWN[1], 5, live=1.5, refusal=1.0, faults=["undeclared: d"]),
    ]
    told = figures_of(outcomes)
    assert (told["acknowledged"], told["lost"], told["drift"]) == (15, 2, 1)
    assert (told["longest /health/live"], told["rounds with more than 1 s"]) == (1.5, 1)
    assert told["longest refusal"].startswith("2.00 s")


def test_moods_differ_from_being_well() -> None:
    body = {"input": ["one text"]}
    well = answer_to(WELL, "/v1/embeddings", body)
    for mood in set(MOODS) - {"hung", "dripping", "gone"}:
        assert answer_to(mood, "/v1/embeddings", body) != well
