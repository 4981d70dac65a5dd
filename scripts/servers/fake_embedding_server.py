"""A fake at the outer edge: an OpenAI-compatible server whose vectors are made of words.

    scripts/servers/fake_embedding_server.py --port 8001 --dimensions 384 [--hangs-on WORD]

It takes the place of a model where only the time of everything else is to be measured: a vector
costs it less than 0.1 ms. What it answers is as good as a bag of words.
"""

import argparse
import asyncio
import base64
import sys
from pathlib import Path

import numpy as np
import orjson
import uvicorn
from numpy.typing import NDArray
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from scripts.generated.word_vectors import WordVectors


def main() -> None:
    """Serve until stopped."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=8001)
    parser.add_argument("--dimensions", type=int, default=384)
    parser.add_argument("--hangs-on", help="never answer a text with this word")
    asked = parser.parse_args()
    app = create_app(WordVectors(asked.dimensions), asked.hangs_on)
    uvicorn.run(
        app, host="127.0.0.1", port=asked.port, log_level="warning", access_log=False,
        timeout_graceful_shutdown=1,
    )  # fmt: skip


def create_app(vectors: WordVectors, hangs_on: str | None = None) -> Starlette:
    """Build the server around the vectors it offers."""
    name = vectors.model.name

    async def list_models(request: Request) -> Response:
        del request
        return answer({"object": "list", "data": [{"id": name, "owned_by": "measuring"}]})

    async def embed(request: Request) -> Response:
        body = orjson.loads(await request.body())
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        if hangs_on and any(hangs_on in text for text in texts):
            await asyncio.sleep(3600)
        made = [vectors.embed(text) for text in texts]
        is_packed = body.get("encoding_format") == "base64"
        data = [
            {
                "object": "embedding",
                "index": place,
                "embedding": pack(vector) if is_packed else vector.tolist(),
            }
            for place, vector in enumerate(made)
        ]
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        return answer({"object": "list", "model": name, "data": data, "usage": usage})

    return Starlette(
        routes=[
            Route("/v1/models", list_models),
            Route("/v1/embeddings", embed, methods=["POST"]),
        ]
    )


def pack(vector: NDArray[np.float32]) -> str:
    """Return a vector as base64 of little-endian float32, as openai-python asks for it."""
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


def answer(body: object) -> Response:
    """Return a value as JSON."""
    return Response(orjson.dumps(body), media_type="application/json")


if __name__ == "__main__":
    main()
