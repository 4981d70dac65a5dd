"""Reading what an embedding server answered: nothing of it is believed unchecked; no I/O here."""

import base64
import binascii
from collections.abc import Sequence
from typing import Any

import numpy as np
import orjson

from service.errors import EmbedderRefused
from service.records import Vector


def read_object(content: bytes) -> dict[str, Any]:
    """Return the JSON object of an answer; raises EmbedderRefused for anything else."""
    try:
        answer = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        msg = "The embedding server answered something that is not JSON."
        raise EmbedderRefused(msg) from error
    if not isinstance(answer, dict):
        raise EmbedderRefused("The embedding server answered JSON that is not an object.")
    return answer


def read_vectors(answer: dict[str, Any], count: int, dimensions: int) -> list[Vector]:
    """Return one unit vector for each text, in their order; `dimensions` 0 takes any length.

    Raises EmbedderRefused for another number, a wrong `index`, a wrong length, NaN, infinity or
    only zeros.
    """
    data = _in_order(items_of(answer), count)
    return [_checked(_decode(item.get("embedding")), dimensions) for item in data]


def cut_in(answer: dict[str, Any], count: int) -> int:
    """Return how many of so many texts an answer says were cut; our own server tells it."""
    told = answer.get("truncated")
    return min(len(told), count) if isinstance(told, list) else 0


def items_of(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what an answer lists under `data`."""
    items = answer.get("data") or []
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise EmbedderRefused("The embedding server's answer has no list of objects in `data`.")
    return items


def _in_order(items: Sequence[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """Return one item for each text, by `index`; without any they stand in the texts' order."""
    if len(items) != count:
        msg = f"The embedding server returned {len(items)} vectors for {count} texts."
        raise EmbedderRefused(msg)
    placed = {
        index: item
        for place, item in enumerate(items)
        if isinstance(index := item.get("index", place), int)
    }
    if set(placed) != set(range(count)):
        raise EmbedderRefused("The embedding server returned vectors whose `index` is wrong.")
    return [placed[place] for place in range(count)]


def _decode(embedding: object) -> Vector:
    """Read a vector in either encoding: base64 of little-endian float32, or a list."""
    try:
        if isinstance(embedding, str):
            return np.frombuffer(base64.b64decode(embedding, validate=True), "<f4")
        with np.errstate(over="ignore"):  # too large for float32: infinity, refused below
            return np.asarray(embedding, dtype=np.float32)
    except (binascii.Error, ValueError, TypeError, OverflowError) as error:
        msg = "The embedding server returned a vector that cannot be read."
        raise EmbedderRefused(msg) from error


def _checked(vector: Vector, dimensions: int) -> Vector:
    """Return the vector at unit length; refuse a wrong length, NaN, infinity or all zeros."""
    if vector.ndim != 1 or not len(vector) or (dimensions and len(vector) != dimensions):
        msg = f"The embedding server returned {vector.shape} numbers, {dimensions} were expected."
        raise EmbedderRefused(msg)
    length = float(np.linalg.norm(vector.astype(np.float64)))
    if not np.isfinite(length) or length == 0.0:
        msg = "The embedding server returned a vector with NaN, infinity or only zeros."
        raise EmbedderRefused(msg)
    return (vector / length).astype(np.float32)
