"""The event loop answers everybody: reading long texts is no work of its own."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from service.app import create_app
from service.settings import Settings
from tests.longest_turn import longest_turn
from tests.servers.outer_embeddings import outer_embeddings

pytestmark = pytest.mark.anyio

# What is left is JSON and the driver's answers. Before, the line numbers held the loop for 5 s.
MOST_SECONDS = 0.15
TEXTS = {
    "Korean": "오늘 서울에서 블루버니가 회의를 했다. " * 600,
    "names": " ".join(f"Anna B{number} and GPU-{number} met." for number in range(900)),
    "line numbers": "a" + ":1" * 15_000 + "x",
}


def _talk(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text[:2000]} for _ in range(1000)]


async def test_long_texts_hold_up_nobody(tmp_path: Path) -> None:
    with outer_embeddings() as embeddings:
        settings = Settings(_env_file=None, data_dir=tmp_path, embedding_url=embeddings.url)
        app = create_app(settings)
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(
                transport=transport, base_url="http://127.0.0.1", timeout=60
            ) as client,
        ):

            async def post(path: str, **body: Any) -> None:
                answer = await client.post(path, json=body)
                assert answer.status_code < 300, answer.text

            # First uses load code and the model's name.
            await post("/memories", text="A blue bunny.")
            await post("/search", query="bunny")
            await post("/graph-recall", query="bunny")
            note = "\n\n".join(f"## Heading {n}\n\nGPU-{n}." for n in range(100))
            slow = {}
            for name, text in TEXTS.items():
                requests: dict[str, tuple[str, dict[str, Any]]] = {
                    "store": ("/memories", {"text": text, "session": "s"}),
                    "batch": (
                        "/memories/batch",
                        {"memories": [{"text": f"{text[:9000]} {n}"} for n in range(10)]},
                    ),
                    "ingest": ("/ingest", {"source": "a.md", "text": f"{note}\n\n{text}"}),
                    "search": ("/search", {"query": text[:5000], "limit": 50}),
                    "recall": ("/graph-recall", {"query": text[:5000]}),
                    "pack": ("/context/pack", {"messages": _talk(text), "max_tokens": 2000}),
                }
                for deed, (path, body) in requests.items():
                    async with longest_turn() as longest:
                        await post(path, **body)
                    if longest[0] > MOST_SECONDS:
                        slow[deed, name] = round(longest[0], 3)
            assert slow == {}
