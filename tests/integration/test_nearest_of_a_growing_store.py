"""A store that grows past where sketches are looked at first, over HTTP: what is near is found.

From 50,000 memories on it is so; here from 500, and a tenth is looked at twice.
"""

from pathlib import Path
from typing import Any, Final

import httpx
import numpy as np
import pytest
from numpy.typing import NDArray

from service.app import create_app
from service.index.resident import sketches
from service.index.resident.residency import Residency
from service.settings import Settings

pytestmark = pytest.mark.anyio

_WORDS: Final = [
    "anchor", "bell", "crane", "dock", "engine", "ferry", "gull", "harbour", "island", "jetty",
    "keel", "lantern", "mast", "net", "oar", "pier", "quay", "rope", "sail", "tide",
]  # fmt: skip
_BY_MEANING: Final = {"vector": 1, "text": 0, "graph": 0}
_PAGE: Final = 250


def text_of(number: int, chance: np.random.Generator) -> str:
    """Return a text of a few of the same words, and of two that no other has."""
    return f"{' '.join(chance.choice(_WORDS, 6))} x{number}x y{number * 7}y"


async def push(client: httpx.AsyncClient, texts: dict[str, str]) -> dict[str, str]:
    """Store texts by their references; returns their ids."""
    memories = [{"text": text, "source_ref": ref} for ref, text in texts.items()]
    answer = await client.post("/memories/batch", json={"memories": memories})
    assert answer.status_code == 200, answer.text
    return dict(zip(texts, answer.json()["ids"], strict=True))


async def vectors_of(url: str, texts: list[str]) -> NDArray[np.float32]:
    """Return the embedding server's vectors, at length 1."""
    async with httpx.AsyncClient(base_url=url, timeout=60) as embedder:
        rows: list[Any] = []
        for start in range(0, len(texts), 64):
            body = {"input": texts[start : start + 64], "model": "hashing-256"}
            answer = await embedder.post("/v1/embeddings", json=body)
            assert answer.status_code == 200, answer.text
            rows += [one["embedding"] for one in answer.json()["data"]]
    vectors: NDArray[np.float32] = np.array(rows, np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


async def nearest(client: httpx.AsyncClient, text: str) -> list[str]:
    """Return the ids of the ten that are nearest in meaning."""
    body = {"query": text, "limit": 10, "weights": _BY_MEANING, "duplicates": "show"}
    answer = await client.post("/search", json=body)
    assert answer.status_code == 200, answer.text
    assert not answer.json()["receipt"]["missing_signals"]
    return [hit["id"] for hit in answer.json()["results"]]


@pytest.mark.skipif(not sketches.is_fast(), reason="NOT TRIED: no compiler, or no instruction")
async def test_what_is_near_is_found_in_a_store_that_grows(
    tmp_path: Path, embedding_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.index.resident.vectors.FEWEST", 500)
    monkeypatch.setattr("service.index.resident.vectors._LOOKED_AT", 1)
    monkeypatch.setattr("service.index.resident.vectors.fitting_share", lambda *_: 0.1)
    chance = np.random.default_rng(2026)
    settings = Settings(_env_file=None, data_dir=tmp_path / "data", embedding_url=embedding_url)
    app = create_app(settings)
    texts: dict[str, str] = {}
    ids: dict[str, str] = {}
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://127.0.0.1", timeout=60
        ) as client,
    ):
        for page in range(10):
            new = {f"n{n}": text_of(n, chance) for n in range(page * _PAGE, (page + 1) * _PAGE)}
            # Some of those before get other words, one goes.
            new |= {ref: text_of(9000 + n, chance) for n, ref in enumerate(list(texts)[::97])}
            texts |= new
            ids |= await push(client, new)
            gone = f"n{page * _PAGE + 3}"
            assert (await client.delete(f"/memories/{ids[gone]}")).status_code == 204
            lost = texts.pop(gone)
            assert ids.pop(gone) not in await nearest(client, lost)
            for ref in list(new)[5::61]:
                assert (await nearest(client, texts[ref]))[0] == ids[ref], ref
            if page == 3:  # as a start does: from here on a share of all is looked at
                assert (await client.post("/index/rebuild")).status_code == 200
        held = app.state.parts[Residency].follower.held("main")
        assert held.vectors._share == 0.1
        assert held.vectors.count == len(texts)
        told = await vectors_of(embedding_url, list(texts.values()))
        keys, found = [ids[ref] for ref in texts], 0
        for row in chance.integers(0, len(keys), 30).tolist():
            best = np.argsort(-(told @ told[row]), kind="stable")[:10]
            near = await nearest(client, texts[list(texts)[row]])
            found += len({keys[place] for place in best} & set(near))
        assert found / 300 >= 0.95
