"""The signal `coverage`: how much of what the question tells stands in a memory."""

from typing import Final

from service.search.signals.signal import Signal

# What a turn holds by itself says less than what is held around it.
COVERAGE: Final = Signal(
    "coverage", 1.5, lambda features: features.fullness, factor="text", in_context=1 / 3
)
