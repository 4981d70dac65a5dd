"""Whether a sentence holds for long: cues add up, and signs of the moment end it; pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from service.late_pattern import LatePattern

# What a statement may be, those first that count where a sentence says that it is of several.
STATEMENT_KINDS: Final = ("decision", "preference", "fact")
# What the cues of one kind have to come to: 1, as sums of decimals in binary are.
_LEAST: Final = 0.999


@dataclass(frozen=True, slots=True)
class Cues:
    """One language's, by its English name.

    `mark` is the word before what was decided. `said` is by kind what a sentence says of itself
    that is to be kept, whatever else it tells; of others `without` rules some out, and `by_kind`
    is what speaks for them, with its weight.
    """

    language: str
    mark: str
    said: Mapping[str, LatePattern]
    without: tuple[LatePattern, ...]
    by_kind: Mapping[str, tuple[tuple[float, LatePattern], ...]]

    def kind_of(self, sentence: str) -> str | None:
        """Return the kind whose cues add up to the most; of equal ones the first."""
        if any(sign.compiled.search(sentence) for sign in self.without):
            return None
        weights = {
            kind: sum(weight for weight, cue in cues if cue.compiled.search(sentence))
            for kind, cues in self.by_kind.items()
        }
        best = max(weights, key=lambda kind: weights[kind])
        return best if weights[best] >= _LEAST else None


def cues_of(
    language: str,
    mark: str,
    said: Mapping[str, LatePattern],
    parts: Mapping[str, str],
    without: str,
    **kinds: str,
) -> Cues:
    """Read cues from rows: an expression each, those of a kind behind their weight.

    `{name}` in one stands for the part of that name. Capitals tell nothing, unless an expression
    says so.
    """

    def late(expression: str) -> LatePattern:
        for name, part in parts.items():
            expression = expression.replace(f"{{{name}}}", part)
        return LatePattern(expression, re.IGNORECASE)

    weighed = {kind: [row.split(" ", 1) for row in _rows(rows)] for kind, rows in kinds.items()}
    return Cues(
        language,
        mark,
        said,
        tuple(map(late, _rows(without))),
        {
            kind: tuple((float(weight), late(cue)) for weight, cue in rows)
            for kind, rows in weighed.items()
        },
    )


def _rows(text: str) -> list[str]:
    return text.strip("\n").split("\n")
