"""The constants of BM25, which all rankings by words share."""

from typing import Final

import numpy as np

K1: Final = 1.2
B: Final = 0.75
# No text is longer, as the index counts (resident/batches.py).
LONGEST_TEXT: Final = 2**16 - 1
# What a word counts that stands so many times in a text: 1 + ln, and 0 where it does not stand.
DAMPED: Final = np.zeros(LONGEST_TEXT + 1)
DAMPED[1:] = 1 + np.log(np.arange(1, LONGEST_TEXT + 1))
