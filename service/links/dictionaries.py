"""The dictionaries of agents in RAM: the least recently used are let go when they do not fit."""

from typing import Final

from service.names.dictionary import Dictionary

# Without a limit of one's own: what tests and single commands need.
_BUDGET_BYTES: Final = 256_000_000


class Dictionaries:
    """Each agent's dictionary as its last change left it; one that is let go is read anew.

    `budget_bytes` holds for all of them together, but the one used last always stays.
    """

    def __init__(self, budget_bytes: int = _BUDGET_BYTES) -> None:
        self._budget_bytes = budget_bytes
        # The least recently used first.
        self._held: dict[str, Dictionary] = {}

    @property
    def bytes(self) -> int:
        """An estimate of the memory held."""
        return sum(dictionary.bytes for dictionary in list(self._held.values()))

    def get(self, agent: str) -> Dictionary | None:
        """Return an agent's dictionary, if it is held."""
        return self._held.get(agent)

    def take(self, agent: str) -> Dictionary | None:
        """Return an agent's dictionary and hold it no more: it is about to change."""
        return self._held.pop(agent, None)

    def put(self, agent: str, dictionary: Dictionary) -> None:
        """Hold an agent's dictionary, and let go of others until all of them fit."""
        self._held.pop(agent, None)
        self._held[agent] = dictionary
        excess = self.bytes - self._budget_bytes
        for other in list(self._held)[:-1]:
            if excess <= 0:
                break
            excess -= self._held.pop(other).bytes

    def clear(self) -> None:
        """Hold none."""
        self._held.clear()
