"""A ranked memory, between the fetch and the answer."""

from dataclasses import dataclass

from service.records import Memory
from service.search.fusion.rrf import Fused


@dataclass(frozen=True, slots=True)
class Ranked:
    """A fetched memory with its fused score and what each signal said; lists are best first."""

    memory: Memory
    fused: Fused
