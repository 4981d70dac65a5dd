"""The model thread under failing, slow and cancelled work.

The encoders of this file stand at the outer edge, where a model would be: they are small, exact
and fail on purpose. Everything between them and the client is the real thing.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import httpx
import numpy as np
import pytest

from embedding_server.app import create_app
from embedding_server.batching import Batcher
from embedding_server.encoders.encoder import Encoder, ModelCard, TokenIds
from embedding_server.encoders.prompts import Prompts
from embedding_server.errors import CannotStart, EmbeddingFailed, ModelGone
from embedding_server.settings import Settings
from embedding_server.vectors import Vectors
from embedding_server.waiting import BatchLimits
from tests.embedding_server.running import serve, wait_until_ready

LIMITS = BatchLimits(texts=8, tokens=4096, padding_tokens=64)
FAILING, EXITING, NOT_A_NUMBER = 666, 667, 668


class FailingEncoder:
    """Gives (token count, first token) for a text; fails at three special tokens."""

    card = ModelCard(
        name="failing",
        aliases=frozenset(),
        dimensions=2,
        min_dimensions=1,
        max_tokens=100,
        device="cpu",
        prompts=Prompts(),
    )

    def __init__(self) -> None:
        self.batches: list[list[list[int]]] = []
        self.may_run = Event()
        self.may_run.set()

    def tokenize(self, texts: Sequence[str], limit: int | None = None) -> list[list[int]]:
        return [[int(word) for word in text.split()][:limit] for text in texts]

    def encode(self, batch: Sequence[TokenIds]) -> Vectors:
        self.may_run.wait()
        self.batches.append([list(tokens) for tokens in batch])
        if any(FAILING in tokens for tokens in batch):
            raise RuntimeError("out of memory")
        if any(EXITING in tokens for tokens in batch):
            raise SystemExit(3)
        vectors = np.array([[len(tokens), tokens[0]] for tokens in batch], dtype=np.float32)
        vectors[[NOT_A_NUMBER in tokens for tokens in batch]] = np.nan
        return vectors


def run_with_batcher(
    encoder: FailingEncoder, work: Callable[[Batcher], Coroutine[Any, Any, None]]
) -> None:
    async def main() -> None:
        with ThreadPoolExecutor(1) as thread:
            await work(Batcher(encoder.encode, 2, LIMITS, thread))

    asyncio.run(main())


def test_rows_are_in_the_order_of_the_texts() -> None:
    async def work(batcher: Batcher) -> None:
        texts = [[number] * (1 + number * 13 % 37) for number in range(50)]
        answer = await batcher.embed(texts)
        expected = [[len(text), number] for number, text in enumerate(texts)]
        np.testing.assert_array_equal(answer, np.array(expected, dtype=np.float32))

    run_with_batcher(FailingEncoder(), work)


def test_what_waits_goes_together() -> None:
    encoder = FailingEncoder()

    async def work(batcher: Batcher) -> None:
        encoder.may_run.clear()
        clients = [asyncio.create_task(batcher.embed([[number]])) for number in range(10)]
        await asyncio.sleep(0.05)
        encoder.may_run.set()
        answers = await asyncio.gather(*clients)
        assert [float(answer[0, 1]) for answer in answers] == list(range(10))

    run_with_batcher(encoder, work)
    # The first found the model free; eight of the nine that came meanwhile fill the next batch.
    assert [len(batch) for batch in encoder.batches] == [1, 8, 1]


@pytest.mark.parametrize("poison", [FAILING, EXITING, NOT_A_NUMBER])
def test_a_failure_hits_only_the_request_that_caused_it(poison: int) -> None:
    encoder = FailingEncoder()

    async def work(batcher: Batcher) -> None:
        encoder.may_run.clear()
        requests = [[[1]], [[2], [poison], [3]], [[4], [5]]]
        clients = [asyncio.create_task(batcher.embed(texts)) for texts in requests]
        await asyncio.sleep(0.05)
        encoder.may_run.set()
        first, failed, last = await asyncio.gather(*clients, return_exceptions=True)
        assert isinstance(failed, EmbeddingFailed)
        assert "input[1]" in failed.message
        np.testing.assert_array_equal(np.asarray(first), [[1, 1]])
        np.testing.assert_array_equal(np.asarray(last), [[1, 4], [1, 5]])
        np.testing.assert_array_equal(await batcher.embed([[6]]), [[1, 6]])

    run_with_batcher(encoder, work)


def test_a_wrong_number_of_vectors_is_a_failure() -> None:
    async def main() -> None:
        def encode(batch: Sequence[TokenIds]) -> Vectors:
            return np.ones((len(batch), 3), dtype=np.float32)

        with ThreadPoolExecutor(1) as thread, pytest.raises(EmbeddingFailed):
            await Batcher(encode, 2, LIMITS, thread).embed([[1]])

    asyncio.run(main())


def test_texts_of_a_cancelled_client_leave_the_queue() -> None:
    encoder = FailingEncoder()

    async def work(batcher: Batcher) -> None:
        encoder.may_run.clear()
        running = asyncio.create_task(batcher.embed([[1]]))
        cancelled = asyncio.create_task(batcher.embed([[2]] * 100))
        await asyncio.sleep(0.05)
        cancelled.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cancelled
        encoder.may_run.set()
        await running
        await batcher.embed([[3]])

    run_with_batcher(encoder, work)
    assert encoder.batches == [[[1]], [[3]]]


def test_a_closed_batcher_refuses() -> None:
    async def work(batcher: Batcher) -> None:
        await batcher.embed([[1]])
        batcher.close()
        with pytest.raises(ModelGone):
            await batcher.embed([[1]])

    run_with_batcher(FailingEncoder(), work)


def post(url: str, *texts: str) -> httpx.Response:
    body = {"model": "failing", "input": list(texts)}
    return httpx.post(f"{url}/v1/embeddings", json=body)


@pytest.mark.parametrize("poison", [FAILING, EXITING, NOT_A_NUMBER])
def test_a_failing_model_is_500_once_and_the_server_goes_on(poison: int) -> None:
    with serve(create_app(Settings(), lambda _settings: FailingEncoder())) as url:
        wait_until_ready(url)
        answer = post(url, "3 4", f"{poison} 1")
        assert answer.status_code == 500
        assert answer.headers["x-should-retry"] == "false"
        error = answer.json()["error"]
        assert (error["type"], error["code"], error["param"]) == (
            "server_error",
            "embedding_failed",
            "input",
        )
        assert "input[1]" in error["message"]
        assert "out of memory" not in answer.text
        assert httpx.get(f"{url}/health").status_code == 200
        assert post(url, "3 4").json()["data"][0]["embedding"] == pytest.approx([0.5547, 0.83205])


def test_a_failing_tokenizer_is_500_without_a_word_of_the_inside(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with serve(create_app(Settings(), lambda _settings: FailingEncoder())) as url:
        wait_until_ready(url)
        answer = post(url, "not a number")
        assert answer.status_code == 500
        assert answer.json()["error"]["code"] == "internal_error"
        assert "invalid literal" not in answer.text
        assert post(url, "3 4").status_code == 200
    assert "invalid literal" in caplog.text


def test_a_prefix_without_direction_is_500() -> None:
    def zero_first(_settings: Settings) -> Encoder:
        encoder = FailingEncoder()
        encoder.encode = lambda batch: np.array(  # type: ignore[method-assign]
            [[0, 1]] * len(batch), dtype=np.float32
        )
        return encoder

    with serve(create_app(Settings(), zero_first)) as url:
        wait_until_ready(url)
        body = {"model": "failing", "input": "1", "dimensions": 1}
        answer = httpx.post(f"{url}/v1/embeddings", json=body)
        assert answer.status_code == 500
        assert answer.json()["error"]["code"] == "embedding_failed"


def test_while_the_model_loads_everything_is_503_and_then_200() -> None:
    may_load = Event()

    def open_late(_settings: Settings) -> Encoder:
        may_load.wait()
        return FailingEncoder()

    with serve(create_app(Settings(), open_late)) as url:
        for answer in (
            httpx.get(f"{url}/health"),
            httpx.get(f"{url}/v1/models"),
            httpx.get(f"{url}/v1/models/failing"),
            post(url, "3 4"),
        ):
            assert answer.status_code == 503
            assert answer.json()["error"]["code"] == "model_loading"
            assert int(answer.headers["retry-after"]) > 0
        assert httpx.get(f"{url}/health").json()["status"] == "loading"
        may_load.set()
        wait_until_ready(url)
        assert post(url, "3 4").status_code == 200


def test_a_model_that_does_not_load_is_reported_and_stays_503() -> None:
    reasons: list[str] = []

    def open_never(_settings: Settings) -> Encoder:
        raise CannotStart("no such file\nand much advice")

    settings = Settings(model="some-model")
    with serve(create_app(settings, open_never, reasons.append)) as url:
        with pytest.raises(TimeoutError, match="no such file"):
            wait_until_ready(url, seconds=0.5)
        answer = post(url, "3 4")
        assert answer.status_code == 503
        assert answer.json()["error"]["code"] == "model_unavailable"
        health = httpx.get(f"{url}/health").json()
        assert health["status"] == "failed"
    assert reasons == ["Cannot load some-model: no such file"]


def test_health_is_503_when_the_model_thread_has_ended() -> None:
    app = create_app(Settings(), lambda _settings: FailingEncoder())
    with serve(app) as url:
        wait_until_ready(url)
        app.state.model.stop()
        health = httpx.get(f"{url}/health")
        assert health.status_code == 503
        assert health.json()["status"] == "failed"
        assert post(url, "3 4").status_code == 503
