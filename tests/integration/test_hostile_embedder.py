"""The embedder that chaos has really hangs, drips, goes away and comes back on its port."""

import time
from collections.abc import Iterator

import httpx
import pytest

from scripts.chaos_rounds.draws import MOODS
from scripts.servers.hostile_embedder import WELL, HostileEmbedder, hostile_embedder

BODY = {"input": ["a text"], "model": "steady-model"}
WAIT_SECONDS = 0.6


@pytest.fixture
def embedder() -> Iterator[HostileEmbedder]:
    with hostile_embedder() as running:
        yield running


def ask(client: httpx.Client) -> httpx.Response:
    return client.post("/v1/embeddings", json=BODY, timeout=WAIT_SECONDS)


@pytest.mark.parametrize("mood", [mood for mood in MOODS if mood != "dripping"])
def test_it_is_well_again_after_each_mood(embedder: HostileEmbedder, mood: str) -> None:
    with httpx.Client(base_url=embedder.url) as client:
        well = ask(client).json()
        embedder.become(mood)
        try:
            assert ask(client).content != httpx.Response(200, json=well).content
        except httpx.TransportError:
            assert mood in {"hung", "gone"}
        embedder.become(WELL)
        assert ask(client).json() == well


def test_what_drips_comes_to_an_end_once_it_is_well(embedder: HostileEmbedder) -> None:
    embedder.become("dripping")
    with (
        httpx.Client(base_url=embedder.url) as client,
        client.stream("POST", "/v1/embeddings", json=BODY, timeout=5) as answer,
    ):
        parts = answer.iter_raw()
        started = time.monotonic()
        assert len(next(parts)) + len(next(parts)) < 8
        assert time.monotonic() - started > 0.1
        embedder.become(WELL)
        rest = b"".join(parts)
    assert rest.endswith(b"}")
