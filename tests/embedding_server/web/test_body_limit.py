"""A body that is too large is refused before it is read."""

import json
import socket
from urllib.parse import urlsplit

import httpx
import openai
import pytest
from openai import OpenAI

from embedding_server.encoders.hashing import NAME
from embedding_server.web.body_limit import MAX_BODY_BYTES

HEAD = b"POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
BODY = json.dumps({"model": NAME, "input": "a text"}).encode()


def read_answer(connection: socket.socket) -> tuple[bytes, dict[str, str]]:
    """Return the first line of the answer and the error in its body."""
    received = b""
    while not received.endswith(b"}}"):
        part = connection.recv(65536)
        assert part, "the server closed the connection before it answered"
        received += part
    head, _, body = received.partition(b"\r\n\r\n")
    assert b"\r\nx-request-id: " in head
    return head.splitlines()[0], json.loads(body)["error"]


def connect(url: str) -> socket.socket:
    return socket.create_connection(("127.0.0.1", urlsplit(url).port or 0), timeout=60)


def test_an_announced_body_is_refused_unread(hashing_url: str) -> None:
    with connect(hashing_url) as connection:
        connection.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % (MAX_BODY_BYTES + 1))
        line, error = read_answer(connection)
    assert line.startswith(b"HTTP/1.1 413 ")
    assert error["code"] == "request_too_large"
    assert error["type"] == "invalid_request_error"
    assert "16,777,216 bytes" in error["message"]


def test_chunks_are_counted_and_refused_before_the_last(hashing_url: str) -> None:
    with connect(hashing_url) as connection:
        connection.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        chunk = b"%x\r\n" % 2**20 + b" " * 2**20 + b"\r\n"
        for _ in range(16):
            connection.sendall(chunk)
        connection.sendall(b"1\r\n \r\n")
        line, error = read_answer(connection)
    assert line.startswith(b"HTTP/1.1 413 ")
    assert error["code"] == "request_too_large"


@pytest.mark.parametrize("is_chunked", [False, True])
def test_a_body_at_the_limit_is_read(hashing_url: str, is_chunked: bool) -> None:
    whole = BODY.ljust(MAX_BODY_BYTES)
    pieces = (whole[start : start + 2**20] for start in range(0, len(whole), 2**20))
    answer = httpx.post(
        f"{hashing_url}/v1/embeddings",
        content=pieces if is_chunked else whole,
        headers={"Content-Type": "application/json"},
        timeout=60,
    )
    assert answer.status_code == 200


def test_the_official_client_sees_the_refusal(hashing_url: str) -> None:
    texts = ["a" * 90_000] * 200
    with (
        OpenAI(base_url=f"{hashing_url}/v1", api_key="unused", max_retries=0) as client,
        pytest.raises(openai.APIStatusError) as caught,
    ):
        client.embeddings.create(model=NAME, input=texts)
    assert caught.value.status_code == 413
    assert caught.value.code == "request_too_large"
    assert caught.value.request_id


def test_the_connection_serves_on_after_a_refusal(hashing_url: str) -> None:
    with httpx.Client(base_url=hashing_url, timeout=60) as client:
        headers = {"Content-Type": "application/json"}
        large = client.post("/v1/embeddings", content=b" " * (MAX_BODY_BYTES + 1), headers=headers)
        assert large.status_code == 413
        assert client.post("/v1/embeddings", content=BODY, headers=headers).status_code == 200
