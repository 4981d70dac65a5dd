"""Ask the service and its peer the same questions in turn, one at a time, and time the answers."""

import json
import random
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray
from rich.progress import track

from scripts.generated.notes import HALF_OF_THE_YEAR, RARE_KINDS, Note

WARM_UP_QUESTIONS: Final = 20
_SEED: Final = 7
_JSON: Final = {"content-type": "application/json"}

Body = dict[str, Any]


@dataclass(slots=True)
class Answers:
    """One contender's times in milliseconds, and how often the asked note was among the ten.

    `without_embedding` is the client's time less the receipt's stage `embed`. Where that stage
    runs beside another, the difference flatters: so both are told.
    """

    whole: list[float] = field(default_factory=list)
    without_embedding: list[float] = field(default_factory=list)
    stages: list[Mapping[str, float]] = field(default_factory=list)
    found: int = 0
    wrong: int = 0

    @property
    def p50(self) -> float:
        """The median without embedding."""
        return statistics.median(self.without_embedding)

    @property
    def p95(self) -> float:
        """The 95th percentile without embedding."""
        return percentile(self.without_embedding, 0.95)

    def with_embedding(self) -> tuple[float, float]:
        """Return p50 and p95 of the whole time."""
        return statistics.median(self.whole), percentile(self.whole, 0.95)

    def stage_medians(self) -> dict[str, float]:
        """Return the median of every stage, 0 for answers without it."""
        names = sorted({name for stage in self.stages for name in stage})
        return {n: statistics.median(s.get(n, 0.0) for s in self.stages) for n in names}


class Contender(Protocol):
    """Whoever answers questions."""

    def answer(self, note: Note, answers: Answers) -> None:
        """Answer the note's question and write down what that took."""


@dataclass(frozen=True, slots=True)
class Request:
    """One kind of request: where it goes, what it filters by, what every hit must satisfy."""

    path: str
    options: Callable[[Note], Body]
    is_right: Callable[[Note, Body], bool] = lambda _note, _hit: True
    budgets: Mapping[int, tuple[float, float | None]] = field(default_factory=dict)


SEARCH_BUDGETS: Final = {100_000: (7.0, 15.0), 1_000_000: (40.0, None)}
RECALL_BUDGETS: Final[Mapping[int, tuple[float, float | None]]] = {100_000: (12.0, None)}
PLAIN, SCOPED, RECALL = "/search", "/search, a scope of a tenth", "/graph-recall, 2 hops"
# What /search was before its default read memories in their context: fusion by rank.
BY_RANK: Final = "/search, fusion rrf"
# Names of requests in which the budget asks for no more time than PLAIN takes.
FILTERED: Final = (SCOPED, "/search, a tag", "/search, kinds and since")

REQUESTS: Final[Mapping[str, Request]] = {
    PLAIN: Request("/search", lambda _: {}, budgets=SEARCH_BUDGETS),
    FILTERED[0]: Request(
        "/search",
        lambda note: {"scope": note.draft.scope},
        lambda note, hit: hit["scope"] == note.draft.scope,
    ),
    FILTERED[1]: Request(
        "/search",
        lambda note: {"tags": list(note.draft.tags)},
        lambda note, hit: set(note.draft.tags) <= set(hit["tags"]),
    ),
    FILTERED[2]: Request(
        "/search",
        lambda _: {"kinds": list(RARE_KINDS), "since": HALF_OF_THE_YEAR.isoformat()},
        lambda _, hit: hit["kind"] in RARE_KINDS,
    ),
    BY_RANK: Request("/search", lambda _: {"fusion": "rrf"}),
    "/search, words only": Request("/search", lambda _: {"weights": {"vector": 0, "graph": 0}}),
    # The question is read, its words, names and times are looked up, and the store is asked whether
    # it knows the agent: all but ranking.
    "/search, an empty scope": Request("/search", lambda _: {"scope": "nobody"}),
    # HTTP, checks and a receipt: nothing is looked for.
    "/search, small talk skipped": Request(
        "/search", lambda _: {"query": "thanks", "skip_small_talk": True}
    ),
    RECALL: Request("/graph-recall", lambda _: {"hops": 2}, budgets=RECALL_BUDGETS),
}


@dataclass(frozen=True, slots=True)
class OverHttp:
    """A service, asked one kind of request over HTTP.

    By the standard library's client: what a client does by itself is in the time, and httpx takes
    more than half a millisecond more. JSON is written before the clock runs, and read behind it.
    """

    connection: HTTPConnection
    request: Request

    def answer(self, note: Note, answers: Answers) -> None:
        """Ask, time, and look at every hit."""
        body = json.dumps({"query": note.question, "limit": 10} | self.request.options(note))
        started = time.perf_counter()
        self.connection.request("POST", self.request.path, body, _JSON)
        response = self.connection.getresponse()
        text = response.read()
        milliseconds = (time.perf_counter() - started) * 1000
        if response.status != 200:
            msg = f"{self.request.path}: {response.status} {text[:300]!r}"
            raise RuntimeError(msg)
        self._note(note, json.loads(text), milliseconds, answers)

    def _note(self, note: Note, told: Any, milliseconds: float, answers: Answers) -> None:
        stages = told["receipt"]["stages_ms"]
        answers.whole.append(milliseconds)
        answers.without_embedding.append(milliseconds - stages.get("embed", 0.0))
        answers.stages.append(stages)
        hits = told["results"]
        answers.found += note.draft.id in [*(h["id"] for h in hits), *told.get("seeds", [])]
        is_right = all(self.request.is_right(note, hit) for hit in hits)
        answers.wrong += not is_right or bool(told["receipt"]["missing_signals"])


AskPeer = Callable[[str, NDArray[np.float32], str | None], list[str]]


@dataclass(frozen=True, slots=True)
class InProcess:
    """The peer, called in this process with the question's vector at hand."""

    ask: AskPeer
    embed: Callable[[str], NDArray[np.float32]]
    is_scoped: bool

    def answer(self, note: Note, answers: Answers) -> None:
        """Ask and time; the vector is made before the clock runs."""
        vector = self.embed(note.question)
        scope = note.draft.scope if self.is_scoped else None
        started = time.perf_counter()
        ids = self.ask(note.question, vector, scope)
        milliseconds = (time.perf_counter() - started) * 1000
        answers.whole.append(milliseconds)
        answers.without_embedding.append(milliseconds)
        answers.found += note.draft.id in ids


def take_turns(contenders: Mapping[str, Contender], notes: Sequence[Note]) -> dict[str, Answers]:
    """Ask everybody every question, in an order drawn for each; the first questions warm up.

    Whoever is first finds a question that nobody has read yet, and whoever comes after a scan of
    all vectors finds the processor's caches full of those: each is drawn there as often as others.
    """
    answers = {name: Answers() for name in contenders}
    orders = random.Random(_SEED)
    for place, note in enumerate(track(notes, "questions", transient=True)):
        for name in orders.sample(list(contenders), len(contenders)):
            is_warm = place >= WARM_UP_QUESTIONS
            contenders[name].answer(note, answers[name] if is_warm else Answers())
    return answers


def percentile(values: Iterable[float], share: float) -> float:
    """Return the value below which `share` of the values lie; 0.0 for none."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)] if ordered else 0.0
