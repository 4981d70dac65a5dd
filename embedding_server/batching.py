"""One model thread for all clients: what waits when the model is free goes through it together."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from threading import Lock

from embedding_server.encoders.encoder import TokenIds
from embedding_server.errors import EmbeddingFailed, ModelGone
from embedding_server.vectors import Vectors, find_unusable
from embedding_server.waiting import (
    BatchLimits,
    WaitingText,
    WaitingTexts,
    new_request,
)

logger = logging.getLogger(__name__)

Encode = Callable[[Sequence[TokenIds]], Vectors]


class Batcher:
    """Feeds the model thread, and never lets one client's bad text hurt another's.

    There is no timer: the next batch is chosen on the model thread in the moment in which it
    becomes free. The executor carries a failing model's exception back as a value, so the thread
    outlives it; a failed batch is halved until the texts that fail stand alone.
    """

    def __init__(
        self, encode: Encode, dimensions: int, limits: BatchLimits, thread: ThreadPoolExecutor
    ) -> None:
        self._encode = encode
        self._dimensions = dimensions
        self._thread = thread
        self._loop = asyncio.get_running_loop()
        # Guards what is below: clients add on the event loop, the model thread takes.
        self._lock = Lock()
        self._waiting = WaitingTexts(limits)
        self._halves: deque[list[WaitingText]] = deque()
        self._is_running = False
        self._is_closed = False

    def close(self) -> None:
        """Start no further forward pass; the one that runs is finished."""
        self._is_closed = True

    async def embed(self, texts: Sequence[TokenIds]) -> Vectors:
        """Return one raw vector for each text, in order. Raises EmbeddingFailed.

        If the caller is cancelled, its texts leave the queue.
        """
        if self._is_closed:
            raise ModelGone("The server is stopping.")
        done: asyncio.Future[None] = self._loop.create_future()
        request = new_request(
            rows=len(texts),
            dimensions=self._dimensions,
            finish=partial(self._settle, done, None),
            fail=partial(self._settle, done),
        )
        with self._lock:
            self._waiting.add(request, texts)
        self._start_next(from_model_thread=False)
        try:
            await done
        finally:
            if not request.is_over:
                with self._lock:
                    self._waiting.drop(request)
        return request.answer

    def _settle(self, done: asyncio.Future[None], error: Exception | None) -> None:
        """Wake the client; called on the model thread."""
        self._loop.call_soon_threadsafe(_resolve, done, error)

    def _start_next(self, *, from_model_thread: bool) -> None:
        with self._lock:
            if self._is_running and not from_model_thread:
                return
            batch = [] if self._is_closed else self._take()
            self._is_running = bool(batch)
            if batch:
                running = self._thread.submit(self._run, batch)
                running.add_done_callback(partial(self._finish, batch))

    def _take(self) -> list[WaitingText]:
        while self._halves:
            half = [text for text in self._halves.popleft() if not text.request.is_over]
            if half:
                return half
        return self._waiting.take()

    def _run(self, batch: list[WaitingText]) -> Vectors:
        # Not before the callback is attached: called late, it would run on the event loop.
        with self._lock:
            tokens = [text.tokens for text in batch]
        vectors = self._encode(tokens)
        expected = (len(batch), self._dimensions)
        if vectors.shape != expected:
            raise RuntimeError(f"the model gave {vectors.shape} instead of {expected}")
        return vectors

    def _finish(self, batch: list[WaitingText], running: Future[Vectors]) -> None:
        """Deliver what the model gave; the executor calls this on the model thread."""
        if running.cancelled():
            return
        error = running.exception()
        if error is None:
            self._deliver(batch, running.result())
        else:
            logger.error("The model failed on %d texts", len(batch), exc_info=error)
            self._split(batch)
        self._start_next(from_model_thread=True)

    def _deliver(self, batch: list[WaitingText], vectors: Vectors) -> None:
        unusable = set(find_unusable(vectors))
        for index, text in enumerate(batch):
            if index in unusable:
                self._fail(text, "The model gave no usable vector (NaN, infinite or zero)")
                continue
            request = text.request
            request.answer[text.row] = vectors[index]
            request.rows_left -= 1
            if request.rows_left == 0:
                request.is_over = True
                request.finish()

    def _split(self, batch: list[WaitingText]) -> None:
        if len(batch) == 1:
            self._fail(batch[0], "The model failed")
            return
        middle = len(batch) // 2
        with self._lock:
            self._halves.extend([batch[:middle], batch[middle:]])

    def _fail(self, text: WaitingText, what: str) -> None:
        request = text.request
        if request.is_over:
            return
        with self._lock:
            self._waiting.drop(request)
        request.fail(EmbeddingFailed(f"{what} for input[{text.row}].", param="input"))


def _resolve(done: asyncio.Future[None], error: Exception | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(None)
    else:
        done.set_exception(error)
