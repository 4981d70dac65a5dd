"""Vectors from a BERT model through ONNX Runtime in int8: the fast way on a CPU, without torch."""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto
from onnxruntime import InferenceSession, SessionOptions
from onnxruntime.capi.onnxruntime_pybind11_state import Fail, RuntimeException
from tokenizers import Tokenizer

from embedding_server.encoder import MemoryExhausted, ModelCard, TokenIds
from embedding_server.encoders import minilm
from embedding_server.encoders.bert_graph import INPUT, OUTPUT, build_bert
from embedding_server.encoders.folders import ModelFolder, Pooling, read_folder
from embedding_server.encoders.sources import Source, find_source
from embedding_server.errors import CannotStart
from embedding_server.settings import Settings
from embedding_server.vectors import Vectors, shorten

# What rounding to int8 may change; the worst of the stored texts lies at 0.993.
INT8_COSINE = 0.99


class OnnxBertEncoder:
    """A BERT model in int8; each text goes through alone, so a vector never depends on others."""

    def __init__(
        self, session: InferenceSession, tokenizer: Tokenizer, pooling: Pooling, card: ModelCard
    ) -> None:
        self.card = card
        self._session = session
        self._tokenizer = tokenizer
        self._pooling = pooling

    def tokenize(self, texts: Sequence[str], limit: int | None = None) -> list[list[int]]:
        """Return each text's token ids with the special ones, cut to `limit` tokens if given."""
        if limit is None:
            self._tokenizer.no_truncation()
        else:
            self._tokenizer.enable_truncation(limit)
        return [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]

    def encode(self, batch: Sequence[TokenIds]) -> Vectors:
        """Run one text after the other and return raw float32 vectors, not normalised.

        A text alone keeps both cores as busy as a batch does from some fifty tokens on, and wastes
        nothing on padding. Raises MemoryExhausted.
        """
        return np.stack([self._embed(np.array([tokens], dtype=np.int32)) for tokens in batch])

    def _embed(self, ids: NDArray[np.int32]) -> Vectors:
        try:
            [hidden] = self._session.run([OUTPUT], {INPUT: ids})
        except (Fail, RuntimeException, MemoryError) as error:
            # ONNX Runtime has no type of its own for it.
            if isinstance(error, MemoryError) or "alloc" in str(error):
                raise MemoryExhausted(str(error)) from error
            raise
        vector: Vectors = hidden[0].mean(axis=0) if self._pooling == "mean" else hidden[0, 0]
        return vector


def open_onnx_bert(settings: Settings) -> OnnxBertEncoder:
    """Build the int8 graph of the model and compare its vectors with known ones.

    The packaged model's are stored; those of another come from its own weights in float32. Raises
    CannotStart.
    """
    source = find_source(settings.model or minilm.NAME)
    if not source.is_folder:
        raise CannotStart(
            f"EMBEDDING_BACKEND=onnx reads a folder or {minilm.NAME}, and {source.name} is "
            "neither; use EMBEDDING_BACKEND=torch"
        )
    if source.is_packaged:
        minilm.check_weights(Path(source.location))
    folder = read_folder(Path(source.location))
    encoder = _open(folder, source, settings, is_quantized=True)
    if source.is_packaged:
        minilm.check_vectors(encoder, INT8_COSINE)
    else:
        _compare(encoder, _open(folder, source, settings, is_quantized=False))
    return encoder


def _open(
    folder: ModelFolder, source: Source, settings: Settings, *, is_quantized: bool
) -> OnnxBertEncoder:
    graph = build_bert(folder.path, is_quantized=is_quantized)
    tokenizer = Tokenizer.from_file(str(folder.path / "tokenizer.json"))
    # Folders carry settings of their own for both.
    tokenizer.no_padding()
    session = _open_session(graph, settings)
    dimensions: int = session.get_outputs()[0].shape[-1]
    card = ModelCard(
        name=source.name,
        aliases=source.aliases,
        dimensions=dimensions,
        min_dimensions=min(settings.min_dimensions or dimensions, dimensions),
        max_tokens=_limit_tokens(folder, source, settings),
        device="cpu",
        prompts=folder.prompts,
        is_padded=False,
    )
    return OnnxBertEncoder(session, tokenizer, folder.pooling, card)


def _open_session(graph: ModelProto, settings: Settings) -> InferenceSession:
    options = SessionOptions()
    options.intra_op_num_threads = settings.threads or os.cpu_count() or 1
    # Threads that spin while they wait take the core from the process that asks.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return InferenceSession(graph.SerializeToString(), options, providers=["CPUExecutionProvider"])


def _limit_tokens(folder: ModelFolder, source: Source, settings: Settings) -> int:
    wanted = settings.max_sequence_tokens or folder.max_tokens
    if wanted > folder.max_tokens:
        raise CannotStart(
            f"EMBEDDING_MAX_SEQUENCE_TOKENS is {wanted}, but {source.name} takes at most "
            f"{folder.max_tokens}"
        )
    return wanted


def _compare(encoder: OnnxBertEncoder, exact: OnnxBertEncoder) -> None:
    """Raise CannotStart unless rounding leaves the model's vectors what they are."""
    tokens = encoder.tokenize(minilm.read_reference().texts, encoder.card.max_tokens)
    pair = [shorten(one.encode(tokens), one.card.dimensions) for one in (encoder, exact)]
    worst = float(np.sum(pair[0] * pair[1], axis=1).min())
    if not worst >= INT8_COSINE:
        raise CannotStart(
            f"in int8 the vectors of {encoder.card.name} differ too much from those of float32 "
            f"(cosine {worst:.3f}, at least {INT8_COSINE} is right); use EMBEDDING_BACKEND=torch"
        )
