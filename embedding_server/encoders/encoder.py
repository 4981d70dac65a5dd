"""What every encoder offers to the server: a card that describes it, token ids, vectors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from embedding_server.encoders.prompts import Prompts
from embedding_server.vectors import Vectors

TokenIds = Sequence[int]


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What a client may know about the model that is served."""

    name: str
    aliases: frozenset[str]
    dimensions: int
    min_dimensions: int
    max_tokens: int
    device: str
    prompts: Prompts

    def answers_to(self, name: str) -> bool:
        """Tell whether a client may call the model by this name."""
        return name == self.name or name in self.aliases


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
        """Return one raw vector of full length for each text, in the order given."""
