"""What the service and its readers say to each other, and how: frames over a socket of their own.

Both ends are this program under one user, and nobody else can write to the socket: so pickle
serves, which knows every value that a row or a question may hold.
"""

import pickle
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from service.records import Commit, Vector
from service.search.fusion.confidence import Certainty
from service.search.fusion.rrf import Fused
from service.search.searcher import SearchQuery

LENGTH: Final = struct.Struct("<I")
# What a message of values that cannot be told raises.
UNTELLABLE: Final = (pickle.PicklingError, TypeError, AttributeError)


@dataclass(frozen=True, slots=True)
class Expect:
    """An agent's index is on its way: changes that are told from here on are not in its file."""

    agent: str


@dataclass(frozen=True, slots=True)
class Attach:
    """An expected index lies in this file."""

    agent: str
    path: str


@dataclass(frozen=True, slots=True)
class Detach:
    """Nothing is asked about an agent any more."""

    agent: str


@dataclass(frozen=True, slots=True)
class Changes:
    """What the service has taken into its own indexes; its vectors carry the fingerprint."""

    commits: Sequence[Commit]
    fingerprint: str | None


@dataclass(frozen=True, slots=True)
class Ask:
    """A question to rank, with its vector if it has one, and the hub caps' two settings."""

    number: int
    query: SearchQuery
    vector: Vector | None
    concept_max_memories: int
    concept_max_share: float


@dataclass(frozen=True, slots=True)
class Attached:
    """From now on an agent can be asked about; or why not."""

    agent: str
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class Taken:
    """Changes were taken in."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The ranking of a question, with what its stages took; `failure` is why there is none."""

    number: int
    hits: Sequence[Fused] = ()
    certainty: Certainty | None = None
    milliseconds: Mapping[str, float] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    failure: str | None = None


Told = Expect | Attach | Detach | Changes | Ask
Said = Attached | Taken | Answer


def framed(message: Told | Said) -> bytes:
    """Return a message as it goes over the socket; raises UNTELLABLE."""
    body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return LENGTH.pack(len(body)) + body


def unframed(body: bytes) -> Any:
    """Return the message that a frame holds."""
    return pickle.loads(body)  # noqa: S301 - nobody but this program writes to the socket
