"""The model that is served: loaded behind a listening port, and honest about its state."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeVar

from embedding_server.encoder import Encoder, ModelCard, TokenIds
from embedding_server.errors import ModelGone, ModelLoading
from embedding_server.instruments import Instruments
from embedding_server.scheduling.batch_queue import BatchLimits
from embedding_server.serving.batching import Batcher
from embedding_server.serving.warm_up import WarmModel, warm_up
from embedding_server.serving.watchdog import WatchedThread, watch
from embedding_server.settings import Settings
from embedding_server.vectors import Vectors

logger = logging.getLogger(__name__)

OpenEncoder = Callable[[Settings], Encoder]
ReportFailure = Callable[[str], None]
State = Literal["loading", "ok", "failed"]
Result = TypeVar("Result")

# What a forward pass costs apart from its tokens, in tokens. Measured with MiniLM on two cores:
# 10.7 ms for one text of 8 tokens, 19.9 ms for one of 72. The figure for a GPU follows from
# published speeds of a 4B model (33 ms at least, 14 tokens a millisecond) and was not measured.
PADDING_TOKENS = {"cpu": 64, "cuda": 512}
# Most padded tokens in one forward pass, unless the settings say otherwise.
BATCH_TOKENS = {"cpu": 4096, "cuda": 16384}
# The same where each text goes through alone: a batch gains little there, and a question waits
# for the one that runs.
UNPADDED_BATCH_TOKENS = 512
STOP_SECONDS = 2.0
STOPPING = "The server is stopping."


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """What exists once the model is loaded."""

    encoder: Encoder
    batcher: Batcher


class ServedModel:
    """Owns the two threads that touch the model: one loads and runs it, one tokenises.

    A tokenizer must not be used by two threads at once, and tokenising must not wait for the
    model. Both are watched; when one has ended or is stuck, or the model is broken, every request
    is failed at once and the failure is reported, for the process to be started anew.
    """

    def __init__(
        self,
        settings: Settings,
        instruments: Instruments,
        open_encoder: OpenEncoder,
        report_failure: ReportFailure,
    ) -> None:
        self._settings = settings
        self._instruments = instruments
        self._open_encoder = open_encoder
        self._report_failure = report_failure
        self._model_thread = WatchedThread("model")
        self._tokenizer_thread = WatchedThread("tokenizer")
        self._loaded: LoadedModel | None = None
        self._failure: str | None = None
        self._gone: asyncio.Future[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        instruments.model_ready.set_function(lambda: float(self.state == "ok"))

    def start(self) -> None:
        """Begin to load the model; needs the running event loop and returns at once."""
        loop = asyncio.get_running_loop()
        self._gone = loop.create_future()
        loading = self._model_thread.submit(self._open, may_take_long=True)
        asyncio.wrap_future(loading).add_done_callback(self._finish_loading)
        self._watching = loop.create_task(watch(self._find_fault, self._break))

    def stop(self) -> None:
        """Refuse what comes, finish what was admitted within two seconds, and end both threads.

        A load is not awaited. Call it on the event loop.
        """
        if self._watching is not None:
            self._watching.cancel()
        if self._loaded is not None and self._failure is None:
            self._loaded.batcher.close(STOPPING)
            self._loaded.batcher.wait_until_idle(STOP_SECONDS)
        self._end(STOPPING)
        for thread in (self._model_thread, self._tokenizer_thread):
            thread.end()
            if self._loaded is not None:
                thread.join(STOP_SECONDS)

    @property
    def is_thread_alive(self) -> bool:
        """Tell whether a thread has begun and not ended."""
        return self._model_thread.is_alive or self._tokenizer_thread.is_alive

    @property
    def state(self) -> State:
        """Return "ok" only if a request that came now would reach the model."""
        if self._find_fault() is not None:
            return "failed"
        return "loading" if self._loaded is None else "ok"

    @property
    def card(self) -> ModelCard:
        """Describe the model. Raises ModelLoading or ModelGone while there is none."""
        return self._require().encoder.card

    async def tokenize(self, texts: Sequence[str], limit: int | None = None) -> list[list[int]]:
        """Return the token ids of each text, cut to `limit` tokens if given.

        No other request is tokenised meanwhile, so a long list comes in portions.
        """
        call = partial(self._require().encoder.tokenize, texts, limit)
        return await self._wait_unless_gone(
            asyncio.wrap_future(self._tokenizer_thread.submit(call))
        )

    async def embed(self, texts: Sequence[TokenIds]) -> Vectors:
        """Return one raw vector for each tokenised text, in order."""
        return await self._require().batcher.embed(texts)

    def check(self) -> None:
        """Raise ModelLoading or ModelGone unless the model can answer."""
        self._require()

    def _require(self) -> LoadedModel:
        fault = self._find_fault()
        if fault is not None:
            raise ModelGone(fault)
        if self._loaded is None:
            raise ModelLoading("The model is being loaded; try again in a few seconds.")
        return self._loaded

    def _find_fault(self) -> str | None:
        if self._failure is not None:
            return self._failure
        seconds = self._settings.stuck_seconds
        faults = [
            thread.find_fault(seconds) for thread in (self._model_thread, self._tokenizer_thread)
        ]
        return next(filter(None, faults), None)

    async def _wait_unless_gone(self, work: "asyncio.Future[Result]") -> Result:
        """Return the result of what a thread does. Raises ModelGone if the model goes first."""
        events: list[asyncio.Future[Any]] = [work] if self._gone is None else [work, self._gone]
        try:
            await asyncio.wait(events, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
            raise ModelGone(self._failure or STOPPING)
        finally:
            work.cancel()

    def _open(self) -> WarmModel:
        encoder = self._open_encoder(self._settings)
        card = encoder.card
        tokens = BATCH_TOKENS[card.device] if card.is_padded else UNPADDED_BATCH_TOKENS
        limits = BatchLimits(
            texts=self._settings.batch_size,
            tokens=self._settings.max_batch_tokens or tokens,
            padding_tokens=PADDING_TOKENS[card.device],
        )
        return warm_up(encoder, limits)

    def _finish_loading(self, loading: "asyncio.Future[WarmModel]") -> None:
        if loading.cancelled() or self._failure is not None:
            return
        error = loading.exception()
        if error is not None:
            # The first line says what is wrong; libraries add advice in the following ones.
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            name = self._settings.model or "the default model"
            logger.debug("Loading failed", exc_info=error)
            self._break(f"Cannot load {name}: {reason}")
            return
        model = loading.result()
        batcher = Batcher(model, self._model_thread, self._instruments, self._break)
        self._loaded = LoadedModel(model.encoder, batcher)
        card = model.encoder.card
        logger.info("Ready: %s, %d dimensions, on %s", card.name, card.dimensions, card.device)
        least = self._settings.min_dimensions
        if least is not None and least > card.dimensions:
            logger.warning(
                "EMBEDDING_MIN_DIMENSIONS=%d is more than the model has, so %d is the least: set "
                "less, or leave it out",
                least, card.dimensions,
            )  # fmt: skip

    def _break(self, reason: str) -> None:
        """Fail everything that waits and report why, once; called on the event loop."""
        if self._failure is None:
            self._end(reason)
            self._report_failure(reason)

    def _end(self, reason: str) -> None:
        self._failure = self._failure or reason
        if self._loaded is not None:
            self._loaded.batcher.fail(self._failure)
        if self._gone is not None and not self._gone.done():
            self._gone.set_result(None)
