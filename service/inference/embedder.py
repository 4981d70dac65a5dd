"""Client of any OpenAI-compatible embedding server."""

import asyncio
import base64
import binascii
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import httpx
import numpy as np
import orjson

from service.errors import EmbedderRefused, EmbedderUnavailable
from service.records import Vector

log = logging.getLogger(__name__)


# What openai-python retries too: time-outs, lost races, busy servers.
_PASSING: Final = frozenset({408, 409, 429, 500, 502, 503, 504})
_ATTEMPTS: Final = 4
_FIRST_WAIT_SECONDS: Final = 0.2
_LONGEST_WAIT_SECONDS: Final = 5.0
# After a refused connection the next calls fail at once for this long: a search must not wait
# for a server that was just found to be away.
_REST_SECONDS: Final = 1.0
# A foreign server's limit is unknown; 8,192 tokens of English are about 30,000 characters.
_MOST_CHARACTERS: Final = 30_000


@dataclass(frozen=True, slots=True)
class EmbedderAddress:
    """Where the embedding server is and what to ask of it."""

    url: str
    model: str | None = None
    api_key: str | None = None
    dimensions: int | None = None
    instruction: str | None = None
    batch_size: int = 8
    timeout_seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """The model that answers; `speaks_input_type` marks our own server and its extra fields."""

    name: str
    dimensions: int
    speaks_input_type: bool
    instruction: str | None = None

    @property
    def fingerprint(self) -> str:
        """What must be equal for two vectors to be comparable."""
        return f"{self.name}/{self.dimensions}/{self.instruction or 'default'}"


