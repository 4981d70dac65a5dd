"""The first forward passes, at full size: what cannot fit fails at start and not under load."""

import logging
import time
from dataclasses import dataclass

from embedding_server.encoder import Encoder, MemoryExhausted, ModelCard, TokenIds
from embedding_server.errors import CannotStart
from embedding_server.scheduling.batch_queue import BatchLimits
from embedding_server.vectors import find_unusable

logger = logging.getLogger(__name__)

# Every tokenizer knows the numeral and makes at least one token of each.
WORD = "1 "
PROBE = "1 2 3"
# Beginning and end: models add up to two tokens of their own to a text.
LEAST_TOKENS = 2


@dataclass(frozen=True, slots=True)
class WarmModel:
    """A model that has run at full size, and a short text that it is known to encode."""

    encoder: Encoder
    limits: BatchLimits
    probe: TokenIds


@dataclass(frozen=True, slots=True)
class Shape:
    """So many texts of so many tokens each."""

    texts: int
    tokens: int


def warm_up(encoder: Encoder, limits: BatchLimits) -> WarmModel:
    """Run the largest passes that the limits allow, and a short text.

    Raises CannotStart, naming the setting to lower, or whatever else the model fails with.
    """
    [probe] = encoder.tokenize([PROBE], encoder.card.max_tokens)
    for shape in choose_shapes(encoder.card, limits):
        _run(encoder, shape, limits)
    _encode(encoder, [probe])
    return WarmModel(encoder, limits, probe)


def choose_shapes(card: ModelCard, limits: BatchLimits) -> list[Shape]:
    """Return the passes that need the most memory, the simplest first.

    On a GPU, where nothing but memory bounds a text, they are three: the longest text alone, as
    many texts as a batch takes, and a batch of the longest texts, whose attention needs the most.
    On a CPU passes are slow and memory is large: the full batch alone.
    """
    length = max(LEAST_TOKENS, min(card.max_tokens, limits.tokens // limits.texts))
    full = Shape(_count(limits, length), length)
    if card.device != "cuda":
        return [full]
    longest = Shape(_count(limits, card.max_tokens), card.max_tokens)
    return list(dict.fromkeys([Shape(1, card.max_tokens), full, longest]))


def _count(limits: BatchLimits, length: int) -> int:
    return max(1, min(limits.texts, limits.tokens // length))


def _run(encoder: Encoder, shape: Shape, limits: BatchLimits) -> None:
    [tokens] = encoder.tokenize([WORD * shape.tokens], shape.tokens)
    begin = time.monotonic()
    try:
        _encode(encoder, [tokens] * shape.texts)
    except MemoryExhausted as error:
        raise CannotStart(_advise(shape, encoder.card, limits)) from error
    seconds = time.monotonic() - begin
    logger.info("Warmed up with %d x %d tokens in %.1f s", shape.texts, len(tokens), seconds)


def _encode(encoder: Encoder, batch: list[TokenIds]) -> None:
    vectors = encoder.encode(batch)
    card = encoder.card
    if vectors.shape != (len(batch), card.dimensions) or find_unusable(vectors):
        raise CannotStart(f"{card.name} gave no usable vectors on {card.device}")


def _advise(shape: Shape, card: ModelCard, limits: BatchLimits) -> str:
    if shape.texts == 1:
        return (
            f"a text of {shape.tokens} tokens does not fit into memory; lower "
            f"EMBEDDING_MAX_SEQUENCE_TOKENS from {card.max_tokens}, to {shape.tokens // 2} say"
        )
    return (
        f"{shape.texts} texts of {shape.tokens} tokens do not fit into memory together; lower "
        f"EMBEDDING_MAX_BATCH_TOKENS from {limits.tokens}, to {shape.texts * shape.tokens // 2} say"
    )
