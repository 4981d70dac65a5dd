"""What the tests of the server's edge share: an encoder that waits, and a look at the metrics.

The encoder stands at the outer edge, where a model would be; everything between it and the client
is the real thing.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event
from typing import Any

import httpx
import numpy as np
from prometheus_client.parser import text_string_to_metric_families

from embedding_server.app import create_app
from embedding_server.encoder import ModelCard, TokenIds
from embedding_server.prompts import Prompts
from embedding_server.settings import Settings
from embedding_server.vectors import Vectors
from tests.embedding_server.running import serve, wait_until_ready

NAME = "gated"
MAX_TOKENS = 1000
FAILING, BROKEN = 666, "broken"
PREFIX = "graph_memory_embedding_"
# A busy machine takes long for anything.
PATIENCE_SECONDS = 60


class GatedEncoder:
    """Takes texts of numbers, a token each; its gates decide when it tokenises and when it runs."""

    card = ModelCard(
        name=NAME,
        aliases=frozenset({"vendor/gated"}),
        dimensions=2,
        min_dimensions=1,
        max_tokens=MAX_TOKENS,
        device="cpu",
        prompts=Prompts(),
    )

    def __init__(self) -> None:
        self.may_tokenize = Event()
        self.may_run = Event()
        self.may_tokenize.set()
        self.may_run.set()
        self.texts: list[str] = []
        self.ran: list[list[int]] = []

    def tokenize(self, texts: Sequence[str], limit: int | None = None) -> list[list[int]]:
        """Split at spaces; one word is not bearable."""
        self.texts += texts
        self.may_tokenize.wait()
        if any(BROKEN in text for text in texts):
            raise ValueError("not a number")
        return [[int(word) for word in text.split()][:limit] for text in texts]

    def encode(self, batch: Sequence[TokenIds]) -> Vectors:
        """Give (token count, 1) for a text; fail at one token."""
        self.may_run.wait()
        self.ran += [list(tokens) for tokens in batch]
        if any(FAILING in tokens for tokens in batch):
            raise RuntimeError("a fault of the model")
        return np.array([[len(tokens), 1] for tokens in batch], dtype=np.float32)


@contextmanager
def serve_gated(**settings: Any) -> Iterator[tuple[str, GatedEncoder]]:
    """Yield the base URL of a ready server and its encoder, whose gates are open at the end."""
    encoder = GatedEncoder()
    with serve(create_app(Settings(**settings), lambda _settings: encoder)) as url:
        wait_until_ready(url)
        # What the server tried at its start is of no interest here.
        encoder.texts.clear()
        encoder.ran.clear()
        try:
            yield url, encoder
        finally:
            encoder.may_tokenize.set()
            encoder.may_run.set()


def post(url: str, texts: str | list[str], **fields: object) -> httpx.Response:
    body = {"model": NAME, "input": texts, **fields}
    return httpx.post(f"{url}/v1/embeddings", json=body, timeout=PATIENCE_SECONDS)


def wait_until(is_so: Callable[[], bool]) -> None:
    """Return once the condition holds; fail when it never does."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        if time.monotonic() > end:
            raise TimeoutError("what was waited for did not come")
        time.sleep(0.01)


def read_metrics(url: str) -> dict[str, float]:
    """Return each sample by its name, the product's prefix left out; labels as in the text."""
    text = httpx.get(f"{url}/metrics").text
    return {
        sample.name.removeprefix(PREFIX) + _show(sample.labels): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def _show(labels: dict[str, str]) -> str:
    shown = ",".join(f'{name}="{value}"' for name, value in sorted(labels.items()))
    return f"{{{shown}}}" if shown else ""
