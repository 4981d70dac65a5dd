"""What a sentence-transformers folder says about its model, read without that library."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from embedding_server.errors import CannotStart
from embedding_server.prompts import Prompts

Pooling = Literal["mean", "cls"]

# The last part of the module's class, which has moved between packages.
CHAINS = (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"])


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """How the hidden states of a text become its vector, what it may hold, what goes in front."""

    path: Path
    pooling: Pooling
    max_tokens: int
    prompts: Prompts


def read_folder(path: Path) -> ModelFolder:
    """Read the folder's JSON files. Raises CannotStart for a model of another build."""
    modules = _read(path / "modules.json")
    chain = [str(module["type"]).rpartition(".")[2] for module in modules]
    if chain not in CHAINS:
        raise CannotStart(
            f"{path.name} is built as {chain}, and EMBEDDING_BACKEND=onnx wants "
            f"{CHAINS[0]}; use EMBEDDING_BACKEND=torch"
        )
    transformer = path / modules[0]["path"]
    return ModelFolder(
        path=transformer,
        pooling=_read_pooling(path / modules[1]["path"] / "config.json"),
        max_tokens=_read_max_tokens(transformer),
        prompts=_read_prompts(path / "config_sentence_transformers.json"),
    )


def _read(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise CannotStart(
            f"{file} is missing; EMBEDDING_BACKEND=onnx needs a folder of sentence-transformers"
        ) from error
    except ValueError as error:
        raise CannotStart(f"{file} is not JSON: {error}") from error


def _read_pooling(file: Path) -> Pooling:
    config = _read(file)
    modes = [
        key.removeprefix("pooling_mode_").removesuffix("_tokens").removesuffix("_token")
        for key, is_on in config.items()
        if key.startswith("pooling_mode_") and is_on
    ]
    mode = config.get("pooling_mode", modes)
    for known in ("mean", "cls"):
        if mode in (known, [known]) and config.get("include_prompt", True):
            return known
    raise CannotStart(
        f"EMBEDDING_BACKEND=onnx averages the tokens or takes the first, and {file} says {mode}; "
        "use EMBEDDING_BACKEND=torch"
    )


def _read_max_tokens(transformer: Path) -> int:
    """Return the smallest of the bounds that the folder names; each may be left out but one."""
    bounds = [_read(transformer / "config.json")["max_position_embeddings"]]
    for name, key in (
        ("sentence_bert_config.json", "max_seq_length"),
        ("tokenizer_config.json", "model_max_length"),
    ):
        file = transformer / name
        bounds.append(_read(file).get(key) if file.exists() else None)
    return min(int(bound) for bound in bounds if bound)


def _read_prompts(file: Path) -> Prompts:
    config = _read(file) if file.exists() else {}
    given = config.get("prompts") or {}
    return Prompts(
        query=given.get("query") or "",
        passage=given.get("passage") or given.get("document") or "",
        default=given.get(config.get("default_prompt_name") or "") or "",
    )
