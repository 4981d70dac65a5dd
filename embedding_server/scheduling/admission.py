"""How much may wait for the model: counted on the event loop, in the same step as the check."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil

from embedding_server.errors import ServerBusy
from embedding_server.instruments import Instruments
from embedding_server.settings import Settings

# After so long a measurement counts half: several large requests, yet not the load of an hour ago.
HALF_LIFE_SECONDS = 30.0
# Told to a refused client as long as no request has been finished: one batch of a large model.
UNKNOWN_PACE_SECONDS = 5


class Pace:
    """Tokens per second of the recent past, idle time left out."""

    def __init__(self) -> None:
        self._tokens = 0.0
        self._seconds = 0.0

    def record(self, tokens: int, seconds: float) -> None:
        """Count tokens that were finished in these seconds."""
        weight = 0.5 ** (seconds / HALF_LIFE_SECONDS)
        self._tokens = self._tokens * weight + tokens
        self._seconds = self._seconds * weight + seconds

    @property
    def tokens_per_second(self) -> float | None:
        """Return the pace, or None while nothing has been measured."""
        return self._tokens / self._seconds if self._tokens and self._seconds else None


@dataclass(eq=False, slots=True)
class Permit:
    """What one admitted request has waiting; `add_tokens` may refuse it after all."""

    admission: "Admission"
    texts: int
    tokens: int = 0

    def add_tokens(self, tokens: int) -> None:
        """Count tokens of the request's texts. Raises ServerBusy if there is no room for them."""
        self.admission.count_tokens(self, tokens)


class Admission:
    """The texts and tokens that wait for the model, of all clients, and the bounds on both.

    A request beyond a bound is refused, unless nothing else waits: however low the bounds, an idle
    server takes any request. For use on the event loop only. There is no await between a check
    and its count, so a burst of requests cannot get past a bound together.
    """

    def __init__(
        self,
        settings: Settings,
        instruments: Instruments,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most_texts = settings.max_waiting_texts
        self._most_tokens = settings.max_waiting_tokens
        self._instruments = instruments
        self._clock = clock
        self._texts = 0
        self._tokens = 0
        self._pace = Pace()
        self._measured_at = clock()

    @contextmanager
    def admit(self, texts: int) -> Iterator[Permit]:
        """Let the texts of one request wait until the context ends, however it ends.

        Raises ServerBusy if there is no room for them.
        """
        self._check_texts(texts)
        if not self._texts:
            self._measured_at = self._clock()
        permit = Permit(self, texts)
        self._count(texts=texts)
        is_finished = False
        try:
            yield permit
            is_finished = True
        finally:
            now = self._clock()
            self._pace.record(permit.tokens if is_finished else 0, now - self._measured_at)
            self._measured_at = now
            self._count(texts=-permit.texts, tokens=-permit.tokens)

    def count_tokens(self, permit: Permit, tokens: int) -> None:
        """Count tokens of an admitted request. Raises ServerBusy if there is no room for them."""
        is_alone = self._tokens == permit.tokens
        excess = self._tokens + tokens - self._most_tokens
        if excess > 0 and not is_alone:
            raise self._refuse("tokens", self._tokens, self._most_tokens, excess)
        permit.tokens += tokens
        self._count(tokens=tokens)

    def _check_texts(self, texts: int) -> None:
        excess = self._texts + texts - self._most_texts
        if excess > 0 and self._texts:
            tokens_of_a_text = self._tokens / self._texts
            raise self._refuse("texts", self._texts, self._most_texts, excess * tokens_of_a_text)

    def _count(self, texts: int = 0, tokens: int = 0) -> None:
        self._texts += texts
        self._tokens += tokens
        self._instruments.waiting_texts.set(self._texts)
        self._instruments.waiting_tokens.set(self._tokens)

    def _refuse(self, full: str, waiting: int, most: int, excess_tokens: float) -> ServerBusy:
        self._instruments.rejected.labels(full).inc()
        return ServerBusy(
            f"The server is busy: {waiting:,} {full} wait for the model, and no more than {most:,} "
            "may. Try again later.",
            self._estimate_seconds(excess_tokens),
        )

    def _estimate_seconds(self, excess_tokens: float) -> int:
        """Return when so many tokens will have gone; room for more than all comes with the last."""
        pace = self._pace.tokens_per_second
        if pace is None:
            return UNKNOWN_PACE_SECONDS
        return ceil(min(excess_tokens, self._tokens) / pace)
