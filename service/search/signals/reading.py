"""What signals read of each candidate and of what is just around it, all in one go; pure.

Plain Python, that setup.py compiles by the types in reading.pxd.
"""

from typing import Final

import numpy as np

from service.index.bm25 import DAMPED
from service.index.evidence import Evidence, Floats

# What a neighbour's cosine counts beside a memory's own.
_NEIGHBOUR: Final = 0.4
# A section of a document says by itself what it is about; a turn of a conversation seldom does.
_SECTION: Final = 0.25
# Words of a turn that says enough to answer a question: two or three sentences.
_ENOUGH_WORDS: Final = 40
# Of what a memory holds the last word counts most; below a thousandth it is none.
_LEAST_FULLNESS: Final = 0.001


def read_meaning(evidence: Evidence) -> Floats:
    """Return closeness, cosine and near cosine of each candidate [3, row], see Features."""
    found = np.empty((3, evidence.candidates), np.float32)
    read = found
    told, is_turn = evidence.values["cosines"], evidence.values["is_turn"].astype(np.uint8)
    before, after = evidence.before, evidence.after
    sides = 2 if before.shape[1] else 0
    for row in range(read.shape[1]):
        own = float(told[row]) if told[row] > 0 else 0.0
        total, weight = own, 1.0
        for side in range(sides):
            end = after[row, 0] if side else before[row, 0]
            if end >= 0:
                weight += _NEIGHBOUR
                total += _NEIGHBOUR * (float(told[end]) if told[end] > 0 else 0.0)
        read[0, row] = 0.0 if weight == 1.0 else (1.0 if is_turn[row] else _SECTION)
        read[1, row] = own
        read[2, row] = total / weight
    return found


def read_words(evidence: Evidence, telling: Floats, lacking: float) -> Floats:
    """Return brevity, coverage, fullness, telling name and whether all is held [5, row].

    See Features; `telling` is what each word of the question tells, 0 where no memory holds it,
    `lacking` what those tell in all that none holds.
    """
    values = evidence.values
    found = np.empty((5, evidence.candidates), np.float32)
    read = found
    counts, lengths, is_turn = (
        values["counts"],
        values["lengths"],
        values["is_turn"].astype(np.uint8),
    )
    mentioned = values["mentioned_words"].view(np.uint8)
    named = values["named_words"].view(np.uint8)
    damped, words, whole = DAMPED, len(telling), lacking
    for word in range(words):
        whole += float(telling[word])
    scale = 1 / whole if whole > 0 else 0.0
    for row in range(read.shape[1]):
        told, name, lacks = 0.0, 0.0, False
        for word in range(words):
            if counts[row, word] > 0 or mentioned[row, word]:
                told += float(telling[word])
            elif telling[word] != 0:
                lacks = True
            if named[row, word]:
                name += float(telling[word])
        length = int(lengths[row])
        said = float(damped[1 + min(length, _ENOUGH_WORDS)]) - 1
        full = told * scale
        read[1, row] = full
        full = full * full * full * full
        full *= full
        read[0, row] = 1 - said / (damped[1 + _ENOUGH_WORDS] - 1) if is_turn[row] else 0.0
        read[2, row] = full if full >= _LEAST_FULLNESS else 0.0
        read[3, row] = name * scale
        read[4, row] = 0.0 if lacks else 1.0
    return found
