"""The peer as a service: the least that answers POST /search with LanceDB's hybrid search.

    scripts/search/lancedb_server.py FOLDER --port 8090 --embedding-url URL [--index IVF_PQ]

A library answers where the question is; agents ask a service. This one is what somebody would
write around the library in an afternoon: FastAPI and uvicorn as ours, the question's vector from
the same server, the search in a thread. It has no keys, no filters but a scope, and explains
nothing. Answers have the fields of ours that the scripts look at.
"""

import argparse
import asyncio
import importlib
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
import numpy as np
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from scripts.servers.processes import server_process

if TYPE_CHECKING:
    from scripts.search.lancedb_peer import LancePeer


class Asked(BaseModel):
    """A question; `exact` passes by the vector index."""

    query: str
    limit: int = 10
    scope: str | None = None
    exact: bool = False


def main() -> None:
    """Serve a built table until stopped."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--embedding-url", required=True)
    parser.add_argument("--index", default="IVF_PQ", help="LanceDB's index_type")
    asked = parser.parse_args()
    # Only this script needs its library, and --help does not.
    library: Any = importlib.import_module("scripts.search.lancedb_peer")
    peer = library.LancePeer(asked.folder, asked.index)
    peer.open_built()
    app = create_app(peer, asked.embedding_url)
    uvicorn.run(app, host="127.0.0.1", port=asked.port, log_level="warning", access_log=False)


def create_app(peer: "LancePeer", embedding_url: str) -> FastAPI:
    """Build the service around an opened table."""

    @asynccontextmanager
    async def connected(app: FastAPI) -> AsyncIterator[None]:
        async with aiohttp.ClientSession(embedding_url) as app.state.embedder:
            yield

    app = FastAPI(lifespan=connected)

    @app.get("/health/ready")
    async def ready() -> dict[str, bool]:
        return {"ready": True}

    @app.post("/search")
    async def search(asked: Asked) -> dict[str, Any]:
        started = time.perf_counter()
        body = {"input": asked.query, "model": "any", "encoding_format": "float"}
        async with app.state.embedder.post("/v1/embeddings", json=body) as answer:
            told = await answer.json()
        vector = np.array(told["data"][0]["embedding"], np.float32)
        embedded = (time.perf_counter() - started) * 1000
        rows = await asyncio.to_thread(
            peer.rows, asked.query, vector, scope=asked.scope, exact=asked.exact
        )
        # All that passed a filter by scope have that one.
        results = [{"id": row["id"], "content": row["text"], "scope": asked.scope} for row in rows]
        receipt = {"stages_ms": {"embed": embedded}, "missing_signals": []}
        return {"results": results, "receipt": receipt}

    return app


@contextmanager
def peer_server(folder: Path, index_type: str, embedding_url: str) -> Iterator[str]:
    """Run it as a process of its own on a built table; yields its base URL."""
    options = (str(folder), "--embedding-url", embedding_url, "--index", index_type)
    with server_process(Path(__file__).resolve(), "/health/ready", *options) as url:
        yield url


if __name__ == "__main__":
    main()
