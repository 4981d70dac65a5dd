"""The choice of the encoder that the settings ask for."""

import importlib
import logging
from importlib.util import find_spec
from pathlib import Path
from shutil import which

from embedding_server.encoder import Encoder
from embedding_server.encoders import hashing, minilm
from embedding_server.errors import CannotStart
from embedding_server.settings import Settings

logger = logging.getLogger(__name__)

# The devices of NVIDIA's driver, of the same under Windows' Linux, and of AMD's.
GPU_DEVICES = ("/dev/nvidiactl", "/dev/dxg", "/dev/kfd")


def open_encoder(settings: Settings) -> Encoder:
    """Load the model that the settings name and check that it works. Raises CannotStart."""
    if settings.model == hashing.NAME:
        return hashing.HashingEncoder()
    if settings.backend == "onnx":
        return _open_onnx(settings)
    if settings.backend == "auto" and _is_packaged_on_cpu(settings):
        try:
            return _open_onnx(settings)
        except CannotStart as error:
            if not _has_torch():
                raise
            logger.warning("ONNX Runtime does not serve here, torch does: %s", error)
    return _open_torch(settings)


def _is_packaged_on_cpu(settings: Settings) -> bool:
    """Tell whether the packaged model runs on a CPU, without importing torch to find out."""
    if settings.model is not None and settings.model not in minilm.NAMES:
        return False
    return settings.device == "cpu" or (settings.device == "auto" and not _may_use_gpu())


def _may_use_gpu() -> bool:
    has_gpu = which("nvidia-smi") is not None or any(Path(d).exists() for d in GPU_DEVICES)
    if has_gpu and not _has_torch():
        logger.info("Without torch a GPU is not used")
        return False
    return has_gpu


def _open_onnx(settings: Settings) -> Encoder:
    if settings.device == "cuda":
        raise CannotStart("EMBEDDING_BACKEND=onnx runs on a CPU, and EMBEDDING_DEVICE is cuda")
    return _open("onnx_bert", "open_onnx_bert", settings)


def _has_torch() -> bool:
    return find_spec("torch") is not None


def _open_torch(settings: Settings) -> Encoder:
    if not _has_torch():
        raise CannotStart(
            f"{_name_wish_for_torch(settings)} needs torch, which is not installed; install it "
            "with EMBEDDING_BACKEND=torch ./scripts/run, or with "
            "pip install 'graph-memory[embeddings,torch]'"
        )
    return _open("sentence_transformer", "open_sentence_transformer", settings)


def _name_wish_for_torch(settings: Settings) -> str:
    if settings.model is not None and settings.model not in minilm.NAMES:
        return "this model"
    return "EMBEDDING_BACKEND=torch" if settings.backend == "torch" else "EMBEDDING_DEVICE=cuda"


def _open(module: str, function: str, settings: Settings) -> Encoder:
    # Loaded by name, because the modules bring what may be absent, and torch brings seconds and
    # hundreds of megabytes that the other encoders must not cost.
    try:
        opened = importlib.import_module(f"embedding_server.encoders.{module}")
    except ModuleNotFoundError as error:
        raise CannotStart(
            f"the package {error.name!r} is missing; install graph-memory[embeddings], "
            f"or set EMBEDDING_MODEL={hashing.NAME} to try the server without a model"
        ) from error
    encoder: Encoder = getattr(opened, function)(settings)
    return encoder
