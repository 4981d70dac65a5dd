"""How much a key is good for; pure."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """How much may be asked in a minute and stored in all; None for any number.

    `rate` is requests, `byte_rate` bytes of their bodies a minute. `max_memories` and
    `max_documents` are stored at most, `max_jobs` wait or run at once: scans and consolidations.
    """

    rate: int | None = None
    byte_rate: int | None = None
    max_memories: int | None = None
    max_documents: int | None = None
    max_jobs: int | None = None


UNBOUNDED: Final = Quota()
