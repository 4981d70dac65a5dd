"""The Qwen3 path on a TINY RANDOM Qwen3 built here: right mechanics, meaningless vectors."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from transformers import AutoTokenizer, DynamicCache, Qwen3Model

from embedding_server.app import create_app
from embedding_server.encoders.sentence_transformer import open_sentence_transformer
from embedding_server.errors import CannotStart
from embedding_server.settings import Settings
from embedding_server.vectors import shorten
from tests.embedding_server.encoders.tiny_qwen3 import (
    DIMENSIONS,
    END,
    POSITIONS,
    QUERY_PROMPT,
    write_tiny_qwen3,
)
from tests.embedding_server.running import serve, wait_until_ready

TEXTS = ["cats purr", "the central bank raised interest rates " * 3, "x", "what do cats do?"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the tiny random model and return its folder."""
    return write_tiny_qwen3(tmp_path_factory.mktemp("models") / "tiny-qwen3")


@pytest.fixture(scope="module")
def url(folder: Path) -> Iterator[str]:
    """Yield the base URL of a server with the tiny random model."""
    with serve(create_app(Settings(model=str(folder), device="cpu"))) as url:
        wait_until_ready(url)
        yield url


def embed(url: str, texts: str | list[str], **options: object) -> NDArray[np.float32]:
    body = {"model": "tiny-qwen3", "input": texts, **options}
    answer = httpx.post(f"{url}/v1/embeddings", json=body)
    assert answer.status_code == 200, answer.text
    return np.array([item["embedding"] for item in answer.json()["data"]], dtype=np.float32)


