"""The two forms in which vectors lie in the store, and the way from and to numpy."""

from collections.abc import Iterable, Mapping
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

# bytes: float16, little endian, which is all that the resident engine compares; they load much
# faster. array: what the database can search.
VectorForm = Literal["bytes", "array"]

FORM_OF_ENGINE: Final[Mapping[str, VectorForm]] = {"resident": "bytes", "database": "array"}
ENGINE_OF_FORM: Final = {form: engine for engine, form in FORM_OF_ENGINE.items()}
# What meta:embedding says of a store that holds rows of both forms.
MIXED: Final = "mixed"

FLOAT_BYTES: Final = 2

# One vector a row.
Matrix = NDArray[np.float32]


def stored_vector(vector: NDArray[np.float32], form: VectorForm) -> bytes | list[float]:
    """Return a vector as the store keeps it: an array holds every float32 exactly.

    Bytes hold three digits of each number, and none beyond 65,504: those of a vector of length 1.
    """
    if form == "bytes":
        with np.errstate(over="ignore"):  # infinity: no direction, which is told when it is read
            return np.asarray(vector, "<f2").tobytes()
    floats: list[float] = vector.tolist()
    return floats


def read_vector(stored: bytes | list[float]) -> NDArray[np.float32]:
    """Return a stored vector of either form.

    Raises ValueError for an empty vector and for bytes that are not whole floats.
    """
    if not stored:
        raise ValueError("a stored vector is empty")
    if isinstance(stored, list):
        return np.array(stored, np.float32)
    if len(stored) % FLOAT_BYTES:
        msg = f"a stored vector has {len(stored)} bytes, which is no multiple of {FLOAT_BYTES}"
        raise ValueError(msg)
    return np.frombuffer(stored, "<f2").astype(np.float32)


def read_vectors(stored: Iterable[bytes], size: int) -> Matrix:
    """Return stored vectors of so many bytes each, a row for each."""
    floats = np.frombuffer(b"".join(stored), "<f2")
    return floats.astype(np.float32).reshape(-1, size // FLOAT_BYTES)


def unit_rows(vectors: Matrix) -> Matrix:
    """Return the rows at length 1; zeros for a row without a direction: it is near to nothing."""
    with np.errstate(all="ignore"):
        lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
        scaled = np.asarray(vectors / lengths, np.float32)
    scaled[~np.isfinite(scaled).all(axis=1)] = 0
    return scaled
