"""One agent's store behind a running service: filled, consolidated and read over HTTP."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import httpx

from scripts.consolidation.told_decisions import Kept, add_up, look_for_losses
from scripts.generated.logs import Entry, documents, observations
from service.text.tokens import estimate_tokens

_PAGE: Final = 1000
_BATCH: Final = 500
_LOOK_SECONDS: Final = 0.05

Memory = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Size:
    """How much there is to read; tokens are estimated as the service does."""

    memories: int
    characters: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Compacted:
    """What became of the logs that joined a summary, and of those that share nothing (`alone`).

    `with_a_line` of those that joined gave a line of their summary's text; `unlike_shown` counts
    summaries that do not read as the dry run said.
    """

    joined: Size
    summaries: Size
    with_a_line: int
    alone: int
    unlike_shown: int
    kept: Kept


@dataclass(frozen=True, slots=True)
class Shown:
    """A dry run, all its pages: `seconds` are those of the first; `lines` by group and source."""

    plan: str | None
    seconds: float
    memories: int
    alone: int
    contents: Mapping[str, str]
    lines: Mapping[str, Mapping[str, Sequence[int]]]

    @property
    def joined(self) -> frozenset[str]:
        """The memories that join a summary."""
        return frozenset(source for sources in self.lines.values() for source in sources)


@dataclass(frozen=True, slots=True)
class Done:
    """A store before and after its consolidation, all memories that searches see, by id."""

    shown: Shown
    before: Mapping[str, Memory]
    after: Mapping[str, Memory]

    @property
    def summaries(self) -> dict[str, Memory]:
        """The summaries as they are stored."""
        return {key: self.after[key] for key in sorted(self.shown.lines) if key in self.after}

    def compacted(self) -> Compacted:
        """Return what the consolidation made of the logs."""
        stored = {key: memory["content"] for key, memory in self.summaries.items()}
        return Compacted(
            joined=size_of(self.before[key]["content"] for key in self.shown.joined),
            summaries=size_of(stored.values()),
            with_a_line=sum(
                bool(its) for lines in self.shown.lines.values() for its in lines.values()
            ),
            alone=self.shown.alone,
            unlike_shown=sum(stored.get(key) != text for key, text in self.shown.contents.items()),
            kept=self._kept(),
        )

    def _kept(self) -> Kept:
        return add_up(
            look_for_losses(
                key, memory["content"],
                [(source, self.before[source]["content"]) for source in self.shown.lines[key]],
            )
            for key, memory in self.summaries.items()
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class JobDone:
    """What a consolidation by a job took a client; `counts` are how many it read on the way."""

    seconds: float
    counts: int


@dataclass(frozen=True, slots=True)
class Store:
    """Whom to ask, as which agent."""

    client: httpx.Client
    agent: str = "main"

    def write_logs(self, entries: Sequence[Entry], names: Sequence[str] = ()) -> None:
        """Store entries as they come: the days' documents in the order of `names`, else sorted."""
        texts = documents(entries)
        for name in names or sorted(texts):
            self.ingest(name, texts[name])
        self.push(observations(entries))

    def ingest(self, source: str, text: str, **said: str | None) -> None:
        """Store a document; raises httpx.HTTPStatusError when it is refused."""
        body = {"source": source, "text": text, "agent": self.agent, **said}
        told = {name: value for name, value in body.items() if value is not None}
        self.client.post("/ingest", json=told).raise_for_status()

    def push(self, memories: Iterable[Mapping[str, object]]) -> None:
        """Store memories; raises ValueError when one is refused."""
        pages = iter(memories)
        while page := [{**memory, "agent": self.agent} for memory in islice(pages, _BATCH)]:
            answer = self.client.post("/memories/batch", json={"memories": page})
            if errors := answer.raise_for_status().json()["errors"]:
                raise ValueError(errors[0]["detail"])

    def consolidate(self, **said: object) -> tuple[dict[str, Any], float]:
        """POST /consolidate; returns the answer and the client's seconds."""
        started = time.perf_counter()
        answer = self.client.post("/consolidate", json={"agent": self.agent, **said})
        seconds = time.perf_counter() - started
        told: dict[str, Any] = answer.raise_for_status().json()
        return told, seconds

    def run_job(self) -> JobDone:
        """Have a job consolidate and look at it until it is over; raises ValueError if it fails."""
        started, looks = time.perf_counter(), set[int]()
        body = {"agent": self.agent, "dry_run": False, "wait": False}
        job = self.client.post("/consolidate", json=body).raise_for_status().json()["job"]
        while True:
            told = self.client.get(f"/consolidate/jobs/{job}").raise_for_status().json()
            if told["state"] == "done":
                return JobDone(time.perf_counter() - started, len(looks))
            if told["state"] == "failed":
                raise ValueError(told["detail"])
            looks.add(told["done"])
            time.sleep(_LOOK_SECONDS)

    def show(self) -> Shown:
        """Return a dry run, page by page to its end."""
        page, seconds = self.consolidate(limit=_PAGE)
        first, groups = page, list(page["groups"])
        while page["next_cursor"]:
            page, _ = self.consolidate(limit=_PAGE, cursor=page["next_cursor"])
            groups += page["groups"]
        return Shown(
            plan=first["plan"],
            seconds=seconds,
            memories=first["counts"]["memories"],
            alone=first["counts"]["alone"],
            contents={group["id"]: group["content"] for group in groups},
            lines={
                group["id"]: {source["id"]: source["lines"] for source in group["sources"]}
                for group in groups
            },
        )

    def memories(self) -> dict[str, Memory]:
        """Return what searches see, by id: no archived ones."""
        return {memory["id"]: memory for memory in self._listed()}

    def _listed(self) -> Iterator[Memory]:
        asked: dict[str, Any] = {"agent": self.agent, "limit": _PAGE}
        while True:
            page = self.client.get("/memories", params=asked).raise_for_status().json()
            yield from page["memories"]
            if page["next_cursor"] is None:
                return
            asked["cursor"] = page["next_cursor"]

    def consolidate_as_shown(self) -> Done:
        """Show a plan, carry it out as it is, and read the store before and after."""
        before, shown = self.memories(), self.show()
        if shown.plan is not None:
            self.consolidate(plan=shown.plan, dry_run=False)
        return Done(shown, before, self.memories())


def size_of(texts: Iterable[str]) -> Size:
    """Return how much there is to read in some texts."""
    every = list(texts)
    return Size(len(every), sum(map(len, every)), sum(map(estimate_tokens, every)))
