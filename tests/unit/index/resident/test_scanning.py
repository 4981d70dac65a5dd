"""What a scan of vectors is made of: every number of 16 bits, the greatest, the nearest."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.index.resident import scanning
from service.index.resident.scanning import (
    half_dots,
    halved,
    kth_greatest,
    nearest_rows,
    widened,
)


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


@pytest.mark.parametrize("is_shared", [False, True])
@pytest.mark.parametrize("is_compiled", [False, True])
@given(
    seed=st.integers(0, 2**32),
    size=st.sampled_from([1, 40, 1001]),
    most=st.sampled_from([1, 2, 7, 40]),
    slack=st.sampled_from([0.0, 50.0, 1e9]),
    share=st.sampled_from([0.1, 0.9, 1.0]),
)
def test_the_nearest_rows_of_int8_are_those_of_exact_sums(
    *,
    is_compiled: bool,
    is_shared: bool,
    seed: int,
    size: int,
    most: int,
    slack: float,
    share: float,
) -> None:
    if is_compiled and scanning.row_dots is None:
        pytest.skip("NOT TRIED: no C compiler when this was installed")
    chance = np.random.default_rng(seed)
    query, rows = (chance.integers(-9, 10, shape).astype(np.int8) for shape in (385, (size, 385)))
    scales = chance.choice(np.array([0.25, 0.5, 1], np.float32), size)
    wanted = chance.random(size) < share
    looked_at = np.flatnonzero(wanted)
    near = (rows.astype(np.int64) @ query.astype(np.int64)) * scales
    least = np.sort(near[looked_at])[-most] - slack if len(looked_at) > most else -np.inf
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanning, "_SHARED_ROWS", 0 if is_shared else 2**20)
        if not is_compiled:
            patch.setattr(scanning, "row_dots", None)
        found = nearest_rows(query, rows, scales, looked_at, most, slack)
    assert found.tolist() == looked_at[near[looked_at] >= least].tolist()


@pytest.mark.skipif(scanning.row_dots is None, reason="NOT TRIED: no C compiler")
@pytest.mark.parametrize("wanted", [[-1, 0], [0, 3]])
def test_a_row_that_is_not_there_is_refused(wanted: list[int]) -> None:
    rows, query, scales = np.ones((3, 8), np.int8), np.ones(8, np.int8), np.ones(3, np.float32)
    with pytest.raises(IndexError):
        nearest_rows(query, rows, scales, np.array(wanted, np.intp), 1, 0.0)


@given(st.integers(0, 2**32), st.sampled_from([1, 2, 3, 16, 100, 384, 1025]))
def test_halves_are_multiplied_to_1e_7_and_equal_rows_alike(seed: int, dimensions: int) -> None:
    chance = np.random.default_rng(seed)
    rows = chance.standard_normal((67, dimensions)).astype(np.float32)
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float16)
    rows[[9, 40, 66]] = rows[0]
    vector = chance.standard_normal(dimensions).astype(np.float32)
    vector /= np.linalg.norm(vector)
    dots = half_dots(rows, halved(vector))
    assert dots == pytest.approx(rows.astype(np.float64) @ vector.astype(np.float64), abs=3e-7)
    assert len({*dots[[0, 9, 40, 66]].tolist()}) == 1
    assert half_dots(rows[:3], halved(vector)).tolist() == dots[:3].tolist()
