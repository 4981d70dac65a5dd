"""A client that notes each answer: its verdict, its time, and whether a refusal was declared."""

import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

from scripts.chaos_rounds.ledger import Verdict

# Longer than everything the service promises to answer in.
PATIENCE_SECONDS: Final = 45.0
_PROBLEM: Final = "application/problem+json"
_PROBLEM_FIELDS: Final = frozenset({"type", "title", "status", "detail", "request_id"})
# A writer that finds nobody asks again only then.
_AWAY_SECONDS: Final = 0.1


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; status 0 when nothing did, and why stands in `detail`."""

    verdict: Verdict
    status: int
    body: Any
    detail: str = ""
    gave_up: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """One request and its answer's status (0: none), in seconds of time.monotonic()."""

    what: str
    status: int
    since: float
    until: float

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.until - self.since


@dataclass(slots=True)
class Notes:
    """What all clients of a round saw of the service; refusals by what they answered."""

    asked: list[Asked] = field(default_factory=list)
    refusals: Counter[str] = field(default_factory=Counter)
    undeclared: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, what: str, since: float, answer: Answer) -> None:
        """Note one answer that has just come."""
        told = f"{what} → {answer.status or answer.detail}"
        with self._lock:
            self.asked.append(Asked(told, answer.status, since, time.monotonic()))
            if answer.status >= 400:
                self.refusals[f"{answer.status} {title_of(answer.body)}"] += 1
                if fault := undeclared(answer):
                    self.undeclared.append(f"{told}: {fault}")


@dataclass(slots=True)
class Asking:
    """One connection to the service; each writer and reader has its own."""

    url: str
    notes: Notes
    _client: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self._client = httpx.Client(base_url=self.url, timeout=PATIENCE_SECONDS)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def ask(self, method: str, path: str, **request: Any) -> Answer:
        """Ask once and note what came of it; never raises for what the service does."""
        started = time.monotonic()
        try:
            response = self._client.request(method, path, **request)
        except httpx.ConnectError as error:
            # Nothing was sent.
            time.sleep(_AWAY_SECONDS)
            return Answer("refused", 0, None, type(error).__name__)
        except httpx.TimeoutException as error:
            answer = Answer("unknown", 0, None, type(error).__name__, gave_up=True)
        except httpx.TransportError as error:
            answer = Answer("unknown", 0, None, type(error).__name__)
        else:
            answer = _answer(response)
        what = f"{method} {path.partition('?')[0]}"
        self.notes.take(what, started, answer)
        return answer


def _answer(response: httpx.Response) -> Answer:
    status = response.status_code
    kind = response.headers.get("content-type", "").partition(";")[0]
    body = response.json() if kind.endswith("json") and response.content else None
    verdict: Verdict = "acknowledged" if status < 300 else "refused" if status < 500 else "unknown"
    return Answer(verdict, status, body, kind)


def undeclared(answer: Answer) -> str:
    """Return what is wrong with a refusal; empty for one that says what it is, and what to do."""
    if answer.detail != _PROBLEM or not isinstance(answer.body, dict):
        return f"a refusal of type {answer.detail!r}"
    if missing := _PROBLEM_FIELDS - answer.body.keys():
        return f"a problem without {sorted(missing)}"
    if answer.status == 500:
        return f"a failure that nobody named: {answer.body['detail']}"
    return ""


def title_of(body: Any) -> str:
    """Return the title of a problem."""
    return str(body.get("title", "")) if isinstance(body, dict) else ""


def told_by(found: Any) -> str:
    """Return how a search came to its results: what answered, and what was missing."""
    receipt = found["receipt"]
    names = ("engine", "fallback_reason", "missing_signals", "indexed_through")
    return f"{len(found['results'])} results, " + str({name: receipt[name] for name in names})


def search_for(word: str, agent: str) -> dict[str, Any]:
    """Return the body of a search that says whether a word is in the index: ranked by words alone.

    In the default ranking made-up vectors and likeness of texts that share their names decide too.
    """
    return {
        "query": word, "agent": agent, "limit": 10, "include_archived": True,
        "duplicates": "show", "fusion": "rrf", "weights": {"vector": 0, "text": 1, "graph": 0},
    }  # fmt: skip
