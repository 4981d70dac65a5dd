"""The example of Qwen3-Embedding's model card, on which real weights are tried at start."""

import logging
from dataclasses import dataclass

import numpy as np

from embedding_server.encoder import Encoder, ModelCard
from embedding_server.errors import CannotStart
from embedding_server.vectors import Vectors, shorten

logger = logging.getLogger(__name__)

QUERIES = ("What is the capital of China?", "Explain gravity")
GRAVITY = (
    "Gravity is a force that attracts two bodies towards each other. It gives weight to physical "
    "objects and is responsible for the movement of planets around the sun."
)
DOCUMENTS = ("The capital of China is Beijing.", GRAVITY)
# Precision and kernels change the third decimal; a missing end token, a wrong prompt or another
# pooling the first or second.
WARNING_DIFFERENCE = 0.01
REFUSED_DIFFERENCE = 0.05


@dataclass(frozen=True, slots=True)
class Example:
    """A size of the model and the cosines that its card gives: a row for each query."""

    name: str
    dimensions: int
    cosines: tuple[tuple[float, float], tuple[float, float]]


EXAMPLES = (
    Example("Qwen3-Embedding-0.6B", 1024, ((0.7646, 0.1414), (0.1355, 0.6000))),
    Example("Qwen3-Embedding-4B", 2560, ((0.7534, 0.1147), (0.0320, 0.6258))),
    Example("Qwen3-Embedding-8B", 4096, ((0.7493, 0.0751), (0.0880, 0.6318))),
)


def check_similarities(encoder: Encoder) -> None:
    """Compare the encoder with the model card; other models than the three are not checked.

    More than 0.01 off is logged. Raises CannotStart for more than 0.05.
    """
    example = _find_example(encoder.card)
    if example is None:
        return
    found = _compute_cosines(encoder)
    difference = float(np.abs(found - np.array(example.cosines)).max())
    what = (
        f"{encoder.card.name} gives cosines {found.round(4).tolist()} for its model card's "
        f"example instead of {[list(row) for row in example.cosines]}"
    )
    # Written so that NaN is refused as well.
    if not difference <= REFUSED_DIFFERENCE:
        raise CannotStart(f"{what}: its files or a library are not what they should be")
    if difference > WARNING_DIFFERENCE:
        logger.warning("%s: up to %.4f off", what, difference)


def _find_example(card: ModelCard) -> Example | None:
    name = card.name.rpartition("/")[2]
    known = {(example.name, example.dimensions): example for example in EXAMPLES}
    return known.get((name, card.dimensions))


def _compute_cosines(encoder: Encoder) -> Vectors:
    card = encoder.card
    queries = [card.prompts.choose("query", None) + query for query in QUERIES]
    vectors = shorten(encoder.encode(encoder.tokenize([*queries, *DOCUMENTS])), card.dimensions)
    cosines: Vectors = vectors[: len(QUERIES)] @ vectors[len(QUERIES) :].T
    return cosines
