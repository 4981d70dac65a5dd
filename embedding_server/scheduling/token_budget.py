"""How many padded tokens go through the model at once: fewer when memory runs out, then more."""

from typing import Final

# Passes that fill half of the budget and more, without running out, before it rises by a half.
# Where memory stays short each rise costs a pass that fails; one that fails doubles their number.
FEWEST_PASSES: Final = 16
MOST_PASSES: Final = 1024


class TokenBudget:
    """The most padded tokens of one pass; a single longer text still goes, alone.

    Memory that ran out may have been another program's: the budget rises again by steps, each
    tried for some passes. A step that goes too far is taken back; memory that is short below it
    halves the budget.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._passes_needed = FEWEST_PASSES
        self._passes = 0
        # What `tokens` falls back to: the step before the one that is tried.
        self._proven = most
        self.tokens = most

    def lower(self, padded: int, *, is_alone: bool) -> None:
        """Take less, as a pass of so many padded tokens ran out of memory.

        A single text (`is_alone`) says less: attention takes more memory for it than for several
        short ones of as many tokens.
        """
        if padded > self.tokens:
            return
        self._passes = 0
        if padded > self._proven:
            self._passes_needed = min(2 * self._passes_needed, MOST_PASSES)
            self.tokens = self._proven
        else:
            # Half is what is tried next.
            self.tokens = self._proven = max(1, padded - 1 if is_alone else padded // 2)

    def succeed(self, padded: int) -> bool:
        """Count a pass of so many padded tokens that had memory; tell whether the budget rose."""
        if self._proven == self._most or 2 * padded < self.tokens:
            # A small pass says nothing of memory.
            return False
        self._passes += 1
        if self._passes < self._passes_needed:
            return False
        self._passes = 0
        if self.tokens > self._proven:
            self._passes_needed = FEWEST_PASSES
        self._proven = self.tokens
        self.tokens = min(self._most, self.tokens + (self.tokens + 1) // 2)
        return self.tokens > self._proven