class Embedder:
    """Embeds texts in batches, with retries; every vector it returns is checked."""

    def __init__(
        self, address: EmbedderAddress, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        headers = {"Authorization": f"Bearer {address.api_key}"} if address.api_key else {}
        self.address = address
        self._client = httpx.AsyncClient(
            base_url=address.url,
            headers=headers,
            timeout=httpx.Timeout(address.timeout_seconds, connect=2.0),
            transport=transport,
        )
        self._model: EmbeddingModel | None = None
        self._is_listed = False
        self._resting_until = 0.0

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def describe(self) -> EmbeddingModel:
        """Ask the server for its model and embed one word to learn the vectors' length.

        Raises EmbedderUnavailable (no answer) or EmbedderRefused (an answer of no use).
        """
        listed = await self._list_models()
        wanted = self.address.model
        entry: dict[str, Any] = next((m for m in listed if wanted in {None, m.get("id")}), {})
        name = wanted or entry.get("id")
        if not name:
            msg = (
                f"The embedding server at {self.address.url} lists no model: "
                "set MEMORY_EMBEDDING_MODEL."
            )
            raise EmbedderRefused(msg)
        model = EmbeddingModel(
            name, 0, entry.get("owned_by") == "graph-memory", self.address.instruction
        )
        [vector] = await self._embed_batch(model, ["dimension"], is_query=False, attempts=1)
        self._is_listed = bool(entry)
        self._model = EmbeddingModel(
            name, len(vector), model.speaks_input_type, self.address.instruction
        )
        return self._model

    async def check(self) -> None:
        """Raise EmbedderUnavailable or EmbedderRefused unless the server still has the model."""
        listed = [item.get("id") for item in await self._list_models()]
        # Some gateways serve names that they do not list.
        if self._model and self._is_listed and listed and self._model.name not in listed:
            msg = (
                f"The embedding server no longer offers {self._model.name}, it offers {listed[0]}: "
                "start the old model again, or restart this service."
            )
            raise EmbedderRefused(msg)

    async def _list_models(self) -> list[dict[str, Any]]:
        """Ask for the server's models; for one that is named, a server without a list will do."""
        try:
            return _items(await self._request("GET", "/v1/models", None, attempts=1))
        except EmbedderRefused:
            if self.address.model is None:
                raise
            return []

    async def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a question, with the model's query instruction.

        Tried once more at most: a search would rather answer without its vector signal.
        """
        [vector] = await self._embed_batch(
            await self._described(), [text], is_query=True, attempts=2
        )
        return vector

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Return the unit vectors of `texts`, in their order, asked for in small batches."""
        model = await self._described()
        vectors: list[Vector] = []
        for start in range(0, len(texts), self.address.batch_size):
            batch = texts[start : start + self.address.batch_size]
            vectors += await self._embed_batch(model, batch, is_query=False, attempts=_ATTEMPTS)
        return vectors

    async def _described(self) -> EmbeddingModel:
        return self._model or await self.describe()

    async def _embed_batch(
        self, model: EmbeddingModel, texts: Sequence[str], *, is_query: bool, attempts: int
    ) -> list[Vector]:
        body = self._body(model, texts, is_query=is_query)
        answer = await self._request("POST", "/v1/embeddings", body, attempts=attempts)
        data = _in_order(_items(answer), len(texts))
        return [_checked(_decode(item.get("embedding")), model.dimensions) for item in data]

    def _body(
        self, model: EmbeddingModel, texts: Sequence[str], *, is_query: bool
    ) -> dict[str, Any]:
        body: dict[str, Any] = {"model": model.name, "encoding_format": "base64"}
        if self.address.dimensions:
            body["dimensions"] = self.address.dimensions
        if model.speaks_input_type:
            body |= {"input": list(texts), "truncate": True}
            body["input_type"] = "query" if is_query else "document"
            if is_query and model.instruction:
                body["instruction"] = model.instruction
            return body
        # A foreign server knows no query instruction: the prompt of Qwen3-Embedding's card.
        prefix = f"Instruct: {model.instruction}\nQuery:" if is_query and model.instruction else ""
        body["input"] = [prefix + text[:_MOST_CHARACTERS] for text in texts]
        return body

    async def _request(
        self, method: str, path: str, body: dict[str, Any] | None, *, attempts: int
    ) -> dict[str, Any]:
        for attempt in range(1, attempts + 1):
            try:
                return await self._request_once(method, path, body)
            except _PassingFailure as failure:
                if attempt == attempts:
                    raise EmbedderUnavailable(failure.detail) from failure
                wait_seconds = failure.wait_seconds or _FIRST_WAIT_SECONDS * 3 ** (attempt - 1)
                await asyncio.sleep(min(wait_seconds, _LONGEST_WAIT_SECONDS))
        raise AssertionError

    async def _request_once(
        self, method: str, path: str, body: dict[str, Any] | None
    ) -> dict[str, Any]:
        if time.monotonic() < self._resting_until:
            msg = f"The embedding server at {self.address.url} did not answer a moment ago."
            raise EmbedderUnavailable(msg)
        try:
            response = await self._client.request(
                method, path, content=orjson.dumps(body) if body else None, headers=_JSON
            )
        except httpx.DecodingError as error:
            msg = "The embedding server's answer cannot be unpacked."
            raise EmbedderRefused(msg) from error
        except httpx.TransportError as error:
            if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
                self._resting_until = time.monotonic() + _REST_SECONDS
                detail = f"No embedding server answers at {self.address.url}."
                raise EmbedderUnavailable(detail) from error
            raise _PassingFailure(f"The embedding server broke off ({error!r}).") from error
        return self._read(response)

    def _read(self, response: httpx.Response) -> dict[str, Any]:
        if response.status_code != 200:
            detail = f"The embedding server answered {refusal_of(response)}"
            is_final = response.headers.get("x-should-retry") == "false"
            if is_final or response.status_code not in _PASSING:
                raise EmbedderRefused(detail)
            raise _PassingFailure(detail, _seconds(response.headers.get("retry-after")))
        try:
            answer = orjson.loads(response.content)
        except orjson.JSONDecodeError as error:
            msg = "The embedding server answered something that is not JSON."
            raise EmbedderRefused(msg) from error
        if not isinstance(answer, dict):
            raise EmbedderRefused("The embedding server answered JSON that is not an object.")
        return answer


class _PassingFailure(Exception):
    """A failure that may be gone at the next try."""

    def __init__(self, detail: str, wait_seconds: float | None = None) -> None:
        self.detail = detail
        self.wait_seconds = wait_seconds
        super().__init__(detail)


_JSON: Final = {"Content-Type": "application/json"}


def _items(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what an answer lists under `data`."""
    items = answer.get("data") or []
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise EmbedderRefused("The embedding server's answer has no list of objects in `data`.")
    return items


def _in_order(items: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """Return one item for each text, by `index`; without any they stand in the texts' order."""
    if len(items) != count:
        msg = f"The embedding server returned {len(items)} vectors for {count} texts."
        raise EmbedderRefused(msg)
    placed = {
        index: item
        for place, item in enumerate(items)
        if isinstance(index := item.get("index", place), int)
    }
    if set(placed) != set(range(count)):
        raise EmbedderRefused("The embedding server returned vectors whose `index` is wrong.")
    return [placed[place] for place in range(count)]


def _decode(embedding: object) -> Vector:
    """Read a vector in either encoding: base64 of little-endian float32, or a list."""
    try:
        if isinstance(embedding, str):
            return np.frombuffer(base64.b64decode(embedding, validate=True), "<f4")
        with np.errstate(over="ignore"):  # too large for float32: infinity, refused below
            return np.asarray(embedding, dtype=np.float32)
    except (binascii.Error, ValueError, TypeError) as error:
        msg = "The embedding server returned a vector that cannot be read."
        raise EmbedderRefused(msg) from error


def _checked(vector: Vector, dimensions: int) -> Vector:
    """Return the vector at unit length; refuse a wrong length, NaN, infinity or all zeros."""
    if vector.ndim != 1 or not len(vector) or (dimensions and len(vector) != dimensions):
        msg = f"The embedding server returned {vector.shape} numbers, {dimensions} were expected."
        raise EmbedderRefused(msg)
    length = float(np.linalg.norm(vector.astype(np.float64)))
    if not np.isfinite(length) or length == 0.0:
        msg = "The embedding server returned a vector with NaN, infinity or only zeros."
        raise EmbedderRefused(msg)
    return (vector / length).astype(np.float32)


def refusal_of(response: httpx.Response) -> str:
    """Return a refusal's status and what it says in OpenAI's, Cohere's or FastAPI's fields."""
    try:
        answer = orjson.loads(response.content)
        error = answer.get("error") or answer.get("message") or answer["detail"]
        reason = str(error["message"] if isinstance(error, dict) else error)
    except (orjson.JSONDecodeError, AttributeError, KeyError):
        reason = response.text
    return f"{response.status_code}: {reason[:300]}"


def _seconds(header: str | None) -> float | None:
    return float(header) if header and header.replace(".", "", 1).isdigit() else None
