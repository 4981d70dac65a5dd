"""Client of a rerank server that speaks Cohere's shape (Jina, vLLM, LiteLLM, llama.cpp) or TEI's.

A search goes on without it, so it is asked once, within a time limit, and left alone for a while
after a failure.
"""

import logging
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from service.inference.asking import (
    Answer,
    AnswerUnusable,
    BrokenOff,
    Call,
    Client,
    Unreachable,
    UnusableUrl,
)
from service.redaction import redacted

log = logging.getLogger(__name__)

# After a failure it is not asked for this long: searches must not queue up behind a sick server.
_REST_SECONDS: Final = 30.0
# An index and a score a document, and whatever a server tells beside them.
_BYTES_A_DOCUMENT: Final = 20_000
_BYTES_AROUND: Final = 1_000_000
# What a server answers that knows another path (404) or other fields (422).
_ANOTHER_SHAPE: Final = frozenset({404, 422})


class RerankFailed(Exception):
    """The rerank server gave no order to use. Never an answer's error.

    The text says why, in the server's own words too; `logged`, which is for logs, without these.
    """

    def __init__(self, reason: str, said: str = "") -> None:
        self.logged = redacted(reason)
        super().__init__(redacted(f"{reason}: {said}") if said else self.logged)


@dataclass(frozen=True, slots=True)
class RerankerAddress:
    """Where the rerank server is: a base URL, or the whole address that ends in `/rerank`."""

    url: str
    model: str | None = None
    api_key: str | None = None
    timeout_seconds: float = 5.0


class Reranker:
    """Scores documents for a question; every answer is checked before it is believed."""

    def __init__(self, address: RerankerAddress) -> None:
        self.address = address
        self._client = Client(address.url, address.api_key)
        self._speaks_tei = False
        self._resting_until = 0.0
        self._failure = ""

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def score(self, question: str, documents: Sequence[str]) -> list[float]:
        """Return one score for each document, in their order: the larger, the more relevant.

        Probabilities or logits, whichever the server gives. Raises RerankFailed, and again for
        30 s after a failure without asking.
        """
        if time.monotonic() < self._resting_until:
            msg = f"{self._failure} It is left alone for {_REST_SECONDS:.0f} s."
            raise RerankFailed(msg)
        try:
            until = time.monotonic() + self.address.timeout_seconds
            return await self._scores(question, documents, until)
        except AnswerUnusable as error:
            failure = RerankFailed("The rerank server's answer cannot be used", f"it {error}")
            raise self._failed(failure) from error
        except BrokenOff as error:
            failure = RerankFailed("The rerank server broke off", str(error))
            raise self._failed(failure) from error
        except (Unreachable, UnusableUrl, TimeoutError) as error:
            failure = RerankFailed(f"The rerank server {self._silence(error)}.")
            raise self._failed(failure) from error
        except RerankFailed as error:
            raise self._failed(error) from error

    def _silence(self, error: Exception) -> str:
        if isinstance(error, TimeoutError):
            return f"did not answer within {self.address.timeout_seconds:g} s"
        return f"at {self.address.url} cannot be reached ({error})"

    def _failed(self, failure: RerankFailed) -> RerankFailed:
        self._resting_until, self._failure = time.monotonic() + _REST_SECONDS, str(failure)
        log.warning("searches go without reranking for %.0f s: %s", _REST_SECONDS, failure.logged)
        return failure

    async def _scores(self, question: str, documents: Sequence[str], until: float) -> list[float]:
        """Ask in the shape that was understood last; where it no longer is, in the other one."""
        call = self._call(question, documents, until, speaks_tei=self._speaks_tei)
        first = await self._client.ask(call)
        if first.status not in _ANOTHER_SHAPE:
            return _read(first, len(documents))
        other = self._call(question, documents, until, speaks_tei=not self._speaks_tei)
        second = await self._client.ask(other)
        if second.status != 200:
            said = " and ".join(
                f"{answer.status}: {answer.refusal()} ({one.url})"
                for answer, one in ((first, call), (second, other))
            )
            msg = f"The rerank server answered {first.status} and {second.status}"
            raise RerankFailed(msg, said)
        scores = _read(second, len(documents))
        self._speaks_tei = not self._speaks_tei
        return scores

    def _call(
        self, question: str, documents: Sequence[str], until: float, *, speaks_tei: bool
    ) -> Call:
        if speaks_tei:
            path = "/rerank"
            body: dict[str, Any] = {"query": question, "texts": documents, "truncate": True}
        else:
            # Only the fields that every server takes; all documents are to come back.
            path = "/v1/rerank"
            body = {"query": question, "documents": documents, "top_n": len(documents)}
            if self.address.model:
                body["model"] = self.address.model
        url = self.address.url
        whole = url if url.endswith("/rerank") else f"{url}{path}"
        most_bytes = len(documents) * _BYTES_A_DOCUMENT + _BYTES_AROUND
        return Call("POST", whole, body, until, most_bytes)


def _read(response: Answer, count: int) -> list[float]:
    """Return the scores of an answer in the documents' order."""
    if response.status != 200:
        raise RerankFailed(f"The rerank server answered {response.status}", response.refusal())
    try:
        answer = orjson.loads(response.content)
    except orjson.JSONDecodeError as error:
        msg = "The rerank server answered something that is not JSON."
        raise RerankFailed(msg) from error
    return _in_order(answer.get("results") if isinstance(answer, dict) else answer, count)


def _in_order(items: object, count: int) -> list[float]:
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise RerankFailed("The rerank server's answer has no list of objects in `results`.")
    scores: dict[int, float] = {}
    for item in items:
        index, score = item.get("index"), item.get("relevance_score", item.get("score"))
        if type(index) is not int or type(score) not in {int, float} or not math.isfinite(score):
            raise RerankFailed("The rerank server's answer has an `index` or score of no use.")
        scores[index] = float(score)
    if len(items) != count or set(scores) != set(range(count)):
        msg = f"The rerank server's answer does not have each `index` of {count} texts once."
        raise RerankFailed(msg)
    return [scores[place] for place in range(count)]
