"""The book of what the service has acknowledged: what each memory may be, given its answers; pure.

An answer of 2xx settles what a memory is. A refusal that comes before the work (4xx) leaves it as
it was. All else (5xx, a connection that breaks) is unknown: as before or as asked, and nothing in
between.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

Verdict = Literal["acknowledged", "refused", "unknown"]


@dataclass(frozen=True, slots=True)
class State:
    """A memory as it was asked for; None of title, tags and archived: nothing is promised."""

    text: str
    word: str
    title: str | None = None
    tags: tuple[str, ...] | None = None
    archived: bool | None = False


@dataclass(slots=True)
class Entry:
    """One memory of one agent: what it may be now (None: not there), and all words it ever had.

    A word stands in one version of one memory only. `is_over` when nobody may write it again: a
    request that nobody waits for any more may still be under way.
    """

    agent: str
    possible: list[State | None] = field(default_factory=lambda: [None])
    id: str | None = None
    words: set[str] = field(default_factory=set)
    is_over: bool = False

    @property
    def is_certain(self) -> bool:
        """Whether it is known to be there, as one thing."""
        return len(self.possible) == 1 and self.possible[0] is not None

    def settle(self, verdict: Verdict, becomes: Callable[[State | None], State | None]) -> None:
        """Note the answer to a request that turns each state into another."""
        if verdict == "refused":
            return
        turned = [becomes(state) for state in self.possible]
        self.words |= {state.word for state in turned if state}
        before = [] if verdict == "acknowledged" else self.possible
        self.possible = list(dict.fromkeys([*before, *turned]))


@dataclass(slots=True)
class Paper:
    """A document or a file: the versions it may have now, each the words of its sections.

    The empty version is that of one that is not there.
    """

    agent: str
    uri: str
    possible: list[tuple[str, ...]] = field(default_factory=lambda: [()])
    texts: dict[str, str] = field(default_factory=dict)

    def settle(self, verdict: Verdict, words: tuple[str, ...]) -> None:
        """Note the answer to a request that makes it this version."""
        if verdict != "refused":
            before = [] if verdict == "acknowledged" else self.possible
            self.possible = list(dict.fromkeys([*before, words]))


@dataclass(slots=True)
class Ledger:
    """All entries, documents and jobs of a round; each is written by one writer alone."""

    entries: list[Entry] = field(default_factory=list)
    papers: list[Paper] = field(default_factory=list)
    jobs: list[str] = field(default_factory=list)
    # What readers and writers saw that cannot be, one sentence each.
    seen: list[str] = field(default_factory=list)
    acknowledged: int = 0
    unknown: int = 0

    def count(self, verdict: Verdict, writes: int = 1) -> None:
        """Count writes by the verdict on them."""
        if verdict == "acknowledged":
            self.acknowledged += writes
        elif verdict == "unknown":
            self.unknown += writes

    def agents(self) -> list[str]:
        """Return every agent that owns something, in order."""
        owners: Iterable[Entry | Paper] = [*self.entries, *self.papers]
        return sorted({one.agent for one in owners})


def stored(state: State) -> Callable[[State | None], State | None]:
    """Return the change that makes it this, whatever it was."""
    return lambda _: state


def gone(_: State | None) -> State | None:
    """Return what a deleted memory is."""
    return None


def changed(**fields: object) -> Callable[[State | None], State | None]:
    """Return the change of some fields; what is not there stays away."""
    return lambda state: replace(state, **fields) if state else None  # type: ignore[arg-type]
