"""The signal `vector`: how near a memory's meaning is to the question's."""

from typing import Final

from service.search.signals.signal import Signal

VECTOR: Final = Signal("vector", 1.0, lambda features: features.cosines, factor="vector")
