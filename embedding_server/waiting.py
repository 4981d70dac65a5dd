"""The texts that wait for the model, and the choice of those that go next; no threads in here."""

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count

import numpy as np

from embedding_server.encoders.encoder import TokenIds
from embedding_server.vectors import Vectors


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """How much goes through the model at once.

    `padding_tokens` is how much shorter than the longest text of its batch a text may be: padding
    it costs less than a forward pass of its own up to there.
    """

    texts: int
    tokens: int
    padding_tokens: int


@dataclass(eq=False, slots=True)
class WaitingText:
    """One text of a request, on its way to one row of the answer."""

    tokens: TokenIds
    request: "WaitingRequest"
    row: int
    number: int
    has_left: bool = False

    @property
    def order(self) -> tuple[int, int]:
        """Shorter before longer, older before newer."""
        return len(self.tokens), self.number


@dataclass(eq=False, slots=True)
class WaitingRequest:
    """One client's texts and the answer that grows row by row."""

    answer: Vectors
    finish: Callable[[], None]
    fail: Callable[[Exception], None]
    rows_left: int
    texts: list[WaitingText] = field(default_factory=list)
    is_over: bool = False


class WaitingTexts:
    """Texts of all clients, sorted by length.

    The requests take turns: a single query waits for one or two forward passes, however many
    texts another client has sent. A batch is built round the longest text of the request whose
    turn it is, from the texts nearest to it in length, whoever sent them.
    """

    def __init__(self, limits: BatchLimits) -> None:
        self._limits = limits
        self._texts: list[WaitingText] = []
        self._turns: deque[WaitingRequest] = deque()
        self._numbers = count()

    def __len__(self) -> int:
        return len(self._texts)

    def add(self, request: WaitingRequest, texts: Sequence[TokenIds]) -> None:
        """Let the texts of a request wait; row i of its answer belongs to text i."""
        request.texts = [
            WaitingText(tokens, request, row, next(self._numbers))
            for row, tokens in enumerate(texts)
        ]
        request.texts.sort(key=_order)
        self._texts.extend(request.texts)
        self._texts.sort(key=_order)
        self._turns.append(request)

    def drop(self, request: WaitingRequest) -> None:
        """Forget what still waits of a request that nobody waits for any more."""
        request.is_over = True
        self._texts = [text for text in self._texts if text.request is not request]
        request.texts.clear()

    def take(self) -> list[WaitingText]:
        """Remove and return the texts of the next forward pass; none when nothing waits."""
        while self._turns:
            request = self._turns.popleft()
            while request.texts and request.texts[-1].has_left:
                request.texts.pop()
            if request.texts:
                self._turns.append(request)
                return self._remove(*self._choose_range(request.texts[-1]))
        return []

    def _choose_range(self, longest: WaitingText) -> tuple[int, int]:
        """Return the range of the sorted texts round this one that fits the limits."""
        start = bisect_left(self._texts, longest.order, key=_order)
        end = start + 1
        while end - start < self._limits.texts:
            wider = [(start - 1, end), (start, end + 1)]
            fitting = [bounds for bounds in wider if self._fits(*bounds)]
            if not fitting:
                break
            start, end = min(fitting, key=lambda bounds: self._spread(*bounds))
        return start, end

    def _fits(self, start: int, end: int) -> bool:
        if start < 0 or end > len(self._texts):
            return False
        padded = len(self._texts[end - 1].tokens) * (end - start)
        is_even = self._spread(start, end) <= self._limits.padding_tokens
        return is_even and padded <= self._limits.tokens

    def _spread(self, start: int, end: int) -> int:
        return len(self._texts[end - 1].tokens) - len(self._texts[start].tokens)

    def _remove(self, start: int, end: int) -> list[WaitingText]:
        batch = self._texts[start:end]
        del self._texts[start:end]
        for text in batch:
            text.has_left = True
        return batch


def new_request(
    rows: int,
    dimensions: int,
    finish: Callable[[], None],
    fail: Callable[[Exception], None],
) -> WaitingRequest:
    """Return a request with an empty answer of so many rows."""
    return WaitingRequest(
        answer=np.empty((rows, dimensions), dtype=np.float32),
        finish=finish,
        fail=fail,
        rows_left=rows,
    )


def _order(text: WaitingText) -> tuple[int, int]:
    return text.order
