"""Texts without a vector, and what their clients are told once the model is found to work."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from embedding_server.errors import EmbeddingFailed, OutOfMemory
from embedding_server.scheduling.batch_queue import WaitingText

Reason = Literal["out_of_memory", "unusable", "error"]


@dataclass(frozen=True, slots=True)
class FailedText:
    """A text that got no vector: to blame if the model works, innocent if it is broken."""

    text: WaitingText
    reason: Reason
    error: EmbeddingFailed


def describe_out_of_memory(text: WaitingText) -> FailedText:
    """Return what is told of a text that ran out of memory alone in its pass."""
    size = len(text.tokens)
    message = (
        f"input[{text.row}] with its {size} tokens does not fit into memory, even alone. Shorten "
        f"it; on the server, EMBEDDING_MAX_SEQUENCE_TOKENS below {size} refuses or cuts such "
        "texts, and a lower EMBEDDING_MAX_BATCH_TOKENS leaves more memory free."
    )
    return FailedText(text, "out_of_memory", OutOfMemory(message, param="input"))


def describe_failure(text: WaitingText) -> FailedText:
    """Return what is told of a text on which the model failed alone."""
    message = f"The model failed for input[{text.row}]."
    return FailedText(text, "error", EmbeddingFailed(message, param="input"))


def describe_unusable(batch: Sequence[WaitingText], rows: Sequence[int]) -> list[FailedText]:
    """Return what is told of those texts of a batch whose vectors have no direction."""
    what = "The model gave no usable vector (NaN, infinite or zero)"
    return [
        FailedText(
            batch[row],
            "unusable",
            EmbeddingFailed(f"{what} for input[{batch[row].row}].", param="input"),
        )
        for row in rows
    ]
