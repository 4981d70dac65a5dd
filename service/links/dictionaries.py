"""The dictionaries of agents in RAM: the least recently used are let go when they do not fit."""

from typing import Final

from service.names.dictionary import Dictionary

# Without a limit of one's own: what tests and single commands need.
_BUDGET_BYTES: Final = 256_000_000
# Measured of one without a word, with its place among the others.
_EMPTY_BYTES: Final = 1000


class Dictionaries:
    """Each agent's dictionary as its last change left it; one that is let go is read anew.

    `budget_bytes` holds for all of them together, but the one used last always stays.
    """

    def __init__(self, budget_bytes: int = _BUDGET_BYTES) -> None:
        self._budget_bytes = budget_bytes
        # With its size; the least recently used first.
        self._held: dict[str, tuple[Dictionary, int]] = {}
        # An estimate of the memory held.
        self.bytes = 0

    def get(self, agent: str) -> Dictionary | None:
        """Return an agent's dictionary, if it is held."""
        held = self._held.get(agent)
        return held[0] if held else None

    def take(self, agent: str) -> Dictionary | None:
        """Return an agent's dictionary and hold it no more: it is about to change."""
        if agent not in self._held:
            return None
        dictionary, size = self._held.pop(agent)
        self.bytes -= size
        return dictionary

    def put(self, agent: str, dictionary: Dictionary) -> None:
        """Hold an agent's dictionary, and let go of others until all of them fit."""
        self.take(agent)
        size = _EMPTY_BYTES + dictionary.bytes
        self._held[agent] = dictionary, size
        self.bytes += size
        while self.bytes > self._budget_bytes and len(self._held) > 1:
            self.take(next(iter(self._held)))

    def clear(self) -> None:
        """Hold none."""
        self._held.clear()
        self.bytes = 0
