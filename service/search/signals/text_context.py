"""The signal `text_context`: the question's words in a memory and those just beside it in time."""

from typing import Final

from service.index.evidence import Floats
from service.search.signals.features import Features
from service.search.signals.signal import Signal
from service.search.signals.text import enough_words


def _value(features: Features) -> Floats:
    return features.blend(features.near_text, features.text)


TEXT_CONTEXT: Final = Signal("text_context", 0.6, _value, factor="text", floor=enough_words)
