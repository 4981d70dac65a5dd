"""What a signal is: a part of a memory's score in the default fusion."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from service.index.evidence import Floats, Question
from service.index.numbered import Hits, NumberedEngine
from service.search.signals.features import Features
from service.search.times.time_filters import Moments


@dataclass(frozen=True, slots=True)
class Signal:
    """A part of the score that is worked out of the evidence, for all candidates at once.

    `value` gives a float32, not negative, for each candidate. It counts `weight` times, in units
    of a cosine, and times the request's weight of the name `factor`, if there is one. With `floor`
    it counts in shares of the greatest value among the candidates, or of the floor where that is
    more. In a memory without neighbours it counts `alone` of that, in a turn of a session
    `in_context`, in a section of a document what lies between.
    """

    name: str
    weight: float
    value: Callable[[Features], Floats]
    factor: Literal["vector", "text"] | None = None
    floor: Callable[[Features], float] | None = None
    alone: float = 1.0
    in_context: float = 1.0


@dataclass(frozen=True, slots=True)
class Candidates:
    """What the first looks at the indexes found for a question, best first; memories by number.

    `caps` is the hub cap of each agent, `phrases` counts the quoted phrases that stand in a
    memory, `moments` are the times that the question names; `others` were found in other ways:
    they are scored as well. `summaries` gives the summary that stands for each source among them.
    """

    question: Question
    text: Hits
    vector: Hits
    caps: Mapping[str, int]
    phrases: Mapping[int, int] = field(default_factory=dict)
    moments: Moments | None = None
    others: Sequence[int] = ()
    summaries: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Bonus:
    """A part of the score that is no matter of the evidence, and is added to some candidates.

    `applies` says whether a question calls for it at all. `times` is asked about memories by
    number and gives pairs of one and how many times the `weight` is added; one may come twice.
    What it takes is told in the receipt as `stage`. One that `comes_first` counts in units of the
    greatest score that any memory has without it: what has it comes before all that has it not.
    """

    name: str
    weight: float
    stage: str
    applies: Callable[[Candidates], bool]
    times: Callable[
        [NumberedEngine, Candidates, Sequence[int]], Awaitable[Iterable[tuple[int, int]]]
    ]
    comes_first: bool = False
