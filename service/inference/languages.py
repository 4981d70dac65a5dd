"""Which languages a model brings together with English, measured by its own vectors; pure.

Eight English sentences (translations.py), each told once more in other words, and in each of the
other languages. A model that reads two of them puts a sentence and its translation nearer to each
other than to the seven others, about as it does with the English paraphrase. One that reads English
only sees letters, and puts all of them equally far.

Measured with all-MiniLM-L6-v2: a paraphrase is nearer than the others by a cosine of .71, the
translation by -.00 (Hindi) to .14 (French), a fifth of that at most. Of a model trained on
translations the two are about alike by its purpose, so that the border at .4 leaves room on both
sides; a share, since models differ in how near they put strangers. No multilingual model was at
hand to measure its side.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from service.records import Vector

_LEAST_SHARE: Final = 0.4


def brings_together(
    english: Sequence[Vector], paraphrases: Sequence[Vector], translations: Sequence[Vector]
) -> bool:
    """Say whether the translations lie near their English sentences as paraphrases do.

    The vectors are those of translations.py, in their order and of unit length. A model that
    tells no paraphrase from a stranger reads nothing.
    """
    return share_of(english, paraphrases, translations) >= _LEAST_SHARE


def share_of(
    english: Sequence[Vector], paraphrases: Sequence[Vector], translations: Sequence[Vector]
) -> float:
    """Return how near translations lie, in shares of paraphrases: 1 is as near; 0 if these do not.

    The vectors are as in brings_together; a translation may lie farther than a stranger.
    """
    nearer = _nearer(english, paraphrases)
    return _nearer(english, translations) / nearer if nearer > 0 else 0.0


def _nearer(ours: Sequence[Vector], theirs: Sequence[Vector]) -> float:
    """Return by how much the cosine of a sentence and its like exceeds that with the others."""
    cosines = np.stack(ours) @ np.stack(theirs).T
    count = len(cosines)
    alike = float(np.trace(cosines)) / count
    return alike - (float(cosines.sum()) - alike * count) / (count * (count - 1))
