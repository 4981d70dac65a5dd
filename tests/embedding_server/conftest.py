"""Running servers: one with the packaged MiniLM, one without weights; each started once."""

import os
from collections.abc import Iterator

import pytest
from openai import OpenAI

from embedding_server.app import create_app
from embedding_server.encoders import hashing
from embedding_server.settings import Settings
from tests.embedding_server.running import serve, wait_until_ready


@pytest.fixture(scope="session", autouse=True)
def _no_settings_from_outside() -> Iterator[None]:
    outside = {name: value for name, value in os.environ.items() if name.startswith("EMBEDDING_")}
    for name in outside:
        del os.environ[name]
    yield
    os.environ.update(outside)


@pytest.fixture(scope="session")
def minilm_url() -> Iterator[str]:
    """Yield the base URL of a server with the real MiniLM on the CPU."""
    with serve(create_app(Settings(model="all-MiniLM-L6-v2", device="cpu"))) as url:
        wait_until_ready(url)
        yield url


@pytest.fixture(scope="session")
def hashing_url() -> Iterator[str]:
    """Yield the base URL of a server with the encoder that has no weights."""
    with serve(create_app(Settings(model=hashing.NAME))) as url:
        wait_until_ready(url)
        yield url


@pytest.fixture(scope="session")
def openai_client(minilm_url: str) -> Iterator[OpenAI]:
    """Yield the official client as a user sets it up, but for its second tries."""
    with OpenAI(base_url=f"{minilm_url}/v1", api_key="unused", max_retries=0) as client:
        yield client
