"""The model thread under failing, slow, too large and cancelled work."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embedding_server.encoder import TokenIds
from embedding_server.errors import EmbeddingFailed, ModelGone, OutOfMemory
from embedding_server.serving.batching import BROKEN, Batcher
from embedding_server.vectors import Vectors
from tests.effort import examples
from tests.embedding_server.edge import PATIENCE_SECONDS, wait_until
from tests.embedding_server.failing import (
    CORRUPTING,
    EXITING,
    FAILING,
    LIMITS,
    NOT_A_NUMBER,
    POISONING,
    PROBE,
    FailingEncoder,
    Rig,
    fits_padded,
    run_with_batcher,
)


async def ask_all(
    encoder: FailingEncoder, batcher: Batcher, requests: Sequence[Sequence[TokenIds]]
) -> list[Vectors | BaseException]:
    """Let the requests wait together behind a running pass of one text."""
    encoder.may_run.clear()
    first = asyncio.create_task(batcher.embed([[1]]))
    await asyncio.sleep(0)
    clients = [asyncio.create_task(batcher.embed(texts)) for texts in requests]
    # Each client runs up to the point where it waits for its vectors.
    await asyncio.sleep(0)
    encoder.may_run.set()
    await asyncio.gather(first, return_exceptions=True)
    return await asyncio.gather(*clients, return_exceptions=True)


def sizes(encoder: FailingEncoder) -> list[int]:
    return [len(batch) for batch in encoder.batches]


def test_rows_are_in_the_order_of_the_texts() -> None:
    async def work(rig: Rig) -> None:
        texts = [[number] * (1 + number * 13 % 37) for number in range(50)]
        answer = await rig.batcher.embed(texts)
        expected = [[len(text), number] for number, text in enumerate(texts)]
        np.testing.assert_array_equal(answer, np.array(expected, dtype=np.float32))

    run_with_batcher(FailingEncoder(), work)


def test_what_waits_goes_together() -> None:
    encoder = FailingEncoder()

    async def work(rig: Rig) -> None:
        answers = await ask_all(encoder, rig.batcher, [[[number]] for number in range(9)])
        assert [float(np.asarray(answer)[0, 1]) for answer in answers] == list(range(9))

    run_with_batcher(encoder, work)
    # The first found the model free; eight of the nine that came meanwhile fill the next batch.
    assert sizes(encoder) == [1, 8, 1]


def test_passes_and_waits_are_counted() -> None:
    async def work(rig: Rig) -> None:
        assert rig.read("batch_token_budget") == LIMITS.tokens
        await rig.batcher.embed([[1] * 10, [2] * 4, [3] * 7])
        assert rig.read("batch_texts_sum") == 3
        assert rig.read("tokens_total", kind="text") == 21
        assert rig.read("tokens_total", kind="padding") == 9
        assert rig.read("stage_duration_seconds_count", stage="forward") == 1
        assert rig.read("stage_duration_seconds_count", stage="queue") == 3

    run_with_batcher(FailingEncoder(), work)


@pytest.mark.parametrize("poison", [FAILING, EXITING, NOT_A_NUMBER])
def test_a_failure_hits_only_the_request_that_caused_it(poison: int) -> None:
    encoder = FailingEncoder()

    async def work(rig: Rig) -> None:
        requests = [[[1]], [[2], [poison], [3]], [[4], [5]]]
        first, failed, last = await ask_all(encoder, rig.batcher, requests)
        assert isinstance(failed, EmbeddingFailed)
        assert "input[1]" in failed.message
        np.testing.assert_array_equal(np.asarray(first), [[1, 1]])
        np.testing.assert_array_equal(np.asarray(last), [[1, 4], [1, 5]])
        np.testing.assert_array_equal(await rig.batcher.embed([[6]]), [[1, 6]])
        reason = "unusable" if poison == NOT_A_NUMBER else "error"
        assert rig.read("failed_texts_total", reason=reason) == 1
        assert rig.read("out_of_memory_total") == 0
        assert rig.broken == []

    run_with_batcher(encoder, work)
    # The short text was tried, and told that the model works.
    assert PROBE in encoder.batches[-2]


def test_a_wrong_number_of_vectors_is_a_failure() -> None:
    class WideEncoder(FailingEncoder):
        def encode(self, batch: Sequence[TokenIds]) -> Vectors:
            width = 2 if batch == [PROBE] else 3
            return np.ones((len(batch), width), dtype=np.float32)

    async def work(rig: Rig) -> None:
        with pytest.raises(EmbeddingFailed):
            await rig.batcher.embed([[2]])

    run_with_batcher(WideEncoder(), work)


def test_a_batch_without_memory_is_halved_and_the_next_ones_are_smaller() -> None:
    encoder = FailingEncoder(fits=lambda batch: fits_padded(40, batch))

    async def work(rig: Rig) -> None:
        texts = [[number] * 10 for number in range(8)]
        for _ in range(2):
            answer = await rig.batcher.embed(texts)
            np.testing.assert_array_equal(answer, [[10, number] for number in range(8)])
        assert rig.read("out_of_memory_total") == 1
        assert rig.read("batch_token_budget") == 40
        assert rig.read("failed_texts_total", reason="out_of_memory") == 0

    run_with_batcher(encoder, work)
    assert sizes(encoder) == [8, 4, 4, 4, 4]


def test_a_lowered_budget_rises_once_memory_is_back() -> None:
    encoder = FailingEncoder(fits=lambda batch: fits_padded(40, batch))
    texts = [[number] * 10 for number in range(8)]

    async def work(rig: Rig) -> None:
        await rig.batcher.embed(texts)
        assert rig.read("batch_token_budget") == 40
        encoder.fits = lambda _batch: True
        while rig.read("batch_token_budget") < 80:
            await rig.batcher.embed(texts)
        encoder.batches.clear()
        await rig.batcher.embed(texts)
        assert rig.read("out_of_memory_total") == 1

    run_with_batcher(encoder, work)
    assert sizes(encoder) == [8]


def test_a_text_that_does_not_fit_alone_fails_alone_and_says_what_to_do() -> None:
    encoder = FailingEncoder(fits=lambda batch: fits_padded(20, batch))

    async def work(rig: Rig) -> None:
        requests = [[[1] * 5], [[2] * 6, [3] * 21], [[4] * 7]]
        first, failed, last = await ask_all(encoder, rig.batcher, requests)
        np.testing.assert_array_equal(np.asarray(first), [[5, 1]])
        np.testing.assert_array_equal(np.asarray(last), [[7, 4]])
        assert isinstance(failed, OutOfMemory)
        assert "input[1] with its 21 tokens" in failed.message
        assert "EMBEDDING_MAX_SEQUENCE_TOKENS below 21" in failed.message
        assert (failed.status, failed.headers["x-should-retry"]) == (500, "false")
        assert rig.read("failed_texts_total", reason="out_of_memory") == 1
        assert rig.read("batch_token_budget") <= 20
        assert rig.broken == []

    run_with_batcher(encoder, work)


def test_a_lowered_budget_leaves_every_single_text_possible() -> None:
    encoder = FailingEncoder(fits=lambda batch: len(batch) == 1)

    async def work(rig: Rig) -> None:
        await rig.batcher.embed([[1], [2]])
        assert rig.read("batch_token_budget") == 1
        answer = await rig.batcher.embed([[3] * 100, [4] * 99])
        np.testing.assert_array_equal(answer, [[100, 3], [99, 4]])

    run_with_batcher(encoder, work)
    assert sizes(encoder) == [2, 1, 1, 1, 1]


@pytest.mark.parametrize("poison", [POISONING, CORRUPTING])
def test_a_model_that_fails_on_everything_is_broken(poison: int) -> None:
    encoder = FailingEncoder()

    async def work(rig: Rig) -> None:
        requests = [[[number]] for number in range(20)] + [[[poison] * 3]]
        answers = await ask_all(encoder, rig.batcher, requests)
        # The texts of the batch that broke the model were not to blame either.
        gone = [answer for answer in answers if isinstance(answer, ModelGone)]
        assert gone
        assert isinstance(answers[-1], ModelGone)
        assert len(gone) == sum(isinstance(answer, BaseException) for answer in answers)

    async def report_and_work(rig: Rig) -> None:
        # As the served model does when it is told.
        watching = asyncio.create_task(fail_when_broken(rig))
        await work(rig)
        await watching
        assert rig.broken == [BROKEN]
        with pytest.raises(ModelGone, match="is broken"):
            await rig.batcher.embed([[1]])

    run_with_batcher(encoder, report_and_work)
    assert encoder.batches[-1] == [PROBE]


async def fail_when_broken(rig: Rig) -> None:
    await asyncio.to_thread(wait_until, lambda: bool(rig.broken))
    rig.batcher.fail(rig.broken[0])


def test_a_model_without_memory_for_a_short_text_is_broken() -> None:
    async def work(rig: Rig) -> None:
        watching = asyncio.create_task(fail_when_broken(rig))
        with pytest.raises(ModelGone):
            await rig.batcher.embed([[2]])
        await watching

    run_with_batcher(FailingEncoder(fits=lambda _batch: False), work)


def test_texts_of_a_cancelled_client_leave_the_queue() -> None:
    encoder = FailingEncoder()

    async def work(rig: Rig) -> None:
        encoder.may_run.clear()
        running = asyncio.create_task(rig.batcher.embed([[1]]))
        cancelled = asyncio.create_task(rig.batcher.embed([[2]] * 100))
        await asyncio.sleep(0)
        cancelled.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cancelled
        encoder.may_run.set()
        await running
        await rig.batcher.embed([[3]])

    run_with_batcher(encoder, work)
    assert encoder.batches == [[[1]], [[3]]]


def test_a_closed_batcher_finishes_what_it_has_and_refuses_the_rest() -> None:
    encoder = FailingEncoder()

    async def work(rig: Rig) -> None:
        encoder.may_run.clear()
        clients = [asyncio.create_task(rig.batcher.embed([[n]] * 9)) for n in range(4)]
        await asyncio.sleep(0)
        rig.batcher.close("The server is stopping.")
        with pytest.raises(ModelGone, match="is stopping"):
            await rig.batcher.embed([[1]])
        encoder.may_run.set()
        answers = await asyncio.gather(*clients)
        assert [answer[8, 1] for answer in answers] == [0, 1, 2, 3]
        await asyncio.to_thread(rig.batcher.wait_until_idle, PATIENCE_SECONDS)

    run_with_batcher(encoder, work)
    assert sum(sizes(encoder)) == 36


def test_when_the_model_goes_nobody_waits_any_longer() -> None:
    encoder = FailingEncoder()

    async def work(rig: Rig) -> None:
        encoder.may_run.clear()
        clients = [asyncio.create_task(rig.batcher.embed([[n]] * 9)) for n in range(4)]
        await asyncio.sleep(0)
        rig.batcher.fail("The thread is stuck.")
        # The model still runs: the clients do not wait for it.
        answers = await asyncio.gather(*clients, return_exceptions=True)
        assert all(isinstance(answer, ModelGone) for answer in answers)
        encoder.may_run.set()

    run_with_batcher(encoder, work)
    assert len(encoder.batches) <= 1


TOKENS = st.sampled_from([1, 2, 3, FAILING, EXITING, NOT_A_NUMBER])
TEXT = st.builds(lambda token, length: [token] * length, TOKENS, st.integers(1, 30))


@settings(max_examples=examples(40))
@given(
    requests=st.lists(st.lists(TEXT, min_size=1, max_size=12), min_size=1, max_size=8),
    capacity=st.integers(1, 200),
    cancelled=st.sets(st.integers(0, 7)),
)
def test_every_request_ends_with_its_own_vectors_or_its_own_failure(
    requests: list[list[list[int]]], capacity: int, cancelled: set[int]
) -> None:
    encoder = FailingEncoder(fits=lambda batch: fits_padded(capacity, batch))

    async def work(rig: Rig) -> None:
        clients = [asyncio.create_task(rig.batcher.embed(texts)) for texts in requests]
        await asyncio.sleep(0)
        for index in cancelled & set(range(len(clients))):
            clients[index].cancel()
        answers = await asyncio.gather(*clients, return_exceptions=True)
        for index, (texts, answer) in enumerate(zip(requests, answers, strict=True)):
            bad = {FAILING, EXITING, NOT_A_NUMBER}
            is_bad = any(text[0] in bad or len(text) > capacity for text in texts)
            if index in cancelled:
                assert isinstance(answer, asyncio.CancelledError)
            elif is_bad:
                assert isinstance(answer, EmbeddingFailed)
            else:
                expected = [[len(text), text[0]] for text in texts]
                np.testing.assert_array_equal(np.asarray(answer), expected)
        assert rig.broken == []

    run_with_batcher(encoder, work)
