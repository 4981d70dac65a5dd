"""The signal `coverage`: how much of what the question tells stands in a memory."""

from typing import Final

from service.search.signals.signal import Signal

COVERAGE: Final = Signal("coverage", 1.5, lambda features: features.fullness, factor="text")
