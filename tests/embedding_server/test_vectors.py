"""Cutting and scaling, and the rows that cannot be scaled."""

import numpy as np
import pytest

from embedding_server.vectors import find_unusable, shorten


@pytest.mark.parametrize("dimensions", [1, 2, 5, 8])
def test_a_shortened_vector_is_the_scaled_prefix(dimensions: int) -> None:
    raw = np.random.default_rng(7).standard_normal((4, 8)).astype(np.float32) * 50
    vectors = shorten(raw, dimensions)
    assert vectors.dtype == np.float32
    assert vectors.shape == (4, dimensions)
    assert vectors.flags.c_contiguous
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)
    prefix = raw[:, :dimensions]
    scaled = prefix / np.linalg.norm(prefix, axis=1, keepdims=True)
    np.testing.assert_allclose(vectors, scaled, atol=1e-6)


def test_rows_without_a_direction_are_found() -> None:
    raw = np.ones((6, 3), dtype=np.float32)
    raw[1, 2] = np.nan
    raw[2, 0] = np.inf
    raw[4] = 0.0
    raw[5] = 3e38
    assert find_unusable(raw) == [1, 2, 4, 5]
    assert find_unusable(np.ones((3, 2), dtype=np.float32)) == []
