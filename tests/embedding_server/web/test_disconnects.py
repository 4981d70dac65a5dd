"""Clients that leave: their texts never reach the model, and their places are free again."""

import json
import logging
import socket
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest

from tests.embedding_server.edge import NAME, post, read_metrics, serve_gated, wait_until


def ask_by_hand(url: str, *texts: str, cut: int | None = None) -> socket.socket:
    """Send a request, or its first `cut` bytes of the body, and leave the connection open."""
    body = json.dumps({"model": NAME, "input": texts}).encode()
    head = (
        "POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    connection = socket.create_connection(("127.0.0.1", urlsplit(url).port or 0))
    connection.sendall(head.encode() + body[:cut])
    return connection


def test_the_texts_of_a_client_that_left_never_reach_the_model(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with serve_gated() as (url, encoder), ThreadPoolExecutor(1) as pool:
        encoder.may_run.clear()
        busy = pool.submit(post, url, "1")
        wait_until(lambda: read_metrics(url)["waiting_tokens"] == 1)
        leaving = ask_by_hand(url, "2 2", "2 2 2")
        wait_until(lambda: read_metrics(url)["waiting_tokens"] == 6)
        assert read_metrics(url)["waiting_texts"] == 3
        leaving.close()
        wait_until(lambda: read_metrics(url)["waiting_texts"] == 1)
        metrics = read_metrics(url)
        assert metrics["waiting_tokens"] == 1
        assert metrics["cancelled_requests_total"] == 1
        assert metrics['requests_total{status="499"}'] == 1
        encoder.may_run.set()
        assert busy.result().status_code == 200
        assert post(url, "3").status_code == 200
        assert encoder.ran == [[1], [3]]
    # A client may leave; that is no error of the server.
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_a_client_that_leaves_while_it_is_tokenised_frees_its_place() -> None:
    with serve_gated() as (url, encoder):
        encoder.may_tokenize.clear()
        leaving = ask_by_hand(url, "2 2")
        wait_until(lambda: read_metrics(url)["waiting_texts"] == 1)
        leaving.close()
        wait_until(lambda: read_metrics(url)["cancelled_requests_total"] == 1)
        assert read_metrics(url)["waiting_texts"] == 0
        encoder.may_tokenize.set()
        assert post(url, "3").status_code == 200
        assert encoder.ran == [[3]]


def test_many_clients_that_leave_free_all_places() -> None:
    with serve_gated() as (url, encoder):
        encoder.may_run.clear()
        leaving = [ask_by_hand(url, *["2"] * (1 + number % 3)) for number in range(30)]
        wait_until(lambda: read_metrics(url)["waiting_tokens"] == 60)
        for connection in leaving:
            connection.close()
        wait_until(lambda: read_metrics(url)["cancelled_requests_total"] == 30)
        metrics = read_metrics(url)
        assert (metrics["waiting_texts"], metrics["waiting_tokens"]) == (0, 0)
        encoder.may_run.set()
        assert post(url, "3").status_code == 200
        # At most one batch had left for the model before its clients did.
        assert len(encoder.ran) <= 8 + 1


def test_a_client_that_leaves_in_the_middle_of_its_body_is_counted() -> None:
    with serve_gated() as (url, encoder):
        ask_by_hand(url, "2 2", cut=10).close()
        wait_until(lambda: read_metrics(url)["cancelled_requests_total"] == 1)
        assert encoder.texts == []


def test_a_client_that_stays_is_answered_and_not_counted() -> None:
    with serve_gated() as (url, _), ask_by_hand(url, "2 2") as connection:
        assert connection.recv(1000).startswith(b"HTTP/1.1 200 OK\r\n")
        assert read_metrics(url)["cancelled_requests_total"] == 0
