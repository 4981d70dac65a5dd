"""What signals add to scores, of all signals and candidates in one go; pure.

Plain Python, that setup.py compiles by the types in weighing.pxd.
"""

from typing import Final

import numpy as np

from service.index.evidence import Floats

# A memory without neighbours has no far context: its other signals count so much more.
_ALONE: Final = 1.8
# "Wow, great!" answers nothing, whatever stands around it: a turn without a word counts so much
# less than one that says enough.
_BREVITY: Final = 0.5


def weigh(
    values: Floats, greatest: Floats, counts: Floats, closeness: Floats, brevity: Floats
) -> Floats:
    """Return what each signal adds [signal, row] of what it makes of each candidate.

    `greatest` is what a signal's values are shares of, at most one; 0 where they count as they are.
    `counts` says how often a signal counts in a turn of a session, and in what has no neighbours
    [2, signal].
    """
    found = np.empty_like(values)
    shares = found
    for row in range(values.shape[1]):
        close = float(closeness[row])
        factor = (close + (1 - close) * _ALONE) * (1 - _BREVITY * float(brevity[row]))
        for signal in range(values.shape[0]):
            value = float(values[signal, row])
            if greatest[signal] > 0:
                value /= float(greatest[signal])
                if value > 1:
                    value = 1.0
            in_context = close * float(counts[0, signal]) + (1 - close) * float(counts[1, signal])
            shares[signal, row] = value * factor * in_context
    return found


def sum_up(shares: Floats) -> list[float]:
    """Return each candidate's score; equal ones are equal to the last bit."""
    totals = []
    for row in range(shares.shape[1]):
        total = 0.0
        for signal in range(shares.shape[0]):
            total += float(shares[signal, row])
        totals.append(total)
    return totals
