"""Vectors from a sentence-transformers model: Qwen3-Embedding, the packaged MiniLM, any other."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from huggingface_hub import model_info
from huggingface_hub.errors import HTTPError, RepositoryNotFoundError  # type: ignore[attr-defined]
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Normalize, Transformer
from sentence_transformers.sentence_transformer.modules import Pooling
from transformers import PreTrainedTokenizerBase
from transformers.utils import logging as transformers_logging

from embedding_server.encoder import ModelCard, TokenIds
from embedding_server.encoders import minilm, qwen3, qwen3_example
from embedding_server.encoders.sources import Source, find_source
from embedding_server.encoders.torch_memory import run_within_memory
from embedding_server.errors import CannotStart
from embedding_server.prompts import Prompts
from embedding_server.settings import Settings
from embedding_server.vectors import Vectors

logger = logging.getLogger(__name__)

# Memory grows with the length of a text; models that take more take it only when told to.
DEFAULT_SEQUENCE_TOKENS = 8192

Device = Literal["cpu", "cuda"]


class SentenceTransformerEncoder:
    """A loaded model, with the tokenizer apart from the forward pass."""

    def __init__(self, model: SentenceTransformer, card: ModelCard) -> None:
        self.card = card
        self._model = model
        self._transformer = _find_transformer(model)
        self._tokenizer = _find_tokenizer(self._transformer)
        # A causal model is padded on the left, as its authors do; its last position is the vector.
        self._pads_left = (
            qwen3.is_qwen3(self._transformer) or self._tokenizer.padding_side == "left"
        )
        self._pad_id = int(self._tokenizer.pad_token_id or 0)

    @property
    def dtype(self) -> torch.dtype | None:
        """The precision of the forward pass."""
        return self._model.dtype

    @property
    def has_key_value_cache(self) -> bool:
        """Tell whether the forward pass keeps keys and values that no embedding needs."""
        return bool(getattr(self._transformer.config, "use_cache", False))

    def tokenize(self, texts: Sequence[str], limit: int | None = None) -> list[list[int]]:
        """Return each text's token ids with the special ones, cut to `limit` tokens if given."""
        encoded = self._tokenizer(
            list(texts),
            truncation=limit is not None,
            max_length=limit,
            padding=False,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
        )
        ids: list[list[int]] = encoded["input_ids"]
        return ids

    def encode(self, batch: Sequence[TokenIds]) -> Vectors:
        """Run one forward pass and return raw float32 vectors, not normalised.

        Raises MemoryExhausted; the CUDA cache is empty then.
        """
        return run_within_memory(lambda: self._forward(batch))

    def _forward(self, batch: Sequence[TokenIds]) -> Vectors:
        with torch.inference_mode():
            pooled = self._model(self._pad(batch))["sentence_embedding"]
            vectors: Vectors = pooled.float().cpu().numpy()
        return vectors

    def _pad(self, batch: Sequence[TokenIds]) -> dict[str, torch.Tensor]:
        width = max(len(tokens) for tokens in batch)
        ids = np.full((len(batch), width), self._pad_id, dtype=np.int64)
        mask = np.zeros((len(batch), width), dtype=np.int64)
        for row, tokens in enumerate(batch):
            places = slice(width - len(tokens), width) if self._pads_left else slice(len(tokens))
            ids[row, places] = tokens
            mask[row, places] = 1
        device = self._model.device
        return {
            "input_ids": torch.from_numpy(ids).to(device),
            "attention_mask": torch.from_numpy(mask).to(device),
        }


def open_sentence_transformer(
    settings: Settings, precision: torch.dtype | None = None
) -> SentenceTransformerEncoder:
    """Load the model, set its limits and compare it with known vectors where there are any.

    It runs in the precision that is best for the device, unless one is given. Raises CannotStart,
    or whatever the library raises for files it cannot read.
    """
    if settings.threads is not None:
        torch.set_num_threads(settings.threads)
    device = _choose_device(settings)
    default = qwen3.DEFAULT_MODEL if device == "cuda" else minilm.NAME
    source = find_source(settings.model or default)
    if source.is_packaged:
        minilm.check_weights(Path(source.location))
    model = _load(source, device)
    if precision is not None:
        model.to(precision)
    transformer = _find_transformer(model)
    if qwen3.is_qwen3(transformer):
        qwen3.check(model)
    if any(isinstance(part, Pooling) and not part.include_prompt for part in model):
        raise CannotStart("a model that leaves its prompt out of the average is not supported")
    # Normalize works in the model's own precision; vectors are scaled later, in float32.
    if isinstance(model[-1], Normalize):
        del model[-1]
    encoder = SentenceTransformerEncoder(model, _describe(model, source, device, settings))
    if source.is_packaged and precision in {None, torch.float32}:
        minilm.check_vectors(encoder, minilm.FLOAT32_COSINE)
    qwen3_example.check_similarities(encoder)
    return encoder


