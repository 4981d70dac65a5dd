"""The signal `text`: the question's words in a memory, by BM25."""

from typing import Final

from service.search.signals.features import Features
from service.search.signals.signal import Signal

# Where even the best candidate holds less than this share of the question's telling words, its
# words count less: "day" and "new" are no evidence.
_ENOUGH: Final = 0.6


def enough_words(features: Features) -> float:
    """Return the least BM25 that words must reach to count in full."""
    return _ENOUGH * features.whole


# A note says what it is about, a turn of a conversation seldom does: its neighbours' words, which
# text_context counts, say as much.
TEXT: Final = Signal(
    "text",
    0.4,
    lambda features: features.text,
    factor="text",
    floor=enough_words,
    in_context=0.25,
)
