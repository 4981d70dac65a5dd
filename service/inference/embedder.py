"""Client of any OpenAI-compatible embedding server."""

import asyncio
import time
from collections.abc import Sequence
from math import inf
from typing import Any, Final

from service.errors import EmbedderForbids, EmbedderRefused, EmbedderUnavailable, ServiceError
from service.inference.answers import items_of
from service.inference.asking import (
    Answer,
    AnswerUnusable,
    BrokenOff,
    Call,
    Client,
    Unreachable,
    Untrusted,
    UnusableUrl,
)
from service.inference.breaker import Breaker
from service.inference.model import (
    CANARY,
    Asking,
    EmbedderAddress,
    EmbeddingModel,
    Made,
    Patience,
)
from service.inference.statuses import (
    PassingFailure,
    accepted,
    embedded_in,
    may_lie_in_texts,
    object_of,
)
from service.records import Vector

_ATTEMPTS: Final = 4
_FIRST_WAIT_SECONDS: Final = 0.2
_LONGEST_WAIT_SECONDS: Final = 5.0
# A foreign server's limit is unknown; 8,192 tokens of English are about 30,000 characters.
_MOST_CHARACTERS: Final = 30_000
# A number of a vector as decimal text with its comma, and more for what stands around.
_BYTES_A_NUMBER: Final = 32
_BYTES_AROUND: Final = 1_000_000
_MOST_DIMENSIONS: Final = 8192
_MOST_NAMES_BYTES: Final = 4_000_000
_NO_TIME: Final = "There was no time left for the embedding server."
# Larger answers are read beside the event loop.
_READ_AT_ONCE_BYTES: Final = 100_000


