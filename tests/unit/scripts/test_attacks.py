"""From an attack's figure to its verdict and to the page; and the watch that takes one of them."""

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from scripts.attacks import watching
from scripts.attacks.crowd import ask_at_once, wire
from scripts.attacks.figures import (
    Aim,
    Figure,
    as_json,
    count,
    from_json,
    seconds,
    status,
)
from scripts.attacks.registry import ATTACKS
from scripts.attacks.report import markdown, rows_of

SLOW_SECONDS = 0.7


@pytest.mark.parametrize(
    ("figure", "is_kept", "told"),
    [
        (seconds(1, "a request", 1.0, 1.0), True, "1 s"),
        (seconds(1, "a request", 1.01, 1.0), False, "1.01 s"),
        # Cut before its aim: how long it would have taken is not known.
        (seconds(1, "a request", 0.5, 1.0, is_cut=True), False, "> 0.50 s"),
        (count(3, "lost", 0), True, "0"),
        (count(3, "lost", 12), False, "12"),
        (status(10, "a scan", 404), True, "404"),
        (status(10, "a scan", 200), False, "200"),
        (status(10, "a scan", 500), False, "500"),
        (status(15, "ready", 503, (503, 503)), True, "503"),
        (status(15, "ready", 0, (0, 503)), False, "> 0"),
        (Figure(4, "the clock", None, "", Aim()), False, "not taken"),
        (Figure(5, "growth", 1234.5, "MB", Aim(most=20)), False, "1,234.5 MB"),
        (Figure(5, "growth", -3.0, "MB", Aim(least=-100, most=20)), True, "-3 MB"),
    ],
)
def test_a_figure_is_judged_by_its_aim(figure: Figure, is_kept: bool, told: str) -> None:
    assert figure.is_kept is is_kept
    assert figure.told == told


def test_an_aim_is_told_as_a_range_a_bound_or_a_number() -> None:
    assert str(Aim(most=1)) == "≤ 1"
    assert str(Aim()) == "0"
    assert str(Aim(503, 503)) == "503"
    assert str(Aim(400, 499)) == "400 to 499"


def test_figures_come_back_from_json_as_they_were() -> None:
    figures = [status(10, "a scan", 404), seconds(7, "live", 60.0, 1.0, is_cut=True)]
    assert from_json(as_json(figures)) == figures


def test_the_page_puts_what_was_before_beside_what_is() -> None:
    before = [seconds(1, "POST | a word", 60.0, 1.0, is_cut=True), count(2, "gone", 3)]
    after = [seconds(1, "POST | a word", 0.5, 1.0), count(3, "new", 2, note="of 9")]
    assert markdown(rows_of(after, before)).splitlines() == [
        "| finding | figure | before | after | aim | kept |",
        "| --- | --- | ---: | ---: | --- | --- |",
        "| 1 | POST \\| a word | > 60 s | 0.50 s | ≤ 1 | kept |",
        "| 3 | new (of 9) | - | 2 | 0 | **not** |",
    ]
    assert rows_of(after, None)[0] == ["finding", "figure", "measured", "aim", "kept"]


def test_every_finding_has_an_attack() -> None:
    assert sorted(ATTACKS) == list(range(1, 20))


class _Slow(BaseHTTPRequestHandler):
    """Answers 429 with Retry-After; /slow takes its time."""

    def do_GET(self) -> None:
        if self.path == "/slow":
            time.sleep(SLOW_SECONDS)
        self.send_response(429)
        self.send_header("Retry-After", "2")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Keep quiet."""


@pytest.fixture
def port() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Slow) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def test_a_watch_tells_the_longest_answer_also_one_still_open(port: int) -> None:
    slow = watching.Watch(f"http://127.0.0.1:{port}/slow")
    threading.Thread(target=slow.run, daemon=True).start()
    time.sleep(SLOW_SECONDS / 2)
    assert slow.told() > SLOW_SECONDS / 8
    time.sleep(SLOW_SECONDS * 2)
    assert slow.longest >= SLOW_SECONDS


def test_a_crowd_tells_status_and_refusal_of_each_and_who_got_no_answer(port: int) -> None:
    replies = ask_at_once(port, [wire("GET", "/"), wire("GET", "/slow")], SLOW_SECONDS / 2, 2)
    assert [reply.status for reply in replies] == [429, 0]
    assert replies[0].has_retry_after
    assert not replies[1].has_retry_after
