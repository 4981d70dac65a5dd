"""The event loop answers everybody: the JSON of a large body, in or out, is no work of its own."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace

import httpx
import numpy as np
import pytest

from embedding_server.app import create_app
from embedding_server.encoder import TokenIds
from embedding_server.settings import Settings
from embedding_server.vectors import Vectors
from tests.embedding_server.edge import NAME, PATIENCE_SECONDS, GatedEncoder
from tests.longest_turn import longest_turn

# What is left is to look at the texts. Before, numbers held the loop for a second and more.
MOST_SECONDS = 0.1
NUMBERS = ",".join(["1"] * 7_900_000)
BODIES = {
    "texts": (200, json.dumps({"model": NAME, "input": ["1 2 3"] * 2048})),
    "Korean": (
        200,
        json.dumps({"model": NAME, "input": ["오늘 서울에서 " * 1000] * 700}, ensure_ascii=False),
    ),
    "escapes": (200, json.dumps({"model": NAME, "input": ["오늘 서울에서 " * 1000] * 330})),
    "numbers": (400, f'{{"model": "{NAME}", "input": [{NUMBERS}]}}'),
    "lists of numbers": (400, f'{{"model": "{NAME}", "input": [[{NUMBERS}]]}}'),
    "texts and numbers": (400, f'{{"model": "{NAME}", "input": ["a", {NUMBERS}]}}'),
    "numbers beside the texts": (400, f'{{"model": "{NAME}", "input": "1", "user": [{NUMBERS}]}}'),
}


class WideEncoder(GatedEncoder):
    """Gives vectors as long as the largest models do, with all their digits."""

    card = replace(GatedEncoder.card, dimensions=4096)

    def tokenize(self, texts: Sequence[str], limit: int | None = None) -> list[list[int]]:
        """Take every text for one token."""
        assert limit is None or limit
        return [[1]] * len(texts)

    def encode(self, batch: Sequence[TokenIds]) -> Vectors:
        """Give every text the same vector."""
        vector = np.random.default_rng(1).standard_normal(4096, dtype=np.float32)
        return np.broadcast_to(vector, (len(batch), 4096))


@pytest.mark.anyio
async def test_large_bodies_hold_up_nobody() -> None:
    app = create_app(Settings(), lambda _settings: WideEncoder())
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://127.0.0.1", timeout=60
        ) as client,
    ):
        for _ in range(PATIENCE_SECONDS * 20):
            if (await client.get("/health")).status_code == 200:
                break
            await asyncio.sleep(0.05)
        turns = {}
        for name, (status, body) in BODIES.items():
            content = body.encode()
            headers = {"Content-Type": "application/json", "Content-Length": str(len(content))}
            async with longest_turn() as longest:
                answer = await client.post("/v1/embeddings", content=content, headers=headers)
            assert answer.status_code == status, answer.text
            turns[name] = round(longest[0], 3)
        assert {name: seconds for name, seconds in turns.items() if seconds > MOST_SECONDS} == {}
