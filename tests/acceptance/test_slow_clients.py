"""Clients that send slowly, by halves or not at all, and those that do not read."""

import time
from contextlib import ExitStack

import pytest

from tests.acceptance.test_bounds import AT_ONCE_SECONDS, metrics_of, wait_until
from tests.conftest import Start
from tests.servers.raw import raw_client

HEADERS = "POST /memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
# By default.
HTTPX_KEEPS_SECONDS = 5.0
ALIVE = b'{"status":"alive"}'


@pytest.mark.parametrize("sent", ["", "GET /health/live HTTP/1.1\r\nHost: he", HEADERS])
def test_headers_have_a_time_limit(start: Start, sent: str) -> None:
    service = start(header_timeout_seconds=0.5)
    with raw_client(service.url) as slow:
        slow.send(sent)
        said, seconds = slow.until_closed()
    assert said.startswith(b"HTTP/1.1 408 ")
    assert 0.3 < seconds < 0.5 + AT_ONCE_SECONDS
    assert metrics_of(service)['refused_total{bound="connection_headers"}'] == 1


def test_headers_of_a_later_request_have_it_too(start: Start) -> None:
    service = start(header_timeout_seconds=0.5)
    with raw_client(service.url) as slow:
        slow.send("GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert ALIVE in slow.receive_until(ALIVE)
        slow.send("GET /health/live HTTP/1.1\r\n")
        said, seconds = slow.until_closed()
    assert said.startswith(b"HTTP/1.1 408 ")
    assert seconds < 0.5 + AT_ONCE_SECONDS


def test_a_connection_in_use_is_not_closed(start: Start) -> None:
    service = start(header_timeout_seconds=0.3)
    with raw_client(service.url) as client:
        for _ in range(6):
            time.sleep(0.15)
            client.send("GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert ALIVE in client.receive_until(ALIVE)


def test_a_connection_is_kept_longer_than_clients_keep_theirs(start: Start) -> None:
    service = start(header_timeout_seconds=1)
    with raw_client(service.url) as client:
        for seconds in (0.0, HTTPX_KEEPS_SECONDS + 0.5):
            time.sleep(seconds)
            client.send("GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert ALIVE in client.receive_until(ALIVE)
    assert metrics_of(service)['refused_total{bound="connection_headers"}'] == 0


def test_a_body_that_stops_is_answered_408_and_closed(start: Start) -> None:
    service = start(body_timeout_seconds=0.5)
    with raw_client(service.url) as slow:
        slow.send(HEADERS + 'Content-Length: 100\r\n\r\n{"content"')
        said, seconds = slow.until_closed()
    assert said.startswith(b"HTTP/1.1 408 ")
    assert b"/problems/body-too-slow" in said
    assert b"MEMORY_BODY_TIMEOUT_SECONDS" in said
    assert 0.3 < seconds < 0.5 + AT_ONCE_SECONDS
    assert metrics_of(service)['refused_total{bound="body_time"}'] == 1


def test_bytes_that_arrive_grant_time(start: Start) -> None:
    service = start(body_timeout_seconds=0.5, body_bytes_per_second=100)
    body = b'{"text": "' + b"word " * 40 + b'"}'
    with raw_client(service.url) as slow:
        slow.send(HEADERS + f"Content-Length: {len(body)}\r\n\r\n")
        for at in range(0, len(body), 30):
            slow.send(body[at : at + 30])
            time.sleep(0.15)
        assert slow.receive_until(b"\r\n").startswith(b"HTTP/1.1 201 ")


@pytest.mark.parametrize("is_announced", [True, False])
def test_bodies_hold_so_much_memory_together_and_no_more(start: Start, is_announced: bool) -> None:
    service = start(bodies_memory_mb=1, body_timeout_seconds=30)
    length = "Content-Length: 900000" if is_announced else "Transfer-Encoding: chunked"
    part = b'{"text": "bell", "x": "' + b"x" * 600_000
    with ExitStack() as stack:
        first = stack.enter_context(raw_client(service.url))
        first.send(HEADERS + length + "\r\n\r\n")
        first.send(part if is_announced else b"%x\r\n%s\r\n" % (len(part), part))
        held = 900_000 if is_announced else len(part)
        wait_until(service, "body_bytes", held - 65_536)
        second = stack.enter_context(raw_client(service.url))
        second.send(HEADERS + length + "\r\n\r\n")
        if not is_announced:
            second.send(b"%x\r\n%s\r\n" % (len(part), part))
        said = second.receive_until(b"/problems/overloaded")
        assert said.startswith(b"HTTP/1.1 503 ")
        assert b"retry-after: 1" in said.lower()
        assert b"/problems/overloaded" in said
        # A question is small, and finds room.
        service.client.post("/memories", json={"text": "The kettle is blue."})
        assert service.client.get("/search", params={"q": "kettle"}).json()["results"]
    wait_until(service, "body_bytes", 0)
    assert metrics_of(service)['refused_total{bound="body_memory"}'] == 1


def test_many_that_say_nothing_do_not_keep_others_away(start: Start) -> None:
    service = start(max_connections=20, header_timeout_seconds=60)
    with ExitStack() as stack:
        silent = [stack.enter_context(raw_client(service.url)) for _ in range(40)]
        for one in silent:
            one.send("GET /search?q=a HT")
        for _ in range(5):
            with raw_client(service.url) as client:
                client.send("GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert ALIVE in client.receive_until(ALIVE)
        said, seconds = silent[0].until_closed()
    assert said.startswith(b"HTTP/1.1 503 ")
    assert seconds < AT_ONCE_SECONDS
    assert metrics_of(service)['refused_total{bound="connection_many"}'] >= 20


def test_a_client_that_does_not_read_is_cut_off(start: Start) -> None:
    service = start(body_timeout_seconds=0.5, max_source_bytes=20_000_000)
    text = "# Long\n\n```\n" + "0123456789abcdef" * 500_000 + "\n```\n"
    service.client.post("/ingest", json={"source": "long.md", "text": text})
    with raw_client(service.url, buffer_bytes=4096) as lazy:
        lazy.send("GET /documents?path=long.md HTTP/1.1\r\nHost: localhost\r\n\r\n")
        wait_until(service, 'refused_total{bound="connection_unread"}', 1)
        assert len(lazy.until_closed()[0]) < len(text)
    wait_until(service, 'requests_running{lane="reads"}', 0)
