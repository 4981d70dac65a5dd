"""A tiny Qwen3 with random weights, laid out on disk as Qwen3-Embedding is.

It exercises the real code path (tokenizer class and template, left padding, last-token pooling,
prompts, shortened vectors) and says nothing about the quality of the real model's vectors.
"""

import json
from pathlib import Path

import torch
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import Qwen3Config, Qwen3Model

END = "<|endoftext|>"
DIMENSIONS = 64
POSITIONS = 256
QUERY_PROMPT = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
)
CORPUS = [
    QUERY_PROMPT,
    "cats purr when they are content",
    "the central bank raised interest rates",
    "what do cats do when they are happy",
]


def write_tiny_qwen3(folder: Path, *, pooling: str = "lasttoken", adds_end: bool = True) -> Path:
    """Write the folder of a sentence-transformers model and return it."""
    tokenizer = _train_tokenizer(adds_end=adds_end)
    torch.manual_seed(11)
    config = Qwen3Config(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=DIMENSIONS,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        max_position_embeddings=POSITIONS,
    )
    Qwen3Model(config).save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    for name, content in _describe(pooling).items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content))
    return folder


def _train_tokenizer(*, adds_end: bool) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=[END, "<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    if adds_end:
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"$A {END}",
            pair=f"$A {END} $B {END}",
            special_tokens=[(END, tokenizer.token_to_id(END))],
        )
    return tokenizer


def _describe(pooling: str) -> dict[str, object]:
    """Return the JSON files beside the weights, in the form of the published model's."""
    module = "sentence_transformers.models"
    return {
        "tokenizer_config.json": {
            "tokenizer_class": "Qwen2Tokenizer",
            "eos_token": "<|im_end|>",
            "pad_token": END,
            "model_max_length": 131072,
            "padding_side": "left",
            "add_prefix_space": False,
            "chat_template": "{{ messages }}",
        },
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": f"{module}.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{module}.Pooling"},
            {"idx": 2, "name": "2", "path": "2_Normalize", "type": f"{module}.Normalize"},
        ],
        "1_Pooling/config.json": {
            "word_embedding_dimension": DIMENSIONS,
            "pooling_mode_cls_token": False,
            "pooling_mode_mean_tokens": pooling == "mean",
            "pooling_mode_lasttoken": pooling == "lasttoken",
            "include_prompt": True,
        },
        "config_sentence_transformers.json": {
            "prompts": {"query": QUERY_PROMPT, "document": ""},
            "default_prompt_name": None,
            "similarity_fn_name": "cosine",
        },
    }
