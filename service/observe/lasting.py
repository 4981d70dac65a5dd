"""Whether a sentence holds for long: cues add up, and signs of the moment end it; pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

# What the cues of one kind have to come to: 1, as sums of decimals in binary are.
_LEAST: Final = 0.999


@dataclass(frozen=True, slots=True)
class Cues:
    """One language's: what rules a sentence out; by kind what speaks for it, with its weight."""

    without: tuple[re.Pattern[str], ...]
    by_kind: Mapping[str, tuple[tuple[float, re.Pattern[str]], ...]]

    def kind_of(self, sentence: str) -> str | None:
        """Return the kind whose cues add up to the most; of equal ones the first."""
        if any(sign.search(sentence) for sign in self.without):
            return None
        weights = {
            kind: sum(weight for weight, cue in cues if cue.search(sentence))
            for kind, cues in self.by_kind.items()
        }
        best = max(weights, key=lambda kind: weights[kind])
        return best if weights[best] >= _LEAST else None


def cues_of(parts: Mapping[str, str], without: str, **kinds: str) -> Cues:
    """Read cues from rows: an expression each, those of a kind behind their weight.

    `{name}` in one stands for the part of that name. Capitals tell nothing, unless an expression
    says so.
    """

    def compiled(expression: str) -> re.Pattern[str]:
        for name, part in parts.items():
            expression = expression.replace(f"{{{name}}}", part)
        return re.compile(expression, re.IGNORECASE)

    weighed = {kind: [row.split(" ", 1) for row in _rows(rows)] for kind, rows in kinds.items()}
    return Cues(
        tuple(map(compiled, _rows(without))),
        {
            kind: tuple((float(weight), compiled(cue)) for weight, cue in rows)
            for kind, rows in weighed.items()
        },
    )


def _rows(text: str) -> list[str]:
    return text.strip("\n").split("\n")
