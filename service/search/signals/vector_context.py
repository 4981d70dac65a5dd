"""The signal `vector_context`: how near a memory is together with those beside it in time."""

from typing import Final

from service.index.evidence import Floats
from service.search.signals.features import Features
from service.search.signals.signal import Signal


def _value(features: Features) -> Floats:
    return features.blend(features.near_cosines, features.cosines)


VECTOR_CONTEXT: Final = Signal("vector_context", 0.5, _value, factor="vector")
