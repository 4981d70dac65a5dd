"""The served model from load to stop: honest about its state, and every request has an end."""

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event

import httpx
import numpy as np
import pytest

from embedding_server.app import create_app
from embedding_server.encoder import Encoder
from embedding_server.errors import CannotStart, ModelGone
from embedding_server.instruments import Instruments
from embedding_server.serving.batching import BROKEN
from embedding_server.serving.served_model import STOPPING, ServedModel
from embedding_server.settings import Settings
from tests.embedding_server.edge import (
    PATIENCE_SECONDS,
    GatedEncoder,
    read_metrics,
    wait_until,
)
from tests.embedding_server.failing import (
    EXITING,
    FAILING,
    NOT_A_NUMBER,
    POISONING,
    BlockingEncoder,
    DyingEncoder,
    FailingEncoder,
    fits_padded,
)
from tests.embedding_server.running import serve, wait_until_ready

STUCK_SECONDS = 0.3


def post(url: str, *texts: str) -> httpx.Response:
    body = {"model": "failing", "input": list(texts)}
    return httpx.post(f"{url}/v1/embeddings", json=body, timeout=PATIENCE_SECONDS)


@contextmanager
def serve_ready(encoder: Encoder, **settings: float) -> Iterator[tuple[str, list[str]]]:
    """Yield the URL of a ready server and the failures that it reports."""
    reasons: list[str] = []
    app = create_app(Settings.model_validate(settings), lambda _settings: encoder, reasons.append)
    with serve(app) as url:
        wait_until_ready(url)
        yield url, reasons


def assert_gone(answer: httpx.Response, reason: str) -> None:
    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "model_unavailable"
    assert reason in answer.json()["error"]["message"]
    assert int(answer.headers["retry-after"]) > 0


def assert_failed(url: str, reasons: list[str], reason: str) -> None:
    """Check that health, metrics, the next request and the report all tell the same."""
    health = httpx.get(f"{url}/health")
    assert_gone(health, reason)
    assert health.json()["status"] == "failed"
    assert_gone(post(url, "3 4"), reason)
    assert read_metrics(url)["model_ready"] == 0
    wait_until(lambda: bool(reasons))
    assert len(reasons) == 1
    assert reason in reasons[0]


@pytest.mark.parametrize("poison", [FAILING, EXITING, NOT_A_NUMBER])
def test_a_failing_model_is_500_once_and_the_server_goes_on(poison: int) -> None:
    with serve_ready(FailingEncoder()) as (url, reasons):
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
        assert "device-side assert" not in answer.text
        assert httpx.get(f"{url}/health").status_code == 200
        assert post(url, "3 4").json()["data"][0]["embedding"] == pytest.approx([0.5547, 0.83205])
        assert read_metrics(url)["model_ready"] == 1
        assert reasons == []


def test_a_text_without_memory_is_500_and_the_metrics_tell_it() -> None:
    encoder = FailingEncoder()
    with serve_ready(encoder) as (url, _):
        encoder.fits = lambda batch: fits_padded(8, batch)
        answer = post(url, "3 4", "5 " * 9)
        assert answer.status_code == 500
        assert answer.json()["error"]["code"] == "out_of_memory"
        assert post(url, *["3 4"] * 8).status_code == 200
        metrics = read_metrics(url)
        assert metrics['failed_texts_total{reason="out_of_memory"}'] == 1
        assert metrics["out_of_memory_total"] >= 1
        assert metrics["batch_token_budget"] <= 8