def _choose_device(settings: Settings) -> Device:
    has_cuda = torch.cuda.is_available()
    if settings.device == "cuda" and not has_cuda:
        raise CannotStart("EMBEDDING_DEVICE is cuda, but torch finds no CUDA device")
    if settings.device == "auto":
        return "cuda" if has_cuda else "cpu"
    return settings.device


def _load(source: Source, device: Device) -> SentenceTransformer:
    """Load from the folder or the local cache, and download only what is in neither."""
    try:
        return _read(source, device, is_local=True)
    except OSError:
        if source.is_folder:
            raise
    logger.info("%s is not in the local cache; downloading it", source.name)
    _ask_the_hub(source.name if "/" in source.name else f"sentence-transformers/{source.name}")
    return _read(source, device, is_local=False)


def _ask_the_hub(name: str) -> None:
    """Raise CannotStart for a wrong name or without a network; the loader tries for a minute."""
    try:
        model_info(name)
    except RepositoryNotFoundError as error:
        raise CannotStart(
            f"the model hub shows no {name}; check EMBEDDING_MODEL, and set HF_TOKEN if the model "
            "is private or must be asked for"
        ) from error
    except (HTTPError, OSError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise CannotStart(
            "it is no folder, it is not in the local cache, and the model hub did not answer "
            f"({reason}); set EMBEDDING_MODEL to a folder with the model's files, or start again "
            "with a network"
        ) from error


def _read(source: Source, device: Device, *, is_local: bool) -> SentenceTransformer:
    if is_local:
        # A download is worth a progress bar, reading a file is not.
        transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    else:
        transformers_logging.enable_progress_bar()  # type: ignore[no-untyped-call]
    model = SentenceTransformer(
        source.location,
        device=device,
        trust_remote_code=False,
        local_files_only=is_local,
        # On a CPU, half precision runs at about a hundredth of the speed, and half-precision
        # checkpoints load as such when nothing is said.
        model_kwargs={"dtype": torch.float32 if device == "cpu" else "auto"},
    )
    if device == "cuda":
        model.to(_choose_gpu_precision(model))
    return model.eval()


def _choose_gpu_precision(model: SentenceTransformer) -> torch.dtype:
    """Return bfloat16 for Qwen3 and half-precision checkpoints, float32 for the others.

    Never float16: Qwen3-Embedding overflows in it and gives NaN for some texts.
    """
    is_half = model.dtype in {torch.float16, torch.bfloat16}
    wants_half = is_half or qwen3.is_qwen3(_find_transformer(model))
    can_half = torch.cuda.is_bf16_supported(including_emulation=False)
    return torch.bfloat16 if wants_half and can_half else torch.float32


def _find_transformer(model: SentenceTransformer) -> Transformer:
    first = model[0]
    if not isinstance(first, Transformer) or set(first.modality_config) != {"text"}:
        raise CannotStart(
            f"a model that begins with {type(first).__name__} is not supported; "
            "a transformer that reads plain text is"
        )
    # A decorator of the library hides the class from the type checker.
    return first  # type: ignore[no-any-return]


def _find_tokenizer(transformer: Transformer) -> PreTrainedTokenizerBase:
    tokenizer = transformer.tokenizer
    if tokenizer is None:
        raise CannotStart("the model has no tokenizer")
    return tokenizer


def _describe(
    model: SentenceTransformer, source: Source, device: Device, settings: Settings
) -> ModelCard:
    dimensions = model.get_embedding_dimension()
    if dimensions is None:
        raise CannotStart("the model does not say how long its vectors are")
    is_qwen3 = qwen3.is_qwen3(_find_transformer(model))
    shortest = settings.min_dimensions or (qwen3.MIN_DIMENSIONS if is_qwen3 else dimensions)
    return ModelCard(
        name=source.name,
        aliases=source.aliases,
        dimensions=dimensions,
        min_dimensions=min(shortest, dimensions),
        max_tokens=_limit_sequence(model, source, settings),
        device=device,
        prompts=_read_prompts(model),
    )


def _limit_sequence(model: SentenceTransformer, source: Source, settings: Settings) -> int:
    own = model.max_seq_length or DEFAULT_SEQUENCE_TOKENS
    wanted = settings.max_sequence_tokens
    if wanted is None:
        return int(min(own, DEFAULT_SEQUENCE_TOKENS))
    if wanted > own:
        raise CannotStart(
            f"EMBEDDING_MAX_SEQUENCE_TOKENS is {wanted}, but {source.name} takes at most {own}"
        )
    return wanted


def _read_prompts(model: SentenceTransformer) -> Prompts:
    given = model.prompts
    query = given.get("query") or ""
    if not query and qwen3.is_qwen3(_find_transformer(model)):
        query = qwen3.QUERY_PROMPT
    return Prompts(
        query=query,
        passage=given.get("passage") or given.get("document") or "",
        default=given.get(model.default_prompt_name or "") or "",
    )
