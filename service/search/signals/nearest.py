"""The signal `nearest`: a memory is as near in meaning to the question as the nearest one."""

from typing import Final

from service.index.evidence import Floats
from service.search.signals.features import Features
from service.search.signals.signal import Signal

# Sets the nearest apart: nine tenths of its cosine count two thirds of it.
_POWER: Final = 4
# Where even the nearest has a cosine below this, to be the nearest is little evidence.
_NEAR: Final = 0.5


def _value(features: Features) -> Floats:
    value: Floats = features.cosines**_POWER
    return value


# What answers in other words shares few with the question, and is nearest by far. A turn is read
# with its neighbours: with two thirds of it LoCoMo's multi-hop questions find .429 of their
# evidence among the first five, with all of it .416 (docs/decisions/0063).
NEAREST: Final = Signal(
    "nearest",
    0.3,
    _value,
    factor="vector",
    floor=lambda _: _NEAR**_POWER,
    in_context=2 / 3,
)
