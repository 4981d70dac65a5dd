"""The model that is served: loaded behind a listening port, and honest about its state."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Thread, current_thread
from typing import Literal

from embedding_server.batching import Batcher
from embedding_server.encoders.encoder import Encoder, ModelCard, TokenIds
from embedding_server.errors import ModelGone, ModelLoading
from embedding_server.instruments import Instruments
from embedding_server.settings import Settings
from embedding_server.vectors import Vectors
from embedding_server.waiting import BatchLimits

logger = logging.getLogger(__name__)

OpenEncoder = Callable[[Settings], Encoder]
ReportFailure = Callable[[str], None]
State = Literal["loading", "ok", "failed"]

# What a forward pass costs apart from its tokens, in tokens. Measured with MiniLM on two cores:
# 10.7 ms for one text of 8 tokens, 19.9 ms for one of 72. The figure for a GPU follows from
# published speeds of a 4B model (33 ms at least, 14 tokens a millisecond) and was not measured.
PADDING_TOKENS = {"cpu": 64, "cuda": 512}
# Most padded tokens in one forward pass, unless the settings say otherwise.
BATCH_TOKENS = {"cpu": 4096, "cuda": 16384}
# Texts are tokenised in portions, so that a single query slips in between two of a long list.
TOKENIZE_TEXTS = 64
STOP_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """What exists once the model is loaded."""

    encoder: Encoder
    batcher: Batcher


class ServedModel:
    """Owns the two threads that touch the model: one loads and runs it, one tokenises.

    A tokenizer must not be used by two threads at once, and tokenising must not wait for the
    model.
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
        self._model_thread = ThreadPoolExecutor(1, thread_name_prefix="model")
        self._tokenizer_thread = ThreadPoolExecutor(1, thread_name_prefix="tokenizer")
        self._thread: Thread | None = None
        self._loaded: LoadedModel | None = None
        self._failure: str | None = None

    def start(self) -> None:
        """Begin to load the model; needs the running event loop and returns at once."""
        loop = asyncio.get_running_loop()
        loading = loop.run_in_executor(self._model_thread, self._open)
        loading.add_done_callback(self._finish_loading)

    def stop(self) -> None:
        """End both threads; what runs at this moment gets two seconds, a load is not awaited."""
        if self._loaded is not None:
            self._loaded.batcher.close()
        self._model_thread.shutdown(wait=False, cancel_futures=True)
        self._tokenizer_thread.shutdown(wait=False, cancel_futures=True)
        if self._thread is not None and self._loaded is not None:
            self._thread.join(STOP_SECONDS)

    @property
    def is_thread_alive(self) -> bool:
        """Tell whether the model thread has begun and not ended."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def state(self) -> State:
        """Return "ok" only if a request that came now would reach the model."""
        if self._failure is not None:
            return "failed"
        if self._loaded is None:
            return "loading"
        return "ok" if self.is_thread_alive else "failed"

    @property
    def card(self) -> ModelCard:
        """Describe the model. Raises ModelLoading or ModelGone while there is none."""
        return self._require().encoder.card

    async def tokenize(self, texts: Sequence[str], limit: int | None = None) -> list[list[int]]:
        """Return the token ids of each text, cut to `limit` tokens if given."""
        encoder = self._require().encoder
        loop = asyncio.get_running_loop()
        tokens: list[list[int]] = []
        for start in range(0, len(texts), TOKENIZE_TEXTS):
            portion = texts[start : start + TOKENIZE_TEXTS]
            tokens += await loop.run_in_executor(
                self._tokenizer_thread, encoder.tokenize, portion, limit
            )
        return tokens

    async def embed(self, texts: Sequence[TokenIds]) -> Vectors:
        """Return one raw vector for each tokenised text, in order."""
        return await self._require().batcher.embed(texts)

    def check(self) -> None:
        """Raise ModelLoading or ModelGone unless the model can answer."""
        self._require()

    def _require(self) -> LoadedModel:
        state = self.state
        if state == "loading":
            raise ModelLoading("The model is being loaded; try again in a few seconds.")
        if state == "failed" or self._loaded is None:
            raise ModelGone(self._failure or "The thread that runs the model has ended.")
        return self._loaded

    def _open(self) -> Encoder:
        self._thread = current_thread()
        return self._open_encoder(self._settings)

    def _finish_loading(self, loading: "asyncio.Future[Encoder]") -> None:
        if loading.cancelled():
            return
        error = loading.exception()
        if error is not None:
            self._fail(error)
            return
        encoder = loading.result()
        card = encoder.card
        limits = BatchLimits(
            texts=self._settings.batch_size,
            tokens=self._settings.max_batch_tokens or BATCH_TOKENS[card.device],
            padding_tokens=PADDING_TOKENS.get(card.device, PADDING_TOKENS["cpu"]),
        )
        batcher = Batcher(encoder.encode, card.dimensions, limits, self._model_thread)
        self._loaded = LoadedModel(encoder, batcher)
        logger.info("Ready: %s, %d dimensions, on %s", card.name, card.dimensions, card.device)

    def _fail(self, error: BaseException) -> None:
        # The first line says what is wrong; libraries add advice in the following ones.
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        name = self._settings.model or "the default model"
        self._failure = f"Cannot load {name}: {reason}"
        logger.debug("Loading failed", exc_info=error)
        self._report_failure(self._failure)
