"""The signal `text_far_context`: the question's words within five steps of a memory in time."""

from typing import Final

import numpy as np

from service.index.evidence import Floats
from service.search.signals.features import Features
from service.search.signals.signal import Signal
from service.search.signals.text import enough_words


def _value(features: Features) -> Floats:
    return np.where(features.closeness > 0, features.far_text, np.float32(0))


TEXT_FAR_CONTEXT: Final = Signal(
    "text_far_context", 0.9, _value, factor="text", floor=enough_words, alone=0.0
)
