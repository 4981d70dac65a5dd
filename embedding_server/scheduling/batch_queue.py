"""The texts that wait for the model, and the choice of those that go next; no threads in here."""

import time
from bisect import bisect_left, insort
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count

import numpy as np

from embedding_server.encoder import TokenIds
from embedding_server.scheduling.token_budget import TokenBudget
from embedding_server.vectors import Vectors

# Up to here it is faster to put texts one by one into the sorted list than to sort it again, or
# to build it again without them, which costs the whole list.
FEW_TEXTS = 64


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


@dataclass(eq=False, slots=True)
class WaitingRequest:
    """One client's texts and the answer that grows row by row; `since_seconds` is monotonic."""

    answer: Vectors
    finish: Callable[[], None]
    fail: Callable[[Exception], None]
    rows_left: int
    since_seconds: float
    texts: list[WaitingText] = field(default_factory=list)
    is_over: bool = False


# Shorter before longer, older before newer. No two numbers are the same, so that comparing never
# reaches the text.
Entry = tuple[int, int, WaitingText]


class BatchQueue:
    """Texts of all clients, sorted by length.

    The requests take turns: a single query waits for one or two forward passes, however many
    texts another client has sent. A batch is built round the longest text of the request whose
    turn it is, from the texts nearest to it in length, whoever sent them.
    """

    def __init__(self, limits: BatchLimits) -> None:
        self._limits = limits
        # Where the limit of tokens stands now.
        self.budget = TokenBudget(limits.tokens)
        self._entries: list[Entry] = []
        self._turns: OrderedDict[WaitingRequest, None] = OrderedDict()
        self._numbers = count()

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, request: WaitingRequest, texts: Sequence[TokenIds]) -> None:
        """Let the texts of a request wait; row i of its answer belongs to text i."""
        numbered = (
            WaitingText(tokens, request, row, next(self._numbers))
            for row, tokens in enumerate(texts)
        )
        entries = sorted(_make_entry(text) for text in numbered)
        request.texts = [text for _, _, text in entries]
        if len(entries) <= FEW_TEXTS:
            for entry in entries:
                insort(self._entries, entry)
        else:
            self._entries.extend(entries)
            self._entries.sort()
        self._turns[request] = None

    def drop(self, request: WaitingRequest) -> None:
        """Forget what still waits of a request that nobody waits for any more."""
        request.is_over = True
        waiting = [text for text in request.texts if not text.has_left]
        if len(waiting) <= FEW_TEXTS:
            for text in waiting:
                del self._entries[bisect_left(self._entries, _make_entry(text))]
        else:
            self._entries = [entry for entry in self._entries if entry[2].request is not request]
        request.texts.clear()
        self._turns.pop(request, None)

    def take(self) -> list[WaitingText]:
        """Remove and return the texts of the next forward pass; none when nothing waits."""
        while self._turns:
            request, _ = self._turns.popitem(last=False)
            while request.texts and request.texts[-1].has_left:
                request.texts.pop()
            if request.texts:
                self._turns[request] = None
                return self._remove(*self._choose_range(request.texts[-1]))
        return []

    def _choose_range(self, longest: WaitingText) -> tuple[int, int]:
        """Return the range of the sorted texts round this one that fits the limits."""
        start = bisect_left(self._entries, _make_entry(longest))
        end = start + 1
        while end - start < self._limits.texts:
            wider = [(start - 1, end), (start, end + 1)]
            fitting = [bounds for bounds in wider if self._fits(*bounds)]
            if not fitting:
                break
            start, end = min(fitting, key=lambda bounds: self._spread(*bounds))
        return start, end

    def _fits(self, start: int, end: int) -> bool:
        if start < 0 or end > len(self._entries):
            return False
        padded = self._entries[end - 1][0] * (end - start)
        is_even = self._spread(start, end) <= self._limits.padding_tokens
        return is_even and padded <= self.budget.tokens

    def _spread(self, start: int, end: int) -> int:
        return self._entries[end - 1][0] - self._entries[start][0]

    def _remove(self, start: int, end: int) -> list[WaitingText]:
        batch = [text for _, _, text in self._entries[start:end]]
        del self._entries[start:end]
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
        since_seconds=time.monotonic(),
    )


def _make_entry(text: WaitingText) -> Entry:
    return len(text.tokens), text.number, text
