"""The indexes that a reader holds: each from a file, kept true by what the service tells."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, TypeVar

from service.index.resident.agent_index import AgentIndex
from service.index.resident.apply_commits import apply_commits
from service.index.resident.array_file import Unreadable, map_arrays
from service.index.resident.asking import Asking
from service.index.resident.concerned import named_in
from service.index.resident.engine import ResidentEngine
from service.index.resident.index_file import restore_index
from service.readers.messages import Changes
from service.redaction import loggable

Found = TypeVar("Found")

# What files raise that are gone, damaged or of another version.
_UNFIT: Final = (Unreadable, OSError, KeyError, ValueError, TypeError, IndexError)


class Replicas:
    """Copies of the service's indexes, by agent; only the thread that tells them may ask them."""

    def __init__(self) -> None:
        self.held: dict[str, AgentIndex] = {}
        # What was told of agents whose file is on its way.
        self._missed: dict[str, list[Changes]] = {}

    def expect(self, agent: str) -> None:
        """Keep what is told from now on, until the file is there; an older copy answers."""
        self._missed[agent] = []

    def attach(self, agent: str, path: Path) -> str | None:
        """Hold the index of a file with what was told since; return why not, if so."""
        missed = self._missed.pop(agent, None)
        if missed is None:
            return "it was not expected"
        try:
            index = restore_index(map_arrays(path))
        except _UNFIT as error:
            return f"its file cannot be read: {loggable(error)}"
        for changes in missed:
            apply_commits(index, changes.commits, changes.fingerprint)
        self.held[agent] = index
        return None

    def detach(self, agent: str) -> None:
        """Hold nothing of an agent."""
        self.held.pop(agent, None)
        self._missed.pop(agent, None)

    def take_in(self, changes: Changes) -> None:
        """Let every copy hold what changed.

        That one must be loaded anew (apply_commits) the service finds of its own index.
        """
        for missed in self._missed.values():
            missed.append(changes)
        named = named_in(change for commit in changes.commits for change in commit.changes)
        for index in self.held.values():
            if named.concerns(index):
                apply_commits(index, changes.commits, changes.fingerprint)


class _Here(Asking):
    """Answers here and now: a reader has nothing else to do meanwhile."""

    def __init__(self) -> None:
        """Make no threads."""

    async def in_thread(self, index: AgentIndex, question: Callable[[AgentIndex], Found]) -> Found:
        """Ask an index."""
        return question(index)

    def close(self) -> None:
        """Do nothing."""


class ReplicaEngine(ResidentEngine):
    """Answers from copies.

    What needs the store, phrases word for word and memories, it cannot answer.
    """

    def __init__(self, held: Mapping[str, AgentIndex]) -> None:
        self._held = held
        self._asking = _Here()

    async def _index_of(self, agent: str) -> AgentIndex:
        return self._held[agent]
