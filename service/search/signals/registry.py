"""The signals of the default fusion, in one list: a new one is its file and its name here."""

from collections.abc import Mapping, Sequence
from typing import Final

from service.index.evidence import Question
from service.search.signals.coverage import COVERAGE
from service.search.signals.named import NAMED
from service.search.signals.named_time import TIME
from service.search.signals.nearest import NEAREST
from service.search.signals.phrase import PHRASE
from service.search.signals.signal import Bonus, Signal
from service.search.signals.speaker import SPEAKER
from service.search.signals.text import TEXT
from service.search.signals.text_context import TEXT_CONTEXT
from service.search.signals.text_far_context import TEXT_FAR_CONTEXT
from service.search.signals.time_alone import TIME_ALONE
from service.search.signals.vector import VECTOR
from service.search.signals.vector_context import VECTOR_CONTEXT

SIGNALS: Final[tuple[Signal, ...]] = (
    VECTOR,
    VECTOR_CONTEXT,
    NEAREST,
    TEXT,
    TEXT_CONTEXT,
    TEXT_FAR_CONTEXT,
    COVERAGE,
    NAMED,
    SPEAKER,
)
BONUSES: Final[tuple[Bonus, ...]] = (PHRASE, TIME, TIME_ALONE)

# What each signal counts, by its name.
WEIGHTS: Final[Mapping[str, float]] = {signal.name: signal.weight for signal in SIGNALS}
# What bigrams of Hangul, Han and Kana count beyond other words.
_CJK: Final = 6.0


def weights_of(
    requested: Mapping[str, float], question: Question, signals: Sequence[Signal] = SIGNALS
) -> dict[str, float]:
    """Return what each signal counts for a question: the request's weights are factors.

    Two letters of Korean or Chinese that stand together tell as much as an English word and its
    neighbour do, and small models read neither: in such questions words count seven times as much.
    """
    factors = {
        "vector": requested.get("vector", 0.0),
        "text": requested.get("text", 0.0) * (1 + _CJK * question.cjk_share),
        None: 1.0,
    }
    return {signal.name: signal.weight * factors[signal.factor] for signal in signals}
