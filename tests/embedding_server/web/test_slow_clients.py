"""Clients of the embedding server that send slowly or not at all, and bodies that fill its RAM."""

import time
from contextlib import ExitStack

import httpx
import pytest

from embedding_server.app import create_app
from embedding_server.encoders.hashing import NAME
from embedding_server.settings import Settings
from tests.embedding_server.edge import read_metrics, wait_until
from tests.embedding_server.running import serve, wait_until_ready
from tests.servers.raw import raw_client

HEADERS = "POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
# A busy machine takes long for anything.
PATIENCE_SECONDS = 5.0
# By default.
HTTPX_KEEPS_SECONDS = 5.0


@pytest.mark.parametrize("sent", ["", "GET /health HTTP/1.1\r\nHost: he", HEADERS])
def test_headers_have_a_time_limit(sent: str) -> None:
    with serve(create_app(Settings(model=NAME, header_timeout_seconds=0.3))) as url:
        with raw_client(url) as slow:
            slow.send(sent)
            said, seconds = slow.until_closed()
        assert said.startswith(b"HTTP/1.1 408 ")
        assert seconds < PATIENCE_SECONDS
        wait_until(lambda: read_metrics(url).get('ended_connections_total{reason="headers"}') == 1)


def test_a_connection_is_kept_longer_than_clients_keep_theirs() -> None:
    with (
        serve(create_app(Settings(model=NAME, header_timeout_seconds=1))) as url,
        raw_client(url) as client,
    ):
        for seconds in (0.0, HTTPX_KEEPS_SECONDS + 0.5):
            time.sleep(seconds)
            client.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert client.receive_until(b"}").startswith(b"HTTP/1.1 ")
        client.send("GET /health HTTP/1.1\r\n")
        said, _ = client.until_closed()
    assert said.endswith(b"connection: close\r\n\r\n")
    assert b"HTTP/1.1 408 " in said


def test_a_body_that_stops_is_answered_408_and_closed() -> None:
    with serve(create_app(Settings(model=NAME, body_timeout_seconds=0.3))) as url:
        with raw_client(url) as slow:
            slow.send(HEADERS + 'Content-Length: 100\r\n\r\n{"input"')
            said, seconds = slow.until_closed()
        assert said.startswith(b"HTTP/1.1 408 ")
        assert b"request_too_slow" in said
        assert seconds < PATIENCE_SECONDS
        wait_until(lambda: read_metrics(url).get('refused_bodies_total{reason="time"}') == 1)


@pytest.mark.parametrize("is_announced", [True, False])
def test_bodies_hold_so_much_memory_together_and_no_more(is_announced: bool) -> None:
    length = "Content-Length: 900000" if is_announced else "Transfer-Encoding: chunked"
    part = b'{"input": "' + b"x" * 600_000
    sent = part if is_announced else b"%x\r\n%s\r\n" % (len(part), part)
    held = (900_000 if is_announced else len(part)) - 65_536
    with serve(create_app(Settings(model=NAME, bodies_memory_mb=1))) as url:
        wait_until_ready(url)
        with ExitStack() as stack:
            for client in [stack.enter_context(raw_client(url)) for _ in range(2)]:
                client.send(HEADERS + length + "\r\n\r\n")
                client.send(sent)
                wait_until(lambda: read_metrics(url)["body_bytes"] == held)
            said = client.receive_until(b"EMBEDDING_BODIES_MEMORY_MB")
            assert said.startswith(b"HTTP/1.1 429 ")
            assert b"EMBEDDING_BODIES_MEMORY_MB" in said
            answer = httpx.post(f"{url}/v1/embeddings", json={"model": NAME, "input": "a text"})
            assert answer.status_code == 200
        wait_until(lambda: read_metrics(url)["body_bytes"] == 0)


def test_many_that_say_nothing_do_not_keep_others_away() -> None:
    with (
        serve(create_app(Settings(model=NAME, max_connections=10))) as url,
        ExitStack() as stack,
    ):
        wait_until_ready(url)
        silent = [stack.enter_context(raw_client(url)) for _ in range(30)]
        for one in silent:
            one.send("GET /health HT")
        for _ in range(5):
            assert httpx.get(f"{url}/health").status_code == 200
        assert silent[0].until_closed()[0].startswith(b"HTTP/1.1 503 ")
        wait_until(lambda: read_metrics(url).get('ended_connections_total{reason="many"}', 0) >= 20)
