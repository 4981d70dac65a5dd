"""The signal `named`: the question names what a memory is about, as far as the name tells."""

from typing import Final

import numpy as np

from service.index.evidence import Floats
from service.search.signals.coverage import COVERAGE
from service.search.signals.features import Features
from service.search.signals.signal import Signal


def _value(features: Features) -> Floats:
    """Return the share of the question that is the name, beyond what `coverage` gives for it.

    So no title lifts a memory above one that holds every word of the question: "Code phrase" stands
    in "the code phrase told over dinner", and the note that tells of the dinner says more.
    """
    beyond = np.maximum(features.telling_name - features.fullness, 0)
    value: Floats = np.where(features.holds_all, features.telling_name, beyond)
    return np.where(features.is_turn, np.float32(0), value)


NAMED: Final = Signal("named", COVERAGE.weight, _value)
