"""The first passes are as large as any later one, and say what to lower when they do not fit."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from embedding_server.encoder import MemoryExhausted, ModelCard, TokenIds
from embedding_server.encoders.hashing import HashingEncoder
from embedding_server.encoders.sentence_transformer import (
    SentenceTransformerEncoder,
    open_sentence_transformer,
)
from embedding_server.errors import CannotStart
from embedding_server.scheduling.batch_queue import BatchLimits
from embedding_server.serving.warm_up import Shape, choose_shapes, warm_up
from embedding_server.settings import Settings
from embedding_server.vectors import Vectors
from tests.embedding_server.encoders.tiny_qwen3 import END, write_tiny_qwen3
from tests.embedding_server.failing import FailingEncoder

CPU_LIMITS = BatchLimits(texts=8, tokens=4096, padding_tokens=64)
GPU_LIMITS = BatchLimits(texts=8, tokens=16384, padding_tokens=512)


class SmallGpu:
    """A real encoder as if on a GPU with room for so many padded tokens, and no more."""

    def __init__(self, encoder: SentenceTransformerEncoder, most_tokens: int) -> None:
        self.card = replace(encoder.card, device="cuda")
        self._encoder = encoder
        self._most_tokens = most_tokens
        self.ran: list[list[TokenIds]] = []

    def tokenize(self, texts: Sequence[str], limit: int | None = None) -> list[list[int]]:
        return self._encoder.tokenize(texts, limit)

    def encode(self, batch: Sequence[TokenIds]) -> Vectors:
        self.ran.append(list(batch))
        if len(batch) * max(map(len, batch)) > self._most_tokens:
            raise MemoryExhausted("CUDA out of memory")
        return self._encoder.encode(batch)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> SentenceTransformerEncoder:
    """Open the tiny random Qwen3, whose longest text has 256 tokens."""
    folder: Path = write_tiny_qwen3(tmp_path_factory.mktemp("models") / "tiny-qwen3")
    return open_sentence_transformer(Settings(model=str(folder), device="cpu"))


def card(device: str, max_tokens: int) -> ModelCard:
    return replace(FailingEncoder.card, device=device, max_tokens=max_tokens)


def test_a_small_model_on_a_cpu_runs_one_full_batch() -> None:
    assert choose_shapes(card("cpu", 256), CPU_LIMITS) == [Shape(8, 256)]
    assert choose_shapes(card("cpu", 8192), CPU_LIMITS) == [Shape(8, 512)]


def test_a_large_model_on_a_gpu_runs_the_longest_text_and_both_kinds_of_full_batch() -> None:
    assert choose_shapes(card("cuda", 8192), GPU_LIMITS) == [
        Shape(1, 8192),
        Shape(8, 2048),
        Shape(2, 8192),
    ]
    assert choose_shapes(card("cuda", 32768), GPU_LIMITS) == [Shape(1, 32768), Shape(8, 2048)]


@given(
    max_tokens=st.integers(2, 40_000),
    texts=st.integers(1, 1024),
    tokens=st.integers(1, 100_000),
    device=st.sampled_from(["cpu", "cuda"]),
)
def test_no_first_pass_is_larger_than_a_later_one_may_be(
    max_tokens: int, texts: int, tokens: int, device: str
) -> None:
    limits = BatchLimits(texts, tokens, padding_tokens=64)
    shapes = choose_shapes(card(device, max_tokens), limits)
    for shape in shapes:
        assert 1 <= shape.texts <= texts
        assert 2 <= shape.tokens <= max_tokens
        assert shape.texts == 1 or shape.texts * shape.tokens <= tokens


def test_the_tokens_are_those_of_real_texts(tiny: SentenceTransformerEncoder) -> None:
    encoder = SmallGpu(tiny, most_tokens=100_000)
    model = warm_up(encoder, BatchLimits(texts=8, tokens=1024, padding_tokens=512))
    shapes = [[len(tokens) for tokens in batch] for batch in encoder.ran]
    assert shapes == [[256], [128] * 8, [256] * 4, [len(model.probe)]]
    [[end]] = tiny.tokenize([END], limit=1)
    for batch in encoder.ran:
        for tokens in batch:
            assert min(tokens) >= 0
            assert tokens[-1] == end
            assert tokens[:-1].count(end) == 0


@pytest.mark.parametrize(
    ("room", "what", "setting"),
    [
        (255, "a text of 256 tokens does not", "EMBEDDING_MAX_SEQUENCE_TOKENS from 256, to 128"),
        (1023, "8 texts of 128 tokens do not", "EMBEDDING_MAX_BATCH_TOKENS from 1024, to 512"),
    ],
)
def test_what_does_not_fit_is_said_with_the_setting_to_lower(
    tiny: SentenceTransformerEncoder, room: int, what: str, setting: str
) -> None:
    encoder = SmallGpu(tiny, most_tokens=room)
    with pytest.raises(CannotStart, match=f"{what} fit into memory.*; lower {setting}"):
        warm_up(encoder, BatchLimits(texts=8, tokens=1024, padding_tokens=512))


def test_a_real_lack_of_memory_is_said_as_well(tiny: SentenceTransformerEncoder) -> None:
    class GreedyEncoder(SmallGpu):
        def encode(self, batch: Sequence[TokenIds]) -> Vectors:
            # As one of the model's own layers would: the allocator of torch refuses it.
            hook = torch.nn.modules.module.register_module_forward_pre_hook(_allocate_too_much)
            try:
                return super().encode(batch)
            finally:
                hook.remove()

    with pytest.raises(CannotStart, match="EMBEDDING_MAX_SEQUENCE_TOKENS from 256"):
        warm_up(GreedyEncoder(tiny, most_tokens=100_000), GPU_LIMITS)


def _allocate_too_much(_module: torch.nn.Module, _inputs: object) -> None:
    torch.empty(10**17)


@pytest.mark.parametrize("bad", [np.nan, 0.0])
def test_a_model_without_usable_vectors_does_not_start(bad: float) -> None:
    class UselessEncoder(FailingEncoder):
        def encode(self, batch: Sequence[TokenIds]) -> Vectors:
            return np.full((len(batch), 2), bad, dtype=np.float32)

    with pytest.raises(CannotStart, match="failing gave no usable vectors on cpu"):
        warm_up(UselessEncoder(), CPU_LIMITS)


def test_the_encoder_without_weights_warms_up_too() -> None:
    model = warm_up(HashingEncoder(), CPU_LIMITS)
    assert len(model.probe) == 3
