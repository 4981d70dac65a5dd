"""The model that is asked, where it is, and how long it is waited for."""

import time
from dataclasses import dataclass
from math import inf
from typing import Final, NamedTuple

from service.errors import ServiceError
from service.records import Vector

# What tells one model from another of the same name: two scripts, a code, a date, some syntax.
CANARY: Final = (
    "A canary for vectors: the quick brown fox jumps over the lazy dog; 빠른 갈색 여우; "
    "E1102, 1984-06-01."
)


@dataclass(frozen=True, slots=True)
class EmbedderAddress:
    """Where the embedding server is, what to ask of it, and how long to wait.

    `timeout_seconds` is for one request of the background with its retries; a question has
    `query_seconds` for all there is to do, a write `write_seconds`. What was found out of the model
    is good for `check_seconds`.
    """

    url: str
    model: str | None = None
    api_key: str | None = None
    dimensions: int | None = None
    instruction: str | None = None
    batch_size: int = 8
    timeout_seconds: float = 60.0
    query_seconds: float = 4.0
    write_seconds: float = 8.0
    check_seconds: float = 5.0


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """The model that answers; `speaks_input_type` marks our own server and its extra fields."""

    name: str
    dimensions: int
    speaks_input_type: bool
    instruction: str | None = None

    @property
    def fingerprint(self) -> str:
        """What must be equal for two vectors to be comparable."""
        return f"{self.name}/{self.dimensions}/{self.instruction or 'default'}"


@dataclass(frozen=True, slots=True)
class Asking:
    """How one batch is asked for, until when on the monotonic clock; `is_cut` as of a call."""

    until: float
    attempts: int
    is_query: bool = False
    is_probe: bool = False
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for one request with its retries, and for all requests of one call."""

    each_seconds: float
    whole_seconds: float = inf

    def begin(self) -> float:
        """Return when the call must be over, on the monotonic clock."""
        return time.monotonic() + self.whole_seconds

    def asking(self, end: float, attempts: int) -> Asking:
        """Return how the next request of a call that must be over at `end` is asked for."""
        now = time.monotonic()
        is_cut = end - now < self.each_seconds / 2
        return Asking(min(end, now + self.each_seconds), attempts, is_cut=is_cut)


class Made(NamedTuple):
    """The vectors of the first of some texts, and why there are not all.

    `cut` of these texts are longer than the model reads: their vectors are of their beginnings.
    """

    vectors: list[Vector]
    failure: ServiceError | None = None
    cut: int = 0
