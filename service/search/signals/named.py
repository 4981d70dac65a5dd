"""The signal `named`: the question names what a memory is about, or who speaks in it."""

from typing import Final

from service.search.signals.signal import Signal

NAMED: Final = Signal("named", 0.5, lambda features: features.of_candidates("is_named"))
