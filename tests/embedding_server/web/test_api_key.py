"""Who may ask: with a key set, every path but the health asks for it."""

import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import openai
import pytest
from openai import OpenAI
from pydantic import SecretStr

from embedding_server.app import create_app
from embedding_server.encoders.hashing import NAME
from embedding_server.settings import Settings
from tests.embedding_server.running import serve, wait_until_ready

KEY = "a-key, with a blank"
PATHS = ["/v1/models", "/v1/models/x", "/models", "/metrics", "/openapi.json", "/health/", "/none"]


@pytest.fixture(scope="module")
def guarded_url() -> Iterator[str]:
    with serve(create_app(Settings(model=NAME, api_key=SecretStr(KEY)))) as url:
        wait_until_ready(url)
        yield url


def test_the_right_key_opens(guarded_url: str) -> None:
    headers = {b"Authorization": f"Bearer {KEY}".encode()}
    answer = httpx.get(f"{guarded_url}/v1/models", headers=headers)
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer wrong", "Bearer ümlaut", f"Basic {KEY}", KEY, f"Bearer {KEY}x"]
)
@pytest.mark.parametrize("path", PATHS)
def test_every_other_key_is_401(guarded_url: str, path: str, header: str) -> None:
    headers = {b"Authorization": header.encode()}
    answer = httpx.get(f"{guarded_url}{path}", headers=headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.json()["error"]["code"] == "invalid_api_key"


def test_the_official_client_sees_an_authentication_error(guarded_url: str) -> None:
    with OpenAI(base_url=f"{guarded_url}/v1", api_key="wrong") as client:
        with pytest.raises(openai.AuthenticationError, match="Incorrect API key"):
            client.embeddings.create(model=NAME, input="a")
        with pytest.raises(openai.AuthenticationError):
            client.models.list()


def test_the_key_is_checked_before_the_body(guarded_url: str) -> None:
    assert httpx.post(f"{guarded_url}/v1/embeddings", json={}).status_code == 401
    assert httpx.post(f"{guarded_url}/embeddings", json={}).status_code == 401
    headers = {"Content-Type": "application/json"}
    broken = httpx.post(f"{guarded_url}/embeddings", content=b"{", headers=headers)
    assert broken.status_code == 401


def test_a_client_without_the_key_is_answered_before_it_has_sent_its_body(guarded_url: str) -> None:
    with socket.create_connection(("127.0.0.1", urlsplit(guarded_url).port or 0)) as connection:
        connection.sendall(
            b"POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
        )
        assert connection.recv(1000).startswith(b"HTTP/1.1 401 ")


def test_health_needs_no_key(guarded_url: str) -> None:
    assert httpx.get(f"{guarded_url}/health").status_code == 200


def test_the_key_is_not_shown() -> None:
    assert KEY not in repr(Settings(api_key=SecretStr(KEY)))