def test_a_failing_tokenizer_is_500_without_a_word_of_the_inside(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with serve_ready(FailingEncoder()) as (url, _):
        answer = post(url, "not a number")
        assert answer.status_code == 500
        assert answer.json()["error"]["code"] == "internal_error"
        assert "invalid literal" not in answer.text
        assert post(url, "3 4").status_code == 200
    assert "invalid literal" in caplog.text


def test_a_prefix_without_direction_is_500() -> None:
    class ZeroFirstEncoder(FailingEncoder):
        def encode(self, batch: object) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
            assert isinstance(batch, list)
            return np.array([[0, 1]] * len(batch), dtype=np.float32)

    with serve_ready(ZeroFirstEncoder()) as (url, _):
        body = {"model": "failing", "input": "1", "dimensions": 1}
        answer = httpx.post(f"{url}/v1/embeddings", json=body)
        assert answer.status_code == 500
        assert answer.json()["error"]["code"] == "embedding_failed"


def test_while_the_model_loads_everything_is_503_and_then_200() -> None:
    may_load = Event()

    def open_late(_settings: Settings) -> Encoder:
        may_load.wait()
        return FailingEncoder()

    with serve(create_app(Settings(stuck_seconds=0.01), open_late)) as url:
        # A load may take longer than a forward pass.
        time.sleep(0.1)
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
        assert read_metrics(url)["model_ready"] == 0
        may_load.set()
        wait_until_ready(url)
        assert httpx.get(f"{url}/v1/models").status_code == 200


def open_never(_settings: Settings) -> Encoder:
    raise CannotStart("no such file\nand much advice")


def open_too_large(_settings: Settings) -> Encoder:
    return FailingEncoder(fits=lambda batch: fits_padded(99, batch))


TOO_LARGE = (
    "8 texts of 100 tokens do not fit into memory together; lower "
    "EMBEDDING_MAX_BATCH_TOKENS from 4096, to 400 say"
)


@pytest.mark.parametrize(
    ("open_model", "reason"),
    [
        (open_never, "no such file"),
        (open_too_large, TOO_LARGE),
    ],
)
def test_a_model_that_does_not_load_is_reported_and_stays_503(
    open_model: Callable[[Settings], Encoder], reason: str
) -> None:
    reasons: list[str] = []
    with serve(create_app(Settings(model="some-model"), open_model, reasons.append)) as url:
        wait_until(lambda: bool(reasons))
        assert_failed(url, reasons, reason)
    assert reasons == [f"Cannot load some-model: {reason}"]


def test_a_stuck_pass_is_noticed_and_everybody_is_told() -> None:
    encoder = BlockingEncoder()
    with (
        serve_ready(encoder, stuck_seconds=STUCK_SECONDS) as (url, reasons),
        ThreadPoolExecutor(2) as clients,
    ):
        stuck = clients.submit(post, url, f"{encoder.BLOCKING}")
        encoder.is_blocked.wait(PATIENCE_SECONDS)
        waiting = clients.submit(post, url, "3 4")
        # None of the answers waits for the model, which is blocked until the end.
        for answer in (stuck.result(), waiting.result()):
            assert_gone(answer, "stuck for over 0.3 s")
        assert_failed(url, reasons, "The model thread has been stuck for over 0.3 s")
        encoder.may_go_on.set()


def test_health_does_not_wait_for_a_busy_model() -> None:
    encoder = BlockingEncoder()
    with serve_ready(encoder) as (url, _), ThreadPoolExecutor(1) as clients:
        asked = clients.submit(post, url, f"{encoder.BLOCKING}")
        encoder.is_blocked.wait(PATIENCE_SECONDS)
        assert httpx.get(f"{url}/health").status_code == 200
        encoder.may_go_on.set()
        assert asked.result().status_code == 200


def test_a_dead_model_thread_is_noticed_and_everybody_is_told() -> None:
    encoder = DyingEncoder()
    with serve_ready(encoder) as (url, reasons):
        encoder.end_thread()
        # The request that the thread takes with it is answered all the same.
        assert_gone(post(url, "3 4"), "model thread has ended")
        assert_failed(url, reasons, "The model thread has ended")


def test_a_stuck_tokenizer_is_noticed_as_well() -> None:
    encoder = GatedEncoder()
    with (
        serve_ready(encoder, stuck_seconds=STUCK_SECONDS) as (url, reasons),
        ThreadPoolExecutor(2) as clients,
    ):
        encoder.may_tokenize.clear()
        body = {"model": encoder.card.name, "input": "1"}
        asked: list[Future[httpx.Response]] = [
            clients.submit(httpx.post, f"{url}/v1/embeddings", json=body, timeout=PATIENCE_SECONDS)
            for _ in range(2)
        ]
        for answer in asked:
            assert_gone(answer.result(), "tokenizer thread has been stuck")
        assert_failed(url, reasons, "tokenizer thread")
        encoder.may_tokenize.set()


def test_a_broken_model_is_reported_and_everybody_is_told() -> None:
    with serve_ready(FailingEncoder()) as (url, reasons):
        assert_gone(post(url, "3 4", f"{POISONING}"), BROKEN)
        assert_failed(url, reasons, BROKEN)


async def start_model(encoder: FailingEncoder, reasons: list[str]) -> ServedModel:
    model = ServedModel(Settings(), Instruments(), lambda _settings: encoder, reasons.append)
    model.start()
    await asyncio.to_thread(wait_until, lambda: model.state != "loading")
    return model


def test_a_stop_finishes_what_was_admitted_and_refuses_the_rest() -> None:
    encoder, reasons = FailingEncoder(), list[str]()

    async def main() -> None:
        model = await start_model(encoder, reasons)
        clients = [asyncio.create_task(model.embed([[n]] * 20)) for n in range(3)]
        await asyncio.sleep(0)
        model.stop()
        answers = await asyncio.gather(*clients)
        assert [answer[19, 1] for answer in answers] == [0, 1, 2]
        assert model.state == "failed"
        assert not model.is_thread_alive
        for refused in (model.embed([[1]]), model.tokenize(["1"])):
            with pytest.raises(ModelGone, match=STOPPING):
                await refused
        model.stop()

    asyncio.run(main())
    assert reasons == []


def test_a_stop_does_not_wait_for_a_model_that_does_not_end() -> None:
    encoder, reasons = BlockingEncoder(), list[str]()

    async def main() -> None:
        model = await start_model(encoder, reasons)
        stuck = asyncio.create_task(model.embed([[encoder.BLOCKING]]))
        waiting = asyncio.create_task(model.embed([[1]]))
        await asyncio.to_thread(encoder.is_blocked.wait, PATIENCE_SECONDS)
        model.stop()
        for answer in (stuck, waiting):
            with pytest.raises(ModelGone, match=STOPPING):
                await answer
        assert model.is_thread_alive
        encoder.may_go_on.set()

    asyncio.run(main())
    assert reasons == []


def test_a_stop_does_not_wait_for_a_load() -> None:
    may_load = Event()

    def open_late(_settings: Settings) -> Encoder:
        may_load.wait()
        return FailingEncoder()

    async def main() -> None:
        model = ServedModel(Settings(), Instruments(), open_late, lambda _reason: None)
        model.start()
        model.stop()
        assert model.state == "failed"
        may_load.set()

    asyncio.run(main())
