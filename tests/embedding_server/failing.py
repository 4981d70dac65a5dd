"""Encoders that fail on purpose, each in one exact way, and a Batcher in front of them.

They stand at the outer edge, where a model would be: everything between them and the client is
the real thing.
"""

import asyncio
import ctypes
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from threading import Event, get_ident
from typing import Any

import numpy as np

from embedding_server.encoder import MemoryExhausted, ModelCard, TokenIds
from embedding_server.instruments import PREFIX, Instruments
from embedding_server.prompts import Prompts
from embedding_server.scheduling.batch_queue import BatchLimits
from embedding_server.serving.batching import Batcher
from embedding_server.serving.warm_up import WarmModel
from embedding_server.serving.watchdog import WatchedThread
from embedding_server.vectors import Vectors
from tests.embedding_server.edge import PATIENCE_SECONDS

LIMITS = BatchLimits(texts=8, tokens=4096, padding_tokens=64)
PROBE = [1]
# From the token on, nothing works any more: a device whose context is poisoned, or broken memory.
FAILING, EXITING, NOT_A_NUMBER, POISONING, CORRUPTING = 666, 667, 668, 669, 670

Fits = Callable[[Sequence[TokenIds]], bool]


def fits_padded(tokens: int, batch: Sequence[TokenIds]) -> bool:
    """Tell whether the batch has no more than so many padded tokens."""
    return len(batch) * max(map(len, batch)) <= tokens


class FailingEncoder:
    """Gives (token count, first token) for a text; fails at special tokens, or beyond a size."""

    card = ModelCard(
        name="failing",
        aliases=frozenset(),
        dimensions=2,
        min_dimensions=1,
        max_tokens=100,
        device="cpu",
        prompts=Prompts(),
    )

    def __init__(self, fits: Fits = lambda _batch: True) -> None:
        self.batches: list[list[list[int]]] = []
        self.may_run = Event()
        self.may_run.set()
        self.fits = fits
        self.is_poisoned = False
        self.is_corrupt = False

    def tokenize(self, texts: Sequence[str], limit: int | None = None) -> list[list[int]]:
        """Take each word as the number of a token."""
        return [[int(word) for word in text.split()][:limit] for text in texts]

    def encode(self, batch: Sequence[TokenIds]) -> Vectors:
        """Fail as the tokens say, or give exact vectors."""
        self.may_run.wait()
        self.batches.append([list(tokens) for tokens in batch])
        found = {token for tokens in batch for token in tokens}
        self.is_poisoned |= POISONING in found
        self.is_corrupt |= CORRUPTING in found
        if self.is_poisoned or FAILING in found:
            raise RuntimeError("device-side assert")
        if EXITING in found:
            raise SystemExit(3)
        if not self.fits(batch):
            raise MemoryExhausted("tried to allocate too much")
        vectors = np.array([[len(tokens), tokens[0]] for tokens in batch], dtype=np.float32)
        vectors[[self.is_corrupt or NOT_A_NUMBER in tokens for tokens in batch]] = np.nan
        return vectors


class BlockingEncoder(FailingEncoder):
    """Stands still in the pass of the token 13 until `may_go_on`; fit and well otherwise."""

    BLOCKING = 13

    def __init__(self) -> None:
        super().__init__()
        self.is_blocked = Event()
        self.may_go_on = Event()

    def encode(self, batch: Sequence[TokenIds]) -> Vectors:
        """Wait where a kernel would hang."""
        if any(self.BLOCKING in tokens for tokens in batch):
            self.is_blocked.set()
            self.may_go_on.wait()
        return super().encode(batch)


class DyingEncoder(FailingEncoder):
    """Remembers its thread, so that a test can end it as a fault beneath Python would."""

    def __init__(self) -> None:
        super().__init__()
        self.thread_ident = 0

    def encode(self, batch: Sequence[TokenIds]) -> Vectors:
        """Remember the thread."""
        self.thread_ident = get_ident()
        return super().encode(batch)

    def end_thread(self) -> None:
        """Raise SystemExit in the thread, at whatever it does next and outside of any call."""
        ended = ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(self.thread_ident), ctypes.py_object(SystemExit)
        )
        assert ended == 1


@dataclass(frozen=True, slots=True)
class Rig:
    """A Batcher with its model thread and everything it tells to others."""

    batcher: Batcher
    thread: WatchedThread
    instruments: Instruments
    broken: list[str]

    def read(self, name: str, **labels: str) -> float:
        """Return a sample; 0 for one that was never touched."""
        return self.instruments.registry.get_sample_value(f"{PREFIX}_{name}", labels) or 0.0


def run_with_batcher(
    encoder: FailingEncoder,
    work: Callable[[Rig], Coroutine[Any, Any, None]],
    limits: BatchLimits = LIMITS,
) -> None:
    """Run `work` beside a model thread, and end the thread whatever happens."""

    async def main() -> None:
        thread, instruments = WatchedThread("model"), Instruments()
        broken: list[str] = []
        model = WarmModel(encoder, limits, PROBE)
        batcher = Batcher(model, thread, instruments, broken.append)
        try:
            await asyncio.wait_for(
                work(Rig(batcher, thread, instruments, broken)), PATIENCE_SECONDS
            )
        finally:
            encoder.may_run.set()
            thread.end()
            thread.join(PATIENCE_SECONDS)

    asyncio.run(main())
