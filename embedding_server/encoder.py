"""What every encoder offers to the server: a card that describes it, token ids, vectors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from embedding_server.prompts import Prompts
from embedding_server.vectors import Vectors

TokenIds = Sequence[int]


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What there is to know about the model that is served.

    `is_padded` tells that the texts of a batch go through together, filled up to the longest.
    """

    name: str
    aliases: frozenset[str]
    dimensions: int
    min_dimensions: int
    max_tokens: int
    device: str
    prompts: Prompts
    is_padded: bool = True

    def answers_to(self, name: str) -> bool:
        """Tell whether a client may call the model by this name."""
        return name == self.name or name in self.aliases


class MemoryExhausted(Exception):
    """A batch does not fit into memory; a smaller one may."""


class Encoder(Protocol):
    """One way to make vectors.

    `tokenize` and `encode` run on two different threads, so they share nothing that changes.
    """

    @property
    def card(self) -> ModelCard:
        """Describe the model."""

    def tokenize(self, texts: Sequence[str], limit: int | None = None) -> list[list[int]]:
        """Return each text's token ids with the special ones, cut to `limit` tokens if given."""

    def encode(self, batch: Sequence[TokenIds]) -> Vectors:
        """Return one raw vector of full length for each text, in the order given.

        Raises MemoryExhausted, and has then given back what the batch took.
        """