def test_the_vector_is_the_last_tokens_state(url: str, folder: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = Qwen3Model.from_pretrained(folder, dtype=torch.float32)
    ids = tokenizer(TEXTS[0], return_tensors="pt")["input_ids"]
    assert ids[0, -1] == tokenizer.convert_tokens_to_ids(END)
    with torch.inference_mode():
        state = model(input_ids=ids).last_hidden_state[0, -1].numpy()
    np.testing.assert_allclose(embed(url, TEXTS[0])[0], state / np.linalg.norm(state), atol=1e-5)


def test_the_vectors_are_those_of_the_library(url: str, folder: Path) -> None:
    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    documents = model.encode(TEXTS, normalize_embeddings=True)
    np.testing.assert_allclose(embed(url, TEXTS), documents, atol=1e-5)
    queries = model.encode(TEXTS, prompt_name="query", normalize_embeddings=True)
    np.testing.assert_allclose(embed(url, TEXTS, input_type="query"), queries, atol=1e-5)


def test_a_query_is_the_text_with_the_prompt_in_front(url: str) -> None:
    query = embed(url, TEXTS, input_type="query")
    prefixed = embed(url, [QUERY_PROMPT + text for text in TEXTS])
    np.testing.assert_allclose(query, prefixed, atol=1e-6)
    bare = embed(url, TEXTS)
    assert np.abs(query - bare).max() > 0.01
    for input_type in ("passage", "document"):
        np.testing.assert_allclose(embed(url, TEXTS, input_type=input_type), bare, atol=1e-6)


def test_an_instruction_takes_the_place_of_the_task(url: str) -> None:
    instructed = embed(url, "cats purr", instruction="Find jokes")
    prefixed = embed(url, "Instruct: Find jokes\nQuery:cats purr")
    np.testing.assert_allclose(instructed, prefixed, atol=1e-6)
    assert np.abs(instructed - embed(url, "cats purr", input_type="query")).max() > 0.01


def test_the_prompt_counts_as_tokens(url: str, folder: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    body = {"model": "tiny-qwen3", "input": "cats purr", "input_type": "query"}
    usage = httpx.post(f"{url}/v1/embeddings", json=body).json()["usage"]
    expected = len(tokenizer(QUERY_PROMPT + "cats purr")["input_ids"])
    assert usage == {"prompt_tokens": expected, "total_tokens": expected}


@pytest.mark.parametrize("dimensions", [32, 33, 63, DIMENSIONS])
def test_a_shortened_vector_is_the_scaled_prefix(url: str, dimensions: int) -> None:
    whole = embed(url, TEXTS)
    short = embed(url, TEXTS, dimensions=dimensions)
    assert short.shape == (len(TEXTS), dimensions)
    np.testing.assert_allclose(np.linalg.norm(short, axis=1), 1.0, atol=1e-6)
    prefix = whole[:, :dimensions]
    scaled = prefix / np.linalg.norm(prefix, axis=1, keepdims=True)
    np.testing.assert_allclose(short, scaled, atol=1e-5)


@pytest.mark.parametrize("dimensions", [1, 31, DIMENSIONS + 1])
def test_other_lengths_are_refused(url: str, dimensions: int) -> None:
    body = {"model": "tiny-qwen3", "input": "a", "dimensions": dimensions}
    answer = httpx.post(f"{url}/v1/embeddings", json=body)
    assert answer.status_code == 400
    assert "32 to 64" in answer.json()["error"]["message"]


def test_a_batch_gives_the_vectors_of_single_texts(url: str) -> None:
    together = embed(url, TEXTS)
    alone = np.vstack([embed(url, text) for text in TEXTS])
    assert np.sum(together * alone, axis=1).min() > 0.9999
    assert np.sum(together[0] * together[1]) < 0.999


def test_a_cut_text_still_ends_with_the_end_token(folder: Path) -> None:
    encoder = open_sentence_transformer(
        Settings(model=str(folder), device="cpu", max_sequence_tokens=20)
    )
    assert encoder.card.max_tokens == 20
    [whole], [cut] = (encoder.tokenize(["cats purr " * 30], limit) for limit in (None, 20))
    assert len(whole) > 20
    assert len(cut) == 20
    assert cut[:-1] == whole[:19]
    assert cut[-1] == whole[-1]


def test_the_model_is_described(url: str) -> None:
    model = httpx.get(f"{url}/v1/models").json()["data"][0]
    assert model["id"] == "tiny-qwen3"
    assert (model["dimensions"], model["min_dimensions"]) == (DIMENSIONS, 32)
    assert model["max_model_len"] == POSITIONS
    assert model["query_prompt"] == QUERY_PROMPT


def test_it_runs_in_float32_without_a_key_value_cache(folder: Path) -> None:
    encoder = open_sentence_transformer(Settings(model=str(folder), device="cpu"))
    assert encoder.dtype == torch.float32
    assert encoder.has_key_value_cache is False


def test_in_bfloat16_the_vectors_are_near_and_of_unit_length(folder: Path) -> None:
    settings = Settings(model=str(folder), device="cpu")
    half, full = (
        open_sentence_transformer(settings, precision)
        for precision in (torch.bfloat16, torch.float32)
    )
    assert (half.dtype, full.dtype) == (torch.bfloat16, torch.float32)
    for dimensions in (DIMENSIONS, 32):
        near, exact = (
            shorten(encoder.encode(encoder.tokenize(TEXTS)), dimensions) for encoder in (half, full)
        )
        assert np.isfinite(near).all()
        # Scaled in float32: in bfloat16 the lengths would be off by some thousandths.
        np.testing.assert_allclose(np.linalg.norm(near, axis=1), 1.0, atol=1e-6)
        assert np.sum(near * exact, axis=1).min() >= 0.99


def test_short_texts_are_padded_on_the_left(folder: Path) -> None:
    encoder = open_sentence_transformer(Settings(model=str(folder), device="cpu"))
    seen: list[dict[str, torch.Tensor]] = []

    def look(module: torch.nn.Module, inputs: tuple[object, ...]) -> None:
        if isinstance(module, SentenceTransformer):
            assert isinstance(inputs[0], dict)
            seen.append(dict(inputs[0]))

    hook = torch.nn.modules.module.register_module_forward_pre_hook(look)
    try:
        tokens = encoder.tokenize(["cats purr", "cats purr when they are content"])
        encoder.encode(tokens)
    finally:
        hook.remove()
    [batch] = seen
    ids, mask = batch["input_ids"].tolist(), batch["attention_mask"].tolist()
    padding = len(tokens[1]) - len(tokens[0])
    assert padding > 0
    assert mask == [[0] * padding + [1] * len(tokens[0]), [1] * len(tokens[1])]
    assert [ids[0][padding:], ids[1]] == tokens


def test_a_forward_pass_stores_no_keys_and_values(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored: list[int] = []
    store = DynamicCache.update

    def count(cache: DynamicCache, *arguments: Any, **options: Any) -> Any:
        stored.append(1)
        return store(cache, *arguments, **options)

    monkeypatch.setattr(DynamicCache, "update", count)
    encoder = open_sentence_transformer(Settings(model=str(folder), device="cpu"))
    encoder.encode(encoder.tokenize(TEXTS))
    assert not stored
    # The bare model does it, once in each of its two layers.
    ids = torch.tensor(encoder.tokenize(TEXTS[:1]))
    Qwen3Model.from_pretrained(folder)(input_ids=ids)
    assert len(stored) == 2


def test_the_server_refuses_a_folder_that_would_be_averaged(tmp_path: Path) -> None:
    folder = write_tiny_qwen3(tmp_path / "averaged", pooling="mean")
    with pytest.raises(CannotStart, match="last-token pooling"):
        open_sentence_transformer(Settings(model=str(folder), device="cpu"))


def test_the_server_refuses_a_tokenizer_without_the_end_token(tmp_path: Path) -> None:
    folder = write_tiny_qwen3(tmp_path / "endless", adds_end=False)
    with pytest.raises(CannotStart, match="does not end a text"):
        open_sentence_transformer(Settings(model=str(folder), device="cpu"))
