"""The signal `speaker`: the question names who speaks in a turn of a session."""

from typing import Final

from service.index.evidence import Floats
from service.search.signals.features import Features
from service.search.signals.signal import Signal


def _value(features: Features) -> Floats:
    return features.of_candidates("is_named") * features.of_candidates("is_turn")


SPEAKER: Final = Signal("speaker", 0.5, _value)
