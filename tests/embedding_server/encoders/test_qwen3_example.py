"""The model card's example. NO REAL WEIGHTS here: the vectors are made to have given cosines."""

import logging
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from embedding_server.encoder import ModelCard, TokenIds
from embedding_server.encoders.qwen3 import QUERY_PROMPT
from embedding_server.encoders.qwen3_example import EXAMPLES, Example, check_similarities
from embedding_server.errors import CannotStart
from embedding_server.prompts import Prompts
from embedding_server.vectors import Vectors

# Written out once more: the card's words, not the module's.
GRAVITY = (
    "Gravity is a force that attracts two bodies towards each other. It gives weight to physical "
    "objects and is responsible for the movement of planets around the sun."
)


class ScriptedEncoder:
    """Stands where the real weights would be: gives the card's cosines, one of them shifted."""

    def __init__(self, example: Example, shift: float, name: str | None = None) -> None:
        self.card = ModelCard(
            name=name or f"Qwen/{example.name}",
            aliases=frozenset(),
            dimensions=example.dimensions,
            min_dimensions=32,
            max_tokens=8192,
            device="cpu",
            prompts=Prompts(query=QUERY_PROMPT),
        )
        self._cosines = np.array(example.cosines)
        self._cosines[1, 0] += shift
        self.texts: list[str] = []

    def tokenize(self, texts: Sequence[str], limit: int | None = None) -> list[list[int]]:
        self.texts += texts
        return [[number] for number in range(len(texts))][:limit]

    def encode(self, batch: Sequence[TokenIds]) -> Vectors:
        # Documents on two axes, and queries whose first two numbers are the cosines.
        vectors = np.zeros((len(batch), self.card.dimensions), dtype=np.float32)
        vectors[2:, :2] = np.eye(2)
        vectors[:2, :2] = self._cosines
        vectors[[0, 1], [2, 3]] = np.sqrt(1 - (self._cosines**2).sum(axis=1))
        # Raw vectors are of any length.
        return 17 * vectors


@pytest.fixture(params=EXAMPLES, ids=lambda example: example.name)
def example(request: pytest.FixtureRequest) -> Example:
    """Return one size after the other."""
    found: Example = request.param
    return found


@pytest.mark.parametrize("shift", [0.0, 0.009, -0.009])
def test_a_model_near_its_card_is_silent(
    example: Example, shift: float, caplog: pytest.LogCaptureFixture
) -> None:
    encoder = ScriptedEncoder(example, shift)
    check_similarities(encoder)
    assert not caplog.records
    assert encoder.texts == [
        f"{QUERY_PROMPT}What is the capital of China?",
        f"{QUERY_PROMPT}Explain gravity",
        "The capital of China is Beijing.",
        GRAVITY,
    ]


@pytest.mark.parametrize("shift", [0.02, -0.04])
def test_a_model_a_little_off_is_logged(
    example: Example, shift: float, caplog: pytest.LogCaptureFixture
) -> None:
    check_similarities(ScriptedEncoder(example, shift))
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert f"up to {abs(shift):.4f} off" in record.getMessage()


@pytest.mark.parametrize("shift", [0.06, -0.3, float("nan")])
def test_a_model_far_off_does_not_start(example: Example, shift: float) -> None:
    with pytest.raises(CannotStart, match=f"{example.name} gives cosines .* model card"):
        check_similarities(ScriptedEncoder(example, shift))


def test_a_folder_of_the_same_name_is_checked_as_well(example: Example) -> None:
    with pytest.raises(CannotStart, match="model card"):
        check_similarities(ScriptedEncoder(example, 0.3, name=example.name))


@pytest.mark.parametrize(("name", "dimensions"), [("Qwen/other", 2560), ("Qwen3-Embedding-4B", 64)])
def test_other_models_are_not_checked(name: str, dimensions: int) -> None:
    encoder = ScriptedEncoder(replace(EXAMPLES[1], dimensions=dimensions), 0.3, name=name)
    check_similarities(encoder)
    assert not encoder.texts
