"""The signal `speaker`: the question names who speaks in a turn of a session."""

from typing import Final

import numpy as np

from service.index.evidence import Floats
from service.search.signals.features import Features
from service.search.signals.signal import Signal


def _value(features: Features) -> Floats:
    return (features.is_named & features.is_turn).astype(np.float32)


SPEAKER: Final = Signal("speaker", 0.5, _value)
