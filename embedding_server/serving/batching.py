"""One model thread for all clients: what waits when the model is free goes through it together."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from threading import Event, Lock

from embedding_server.encoder import MemoryExhausted, TokenIds
from embedding_server.errors import ModelGone
from embedding_server.instruments import Instruments
from embedding_server.scheduling.batch_queue import (
    BatchQueue,
    WaitingRequest,
    WaitingText,
    new_request,
)
from embedding_server.scheduling.failed_texts import (
    FailedText,
    describe_failure,
    describe_out_of_memory,
    describe_unusable,
)
from embedding_server.serving.warm_up import WarmModel
from embedding_server.serving.watchdog import WatchedThread
from embedding_server.vectors import Vectors, find_unusable

logger = logging.getLogger(__name__)

BROKEN = "The model is broken: it fails on a text that it could encode at start."


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a forward pass gave: a vector for each text, and the rows that have no direction."""

    vectors: Vectors
    unusable: list[int]
    seconds: float


class Batcher:
    """Feeds the model thread, and never lets one client's bad text hurt another's.

    There is no timer: the next batch is chosen on the model thread in the moment in which it
    becomes free. A batch that fails is halved until the texts that fail stand alone. Then a short
    text that the model has encoded before tells whether the text is to blame or the model.
    """

    def __init__(
        self,
        model: WarmModel,
        thread: WatchedThread,
        instruments: Instruments,
        report_broken: Callable[[str], None],
    ) -> None:
        self._model = model
        self._dimensions = model.encoder.card.dimensions
        self._thread = thread
        self._instruments = instruments
        self._report_broken = report_broken
        self._loop = asyncio.get_running_loop()
        # Touched on the event loop only.
        self._requests: set[WaitingRequest] = set()
        self._refusal: str | None = None
        # Guards what is below: clients add on the event loop, the model thread takes.
        self._lock = Lock()
        self._waiting = BatchQueue(model.limits)
        self._halves: deque[list[WaitingText]] = deque()
        self._failed_texts: list[FailedText] = []
        self._is_running = False
        self._has_ended = False
        self._idle = Event()
        self._idle.set()
        instruments.batch_token_budget.set(model.limits.tokens)

    def close(self, reason: str) -> None:
        """Refuse new texts; those that wait already still get their vectors."""
        self._refusal = reason

    def wait_until_idle(self, seconds: float) -> None:
        """Block until nothing runs or waits, but no longer than so many seconds."""
        self._idle.wait(seconds)

    def fail(self, reason: str) -> None:
        """Begin no further forward pass and fail every request; call it on the event loop."""
        self.close(reason)
        with self._lock:
            self._has_ended = True
        for request in tuple(self._requests):
            self._end_request(request, ModelGone(reason))

    async def embed(self, texts: Sequence[TokenIds]) -> Vectors:
        """Return one raw vector for each text, in order. Raises EmbeddingFailed or ModelGone.

        If the caller is cancelled, its texts leave the queue.
        """
        if self._refusal is not None:
            raise ModelGone(self._refusal)
        done: asyncio.Future[None] = self._loop.create_future()
        request = new_request(
            rows=len(texts),
            dimensions=self._dimensions,
            finish=partial(self._settle, done, None),
            fail=partial(self._settle, done),
        )
        self._requests.add(request)
        try:
            with self._lock:
                self._waiting.add(request, texts)
            self._start_next(from_model_thread=False)
            await done
        finally:
            self._requests.discard(request)
            if not request.is_over:
                with self._lock:
                    self._waiting.drop(request)
        return request.answer

    def _settle(self, done: asyncio.Future[None], error: Exception | None) -> None:
        """Wake the client, from whichever thread."""
        self._loop.call_soon_threadsafe(_resolve, done, error)

    def _start_next(self, *, from_model_thread: bool) -> None:
        with self._lock:
            if self._is_running and not from_model_thread:
                return
            self._is_running = not self._has_ended and self._submit_next()
            if self._is_running:
                self._idle.clear()
            else:
                self._idle.set()

    def _submit_next(self) -> bool:
        if self._failed_texts:
            running = self._thread.submit(partial(self._run, [self._model.probe]))
            running.add_done_callback(partial(self._judge, self._failed_texts))
            self._failed_texts = []
            return True
        batch = self._take()
        if batch:
            running = self._thread.submit(partial(self._run, [text.tokens for text in batch]))
            running.add_done_callback(partial(self._finish, batch))
        return bool(batch)

    def _take(self) -> list[WaitingText]:
        while self._halves:
            half = [text for text in self._halves.popleft() if not text.request.is_over]
            if half:
                return half
        batch = self._waiting.take()
        now = time.monotonic()
        for text in batch:
            waited = now - text.request.since_seconds
            self._instruments.stage_seconds.labels("queue").observe(waited)
        return batch

    def _run(self, batch: Sequence[TokenIds]) -> Outcome:
        # Not before the callback is attached: called late, it would run on the event loop.
        with self._lock:
            begin = time.monotonic()
        vectors = self._model.encoder.encode(batch)
        expected = (len(batch), self._dimensions)
        if vectors.shape != expected:
            raise RuntimeError(f"the model gave {vectors.shape} instead of {expected}")
        return Outcome(vectors, find_unusable(vectors), time.monotonic() - begin)

    def _finish(self, batch: list[WaitingText], running: Future[Outcome]) -> None:
        """Deliver what the model gave; the executor calls this on the model thread."""
        if running.cancelled():
            return
        error = running.exception()
        if error is None:
            self._deliver(batch, running.result())
        elif isinstance(error, MemoryExhausted):
            self._shrink(batch)
        else:
            self._split(batch, error)
        self._start_next(from_model_thread=True)

    def _deliver(self, batch: list[WaitingText], outcome: Outcome) -> None:
        self._grow(batch)
        tokens = sum(len(text.tokens) for text in batch)
        padded = _count_padded(batch) if self._model.encoder.card.is_padded else tokens
        self._instruments.observe_forward(len(batch), tokens, padded, outcome.seconds)
        self._failed_texts += describe_unusable(batch, outcome.unusable)
        unusable = set(outcome.unusable)
        for index, text in enumerate(batch):
            request = text.request
            if index in unusable or request.is_over:
                continue
            request.answer[text.row] = outcome.vectors[index]
            request.rows_left -= 1
            if request.rows_left == 0:
                request.is_over = True
                request.finish()

    def _shrink(self, batch: list[WaitingText]) -> None:
        """Try the halves of a batch that ran out of memory, and take less from now on."""
        padded = _count_padded(batch)
        is_alone = len(batch) == 1
        with self._lock:
            self._waiting.budget.lower(padded, is_alone=is_alone)
            budget = self._waiting.budget.tokens
        self._instruments.out_of_memory.inc()
        self._instruments.batch_token_budget.set(budget)
        logger.warning(
            "Out of memory for %d texts of %d padded tokens; batches have at most %d now, "
            "EMBEDDING_MAX_BATCH_TOKENS=%d would begin so",
            *(len(batch), padded, budget, budget),
        )
        if is_alone:
            self._failed_texts.append(describe_out_of_memory(batch[0]))
        else:
            self._halve(batch)

    def _grow(self, batch: list[WaitingText]) -> None:
        """Take more again once passes have had memory for a while."""
        with self._lock:
            has_risen = self._waiting.budget.succeed(_count_padded(batch))
            budget = self._waiting.budget.tokens
        if has_risen:
            self._instruments.batch_token_budget.set(budget)
            logger.info("Memory lasts: batches have at most %d padded tokens again", budget)

    def _split(self, batch: list[WaitingText], error: BaseException) -> None:
        """Try the halves of a batch on which the model failed."""
        if len(batch) == 1:
            logger.error("The model failed on a text", exc_info=error)
            self._failed_texts.append(describe_failure(batch[0]))
        else:
            logger.warning("The model failed on %d texts; halving them", len(batch))
            self._halve(batch)

    def _halve(self, batch: list[WaitingText]) -> None:
        middle = len(batch) // 2
        self._halves.extend([batch[:middle], batch[middle:]])

    def _judge(self, failed: list[FailedText], running: Future[Outcome]) -> None:
        """Fail the texts if the model still encodes its short text, or else the model."""
        if running.cancelled():
            return
        error = running.exception()
        if error is None and not running.result().unusable:
            for text in failed:
                self._fail_text(text)
            self._start_next(from_model_thread=True)
            return
        logger.critical("The model fails on a text that it could encode at start", exc_info=error)
        with self._lock:
            is_awaited, self._has_ended = not self._has_ended, True
        if is_awaited:
            self._loop.call_soon_threadsafe(self._report_broken, BROKEN)

    def _fail_text(self, failed: FailedText) -> None:
        request = failed.text.request
        if not request.is_over:
            self._instruments.failed_texts.labels(failed.reason).inc()
            self._end_request(request, failed.error)

    def _end_request(self, request: WaitingRequest, error: Exception) -> None:
        with self._lock:
            if request.is_over:
                return
            self._waiting.drop(request)
        request.fail(error)


def _count_padded(batch: Sequence[WaitingText]) -> int:
    return len(batch) * max(len(text.tokens) for text in batch)


def _resolve(done: asyncio.Future[None], error: Exception | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(None)
    else:
        done.set_exception(error)
