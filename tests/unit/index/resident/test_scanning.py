"""What a scan of vectors is made of: every number of 16 bits, and the k-th greatest."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.index.resident.scanning import kth_greatest, widened


def test_every_finite_half_is_the_same_number_in_32_bits() -> None:
    every = np.arange(2**16, dtype=np.uint16).view(np.float16)
    finite = every[np.isfinite(every)].reshape(2, -1)
    wide = widened(finite)
    assert wide.dtype == np.float32
    assert np.array_equal(wide, finite.astype(np.float32))
    assert np.array_equal(np.signbit(wide), np.signbit(finite))


@given(st.integers(0, 2**32), st.sampled_from([1, 2, 63, 64, 65, 640, 6401]), st.floats(0, 1))
def test_the_kth_greatest_is_found_as_by_sorting(seed: int, size: int, share: float) -> None:
    values = np.random.default_rng(seed).integers(-9, 9, size).astype(np.float32)
    k = 1 + int(share * (size - 1))
    assert kth_greatest(values, k) == np.sort(values)[-k]


@pytest.mark.parametrize("k", [1, 100])
def test_what_is_hidden_is_never_among_the_greatest(k: int) -> None:
    values = np.full(20_000, -np.inf, np.float32)
    values[::100] = np.arange(200)
    assert kth_greatest(values, k) == 200 - k