class Embedder:
    """Embeds texts in batches, with retries; every vector it returns is checked.

    `changes` counts what may mean another model: a new connection, another `model` in an answer.
    `failed_at` is when a call last gave no vectors, on the monotonic clock.
    """

    def __init__(self, address: EmbedderAddress, breaker: Breaker | None = None) -> None:
        self.address = address
        self.breaker = breaker or Breaker()
        self.changes = 0
        self._client = Client(address.url, address.api_key)
        self._model: EmbeddingModel | None = None
        self._answered: object = None
        self._failure: ServiceError | None = None
        self.failed_at = -inf

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def describe(self) -> tuple[EmbeddingModel, Vector]:
        """Ask the server for its model and embed the canary; returns both.

        Raises EmbedderUnavailable (no answer) or EmbedderRefused (an answer of no use).
        """
        until = time.monotonic() + self.address.write_seconds
        listed = await self._list_models(until)
        wanted = self.address.model
        meant = [told for told in listed if wanted is None or told.get("id") == wanted]
        # Ours takes more names than it lists: a folder's path, its vendor's in front.
        entry = next(iter(meant or listed), dict[str, Any]())
        name = wanted or entry.get("id")
        if not name or not isinstance(name, str):
            msg = (
                f"The embedding server at {self.address.url} lists no model: "
                "set MEMORY_EMBEDDING_MODEL."
            )
            raise EmbedderRefused(msg)
        is_ours = entry.get("owned_by") == "graph-memory"
        model = EmbeddingModel(name, 0, is_ours, self.address.instruction)
        [canary], _ = await self._embed_batch(model, [CANARY], Asking(until, 1, is_probe=True))
        if is_ours and self.address.instruction:
            # A model that takes none refuses every question, and no document.
            asking = Asking(until, 1, is_query=True, is_probe=True)
            await self._embed_batch(model, [CANARY], asking)
        self._model = EmbeddingModel(name, len(canary), is_ours, self.address.instruction)
        return self._model, canary

    async def embed_canary(self, until: float) -> Vector:
        """Return the vector of the canary: what a probe asks for, who may ask while others rest."""
        asking = Asking(until, 1, is_probe=True)
        [vector], _ = await self._embed_batch(await self._described(), [CANARY], asking)
        return vector

    async def embed_query(self, text: str, until: float | None = None) -> Vector:
        """Return the unit vector of a question, with the model's query instruction.

        Tried once more at most: a search would rather answer without its vector signal.
        """
        model = await self._described()
        until = until or time.monotonic() + self.address.query_seconds
        [vector], _ = await self._embed_batch(model, [text], Asking(until, 2, is_query=True))
        return vector

    async def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Return the unit vectors of `texts`, in their order, asked for in small batches.

        Raises EmbedderRefused too where the server fails at these, or in time, or forbids these,
        as a firewall in front of it does, but at nothing else.
        """
        patience = Patience(self.address.timeout_seconds)
        vectors, failure, _ = await self.embed_some(texts, patience)
        if failure is not None:
            raise await self._judged(failure)
        return vectors

    async def _judged(self, failure: ServiceError) -> ServiceError:
        """Return a failure as a refusal where it lies in the texts: the canary is embedded."""
        if not (isinstance(failure, EmbedderForbids) or may_lie_in_texts(failure.__cause__)):
            return failure
        # Of several batches that took too long two have it left alone: the canary waits for that.
        await asyncio.sleep(self.breaker.rest_seconds)
        try:
            await self.embed_canary(time.monotonic() + self.address.timeout_seconds)
        except ServiceError:
            return failure
        return EmbedderRefused(failure.logged, said=failure.said)

    async def embed_with_canary(
        self, texts: Sequence[str], patience: Patience
    ) -> tuple[Made, Vector | None]:
        """Return what `embed_some` does, and in the middle the canary as the same model embeds it.

        It goes with the last texts: for a short push a request of its own would be every second
        one. None where it could not be had; that alone is no failure, for it may be asked again.
        """
        vectors, failure, cut = await self.embed_some([*texts, CANARY], patience)
        canary = vectors.pop() if len(vectors) > len(texts) else None
        return Made(vectors, failure if len(vectors) < len(texts) else None, cut), canary

    async def embed_some(self, texts: Sequence[str], patience: Patience) -> Made:
        """Return the unit vectors of the first texts that could be had, and why not of all."""
        end, cut = patience.begin(), 0
        vectors: list[Vector] = []
        try:
            model = await self._described()
            for start in range(0, len(texts), self.address.batch_size):
                batch = texts[start : start + self.address.batch_size]
                asking = patience.asking(end, _ATTEMPTS)
                made, cut_here = await self._embed_batch(model, batch, asking)
                vectors, cut = vectors + made, cut + cut_here
        except (EmbedderUnavailable, EmbedderRefused) as error:
            return Made(vectors, error, cut)
        return Made(vectors, cut=cut)

    async def _described(self) -> EmbeddingModel:
        return self._model or (await self.describe())[0]

    async def _list_models(self, until: float) -> list[dict[str, Any]]:
        """Ask for the server's models; for one that is named, a server without a list will do."""
        call = Call("GET", f"{self.address.url}/v1/models", None, until, _MOST_NAMES_BYTES)
        try:
            return items_of(object_of(await self._request(call, 1, is_probe=True)))
        except EmbedderRefused:
            if self.address.model is None:
                raise
            return []

    async def _embed_batch(
        self, model: EmbeddingModel, texts: Sequence[str], asking: Asking
    ) -> tuple[list[Vector], int]:
        """Return the vectors of all of a batch's texts, and how many of these were cut."""
        try:
            vectors, cut = await self._asked(model, texts, asking)
        except ServiceError:
            self.failed_at = time.monotonic()
            raise
        is_told = model.speaks_input_type
        return vectors, cut if is_told else sum(len(text) > _MOST_CHARACTERS for text in texts)

    async def _asked(
        self, model: EmbeddingModel, texts: Sequence[str], asking: Asking
    ) -> tuple[list[Vector], int]:
        body = self._body(model, texts, is_query=asking.is_query)
        numbers = len(texts) * (model.dimensions or _MOST_DIMENSIONS)
        most_bytes = numbers * _BYTES_A_NUMBER + _BYTES_AROUND
        url = f"{self.address.url}/v1/embeddings"
        call = Call("POST", url, body, asking.until, most_bytes, asking.is_cut)
        answer = await self._request(call, asking.attempts, is_probe=asking.is_probe)
        if len(answer.content) > _READ_AT_ONCE_BYTES:
            read = await asyncio.to_thread(embedded_in, answer, len(texts), model.dimensions)
        else:
            read = embedded_in(answer, len(texts), model.dimensions)
        self._notice(answer, read.model)
        return read.vectors, read.cut

    def _notice(self, answer: Answer, named: object) -> None:
        """Count what may mean that another model answers."""
        is_renamed = named is not None and named != self._answered
        if is_renamed:
            self._answered = named
        self.changes += answer.is_on_new_connection or is_renamed

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

    async def _request(self, call: Call, attempts: int, *, is_probe: bool) -> Answer:
        for attempt in range(1, attempts + 1):
            try:
                return await self._request_once(call, is_probe=is_probe)
            except PassingFailure as failure:
                wanted = failure.wait_seconds or _FIRST_WAIT_SECONDS * 3 ** (attempt - 1)
                wait_seconds = min(wanted, _LONGEST_WAIT_SECONDS)
                if attempt == attempts or time.monotonic() + wait_seconds >= call.until:
                    raise EmbedderUnavailable(failure.detail, said=failure.said) from failure
                await asyncio.sleep(wait_seconds)
        raise AssertionError

    async def _request_once(self, call: Call, *, is_probe: bool) -> Answer:
        if call.until <= time.monotonic():
            raise EmbedderUnavailable(_NO_TIME)
        may_go = self.breaker.admit if _proves(call) else self.breaker.may_ask
        if not may_go(is_probe=is_probe):
            raise EmbedderUnavailable(self._why_left_alone())
        answer = await self._answer_to(call)
        self._succeed(call)
        return accepted(answer)

    async def _answer_to(self, call: Call) -> Answer:
        started = time.monotonic()
        try:
            return await self._client.ask(call)
        except AnswerUnusable as error:
            self._succeed(call)
            raise EmbedderRefused(
                "The embedding server's answer cannot be used", said=f"it {error}"
            ) from error
        except UnusableUrl as error:
            raise EmbedderRefused(f"MEMORY_EMBEDDING_URL cannot be used ({error}).") from error
        except Unreachable as error:
            is_gone = not isinstance(error, Untrusted)
            raise self._failed(f"is not trusted ({error})", is_gone=is_gone) from error
        except TimeoutError as error:
            if call.is_cut:
                raise EmbedderUnavailable(_NO_TIME) from error
            waited = time.monotonic() - started
            raise self._failed(f"did not answer within {waited:.1f} s", is_gone=False) from error
        except BrokenOff as error:
            # A lost race with a server that closes idle connections is worth another try.
            raise PassingFailure("The embedding server broke off", str(error)) from error

    def _succeed(self, call: Call) -> None:
        if _proves(call):
            self.breaker.succeed()

    def _failed(self, what: str, *, is_gone: bool) -> EmbedderUnavailable:
        self.breaker.fail(is_gone=is_gone)
        url = self.address.url
        none = f"No embedding server answers at {url}: start it, or set MEMORY_EMBEDDING_URL."
        told = none if is_gone else f"The embedding server at {url} {what}."
        self._failure = EmbedderUnavailable(told)
        return self._failure

    def _why_left_alone(self) -> str:
        told = self._failure.detail if self._failure else ""
        return f"{told} It did not answer a moment ago and is left alone until it does."


def _proves(call: Call) -> bool:
    """Return whether its outcome tells if texts are embedded: who hangs may list its models."""
    return call.method == "POST"
