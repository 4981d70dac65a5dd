"""The first look at many vectors: the right sums, rows in their places, most of what is near."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.index.resident import sketches
from service.index.resident.columns import grown
from service.index.resident.sketches import (
    BLOCK,
    Bytes,
    Floats,
    Rows,
    blocks_of,
    empty_sketches,
    fitting_share,
    is_fast,
    nearest_by_sketches,
    put_sketches,
    sums_of,
)


def put(rows: list[int], vectors: Floats) -> Bytes:
    held = grown(empty_sketches(vectors.shape[1]), blocks_of(max(rows) + 1))
    put_sketches(held, np.array(rows), vectors)
    return held


@pytest.mark.parametrize("is_shared", [False, True])
@pytest.mark.parametrize("way", ["quick", "plain", "not compiled"])
@given(
    seed=st.integers(0, 2**32),
    blocks=st.sampled_from([1, 2, 33]),
    size=st.sampled_from([1, 2, 96, 257]),
    greatest=st.sampled_from([1, 127]),
)
def test_every_way_adds_up_the_same(
    *, way: str, is_shared: bool, seed: int, blocks: int, size: int, greatest: int
) -> None:
    compiled = sketches.sketch_sums
    if way == "quick" and not is_fast():
        pytest.skip("NOT TRIED: no C compiler, or a processor without AVX2 and NEON")
    if way == "plain" and compiled is None:
        pytest.skip("NOT TRIED: no C compiler when this was installed")
    chance = np.random.default_rng(seed)
    held = chance.integers(0, 256, (blocks, size, BLOCK)).astype(np.uint8)
    table = chance.integers(0, greatest + 1, (size, 2, 16)).astype(np.uint8)
    places = np.arange(size)[None, :, None]
    sums = (table[places, 0, held & 15].astype(int) + table[places, 1, held >> 4]).sum(axis=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sketches, "_SHARED_BLOCKS", 0 if is_shared else 2**20)
        if way == "plain" and compiled:
            told = np.empty((blocks, BLOCK), np.uint16)
            compiled.add_up(held, table, told, plainly=True)
        else:
            if way == "not compiled":
                patch.setattr(sketches, "sketch_sums", None)
            told = sums_of(table, held)
    assert told.reshape(-1).tolist() == sums.reshape(-1).tolist()


def test_arrays_that_do_not_fit_are_refused() -> None:
    compiled = sketches.sketch_sums
    if compiled is None:
        pytest.skip("NOT TRIED: no C compiler when this was installed")
    held, table = np.zeros((2, 3, BLOCK), np.uint8), np.zeros((3, 2, 16), np.uint8)
    for wrong in (table[:2], table[:, :1].copy(), table[..., :15].copy()):
        with pytest.raises(ValueError, match=r"in place of|Blocks"):
            compiled.add_up(held, wrong, np.empty((2, BLOCK), np.uint16))
    for sums in (np.empty((1, BLOCK), np.uint16), np.empty((2, 16), np.uint16)):
        with pytest.raises(ValueError, match=r"in place of|Blocks"):
            compiled.add_up(held, table, sums)


@given(st.integers(0, 2**32), st.integers(1, 40), st.sampled_from([1, 3, 4, 5, 64, 385]))
def test_a_row_alone_has_the_sketch_that_it_has_among_others(
    seed: int, count: int, dimensions: int
) -> None:
    chance = np.random.default_rng(seed)
    vectors = chance.standard_normal((count, dimensions)).astype(np.float32)
    rows = chance.permutation(100)[:count].tolist()
    together = put(rows, vectors)
    for row, vector in zip(rows, vectors, strict=True):
        # Its length makes no difference.
        alone = put([row], vector[None] * np.float32(3.0))
        block, place = divmod(row, BLOCK)
        assert (together[block, :, place] == alone[block, :, place]).all()


@pytest.mark.parametrize("dimensions", [64, 384, 2560])
def test_the_order_by_sketches_is_nearly_that_of_the_cosines(dimensions: int) -> None:
    chance = np.random.default_rng(dimensions)
    vectors = chance.standard_normal((2000, dimensions)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    held, wanted = put(list(range(2000)), vectors), chance.random(2000) < 0.7
    found = []
    for _ in range(20):
        question = chance.standard_normal(dimensions).astype(np.float32)
        rows = nearest_by_sketches(question, held, wanted, 300)
        assert (rows[1:] > rows[:-1]).all()
        assert wanted[rows].all()
        # The border is found by eighty of them: a fourth more or less is chance.
        assert 100 < len(rows) < 600
        best = np.argsort(-np.where(wanted, vectors @ question, -np.inf))[:100]
        found.append(np.isin(best, rows).mean())
    assert np.mean(found) > 0.97


@pytest.mark.parametrize("turn", [2, 3, 4, 16])
def test_rows_that_come_in_turns_are_all_asked_where_the_border_is(turn: int) -> None:
    chance = np.random.default_rng(turn)
    sides = chance.standard_normal((turn, 64)) * 2
    vectors = sides[np.arange(8000) % turn] + chance.standard_normal((8000, 64))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    held, wanted = put(list(range(8000)), vectors), np.ones(8000, np.bool_)
    for side in range(turn):
        rows = nearest_by_sketches(vectors[side], held, wanted, 400)
        assert 200 < len(rows) < 800


def test_fewer_than_are_asked_for_are_all_that_are_wanted() -> None:
    vectors = np.random.default_rng(1).standard_normal((90, 8)).astype(np.float32)
    wanted = np.arange(77) % 3 == 0
    rows = nearest_by_sketches(vectors[0], put(list(range(90)), vectors), wanted, 500)
    assert rows.tolist() == np.flatnonzero(wanted).tolist()
    nothing = np.zeros(77, np.bool_)
    assert not len(nearest_by_sketches(vectors[0], put([0], vectors[:1]), nothing[:1], 500))


def test_a_question_of_zeros_leaves_all() -> None:
    vectors = np.random.default_rng(1).standard_normal((90, 8)).astype(np.float32)
    held, zeros = put(list(range(90)), vectors), np.zeros(8, np.float32)
    assert len(nearest_by_sketches(zeros, held, np.ones(90, np.bool_), 8)) == 90


@pytest.mark.parametrize(("found", "share"), [(0.9, None), (0.999, 0.05), (1.0, 0.01)])
def test_the_least_share_that_loses_next_to_nothing_is_taken(
    found: float, share: float | None
) -> None:
    chance = np.random.default_rng(1)

    def agreeing(_: int, most: int) -> Rows:
        # Less than a twentieth finds less, but where all is found.
        less = 0.005 if most < 5000 and found < 1 else 0.0
        return np.flatnonzero(chance.random(100) < found - less)

    assert fitting_share(np.arange(100_000), agreeing, lambda _, limit: np.arange(limit)) == share
