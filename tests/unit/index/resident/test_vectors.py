"""The vector index against plain numpy: nothing near is missed, whatever the mask and the data."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from service.index.resident.columns import Mask
from service.index.resident.vectors import Floats, UnfitVector, VectorIndex
from tests.effort import SEED, amount, examples

# Float16 keeps eleven bits of each number. Over a hundred dimensions and more what is rounded up
# and down evens out; over a few it may add up to this.
CLOSE, CLOSE_IN_FEW_DIMENSIONS = 2e-4, 5e-4

Rows = NDArray[np.int64]


def cosines(vectors: Floats, question: Floats) -> NDArray[np.float64]:
    """Return the cosine of each row with a question, in double precision."""
    wide = vectors.astype(np.float64)
    unit = wide / np.linalg.norm(wide, axis=1, keepdims=True)
    found: NDArray[np.float64] = unit @ (question / np.linalg.norm(question.astype(np.float64)))
    return found


def filled(vectors: Floats, scanned: int | None = None) -> VectorIndex:
    index = VectorIndex(vectors.shape[1], scanned)
    index.put(range(len(vectors)), vectors)
    return index


def check_nearest(
    index: VectorIndex, vectors: Floats, question: Floats, mask: Mask, limit: int
) -> None:
    """Compare one answer with all cosines: the same values, no better row left out."""
    rows, scores = index.search(question, mask, limit)
    true = cosines(vectors, question)
    close = CLOSE if index.dimensions >= 100 else CLOSE_IN_FEW_DIMENSIONS
    passing = np.flatnonzero(mask)
    assert len(set(rows.tolist())) == len(rows) >= min(limit, len(passing))
    assert set(rows.tolist()) <= set(passing.tolist())
    assert scores.tolist() == pytest.approx(true[rows].tolist(), abs=close)
    if len(passing):
        best = np.sort(true[passing])[::-1][:limit]
        mine = np.sort(scores)[::-1][: len(best)]
        assert mine.tolist() == pytest.approx(best.tolist(), abs=close)
        # Whatever is clearly better than the last one found is found itself.
        missed = np.setdiff1d(passing, rows)
        assert not len(missed) or true[missed].max() <= best[-1] + close


def random_vectors(seed: int, count: int, dimensions: int, spread: float) -> Floats:
    """Return vectors around a few centres; the smaller the spread, the closer they lie."""
    chance = np.random.default_rng(seed)
    centres = chance.normal(size=(5, dimensions))
    noise = chance.normal(size=(count, dimensions)) * spread
    lengths = chance.uniform(0.1, 20, size=(count, 1))
    vectors: Floats = ((centres[chance.integers(5, size=count)] + noise) * lengths).astype("f4")
    return vectors


@settings(max_examples=examples(60))
@given(
    seed=st.integers(0, 2**32 - 1),
    count=st.sampled_from([1, 2, 63, 999, 1000, 1001, 4097, 6000]),
    dimensions=st.sampled_from([1, 7, 16, 100, 384]),
    spread=st.sampled_from([1e-4, 0.01, 0.3, 3.0, 100.0]),
    share=st.sampled_from([0.0, 0.001, 0.05, 0.12, 0.13, 0.5, 0.99, 1.0]),
    limit=st.sampled_from([1, 5, 20, 100, 1200]),
)
def test_any_data_under_any_mask_gives_the_nearest(
    *, seed: int, count: int, dimensions: int, spread: float, share: float, limit: int
) -> None:
    vectors = random_vectors(seed, count, dimensions, spread)
    chance = np.random.default_rng(seed + 1)
    question = vectors[0] if seed % 2 else chance.normal(size=dimensions).astype(np.float32)
    mask = chance.random(count) < share
    check_nearest(filled(vectors), vectors, question, mask, limit)


@pytest.mark.soak
@pytest.mark.parametrize("share", [0.1, 0.2, 1.0])
@pytest.mark.parametrize("dimensions", [384, 1024])
def test_many_rows_and_hard_neighbours(share: float, dimensions: int) -> None:
    vectors = random_vectors(7 + SEED, amount("near rows"), dimensions, 0.02)
    mask = np.random.default_rng(3).random(len(vectors)) < share
    index = filled(vectors)
    for question in vectors[:5] + np.float32(0.01):
        check_nearest(index, vectors, question, mask, 20)


@pytest.mark.parametrize("cores", [1, 2, 3, 7])
def test_a_scan_that_cores_share_answers_as_one_alone(
    monkeypatch: pytest.MonkeyPatch, cores: int
) -> None:
    vectors = random_vectors(11, 4001, 64, 0.3)
    index, mask = filled(vectors), np.ones(4001, np.bool_)
    alone = index.candidates(vectors[7], mask, 10)
    monkeypatch.setattr("service.index.resident.scanning._SHARED_ROWS", 4001)
    monkeypatch.setattr("service.index.resident.scanning._CORES", cores)
    assert index.candidates(vectors[7], mask, 10).tolist() == alone.tolist()
    check_nearest(index, vectors, vectors[7], mask, 10)


def test_a_vector_that_comes_while_others_are_looked_for_harms_nobody() -> None:
    vectors = random_vectors(13, 70, 8, 0.3)
    index = filled(vectors[:64])

    class Interrupted(np.ndarray[Any, Any]):
        """A mask at whose first look another thread puts a vector, which takes more room."""

        def __getitem__(self, which: Any) -> Any:
            if index.count == 64:
                index.put([64], vectors[64:65])
            return super().__getitem__(which)

    mask = np.ones(500, np.bool_).view(Interrupted)
    assert {*index.candidates(vectors[0], mask, 5).tolist()} >= {*range(64)}


@settings(max_examples=examples(25))
@given(
    st.lists(
        st.tuples(st.lists(st.integers(0, 2999), min_size=1, max_size=400), st.booleans()),
        max_size=6,
    ),
    st.integers(0, 1000),
)
def test_rows_removed_and_written_again_answer_as_they_are_now(
    steps: list[tuple[list[int], bool]], seed: int
) -> None:
    chance = np.random.default_rng(seed)
    vectors = chance.normal(size=(3000, 24)).astype(np.float32)
    index, held = filled(vectors), np.ones(3000, np.bool_)
    for chosen, is_put in steps:
        rows = list(dict.fromkeys(chosen))
        if is_put:
            vectors[rows] = chance.normal(size=(len(rows), 24)).astype(np.float32) * 3
            index.put(rows, vectors[rows])
        else:
            for row in rows:
                index.remove(row)
        held[rows] = is_put
    assert index.count == held.sum()
    rows_now, _ = index.search(vectors[0], np.ones(3000, np.bool_), 3000)
    assert sorted(rows_now.tolist()) == np.flatnonzero(held).tolist()
    index.put([0], vectors[:1])
    held[0] = True
    only = index.search(vectors[0], np.ones(3000, np.bool_), 1)
    assert only[0].tolist() == [0]
    tight = held & (chance.random(3000) < 0.5)
    check_nearest(index, vectors, vectors[1], tight, 10)


@pytest.mark.parametrize("count", [10, 1003, 5001])
@pytest.mark.parametrize("share", [0.1, 1.0])
def test_all_that_tie_with_the_last_come_with_one_score(count: int, share: float) -> None:
    chance = np.random.default_rng(count)
    one = chance.normal(size=384).astype(np.float32)
    vectors = np.repeat(one[None], count, axis=0)
    vectors[count // 2 :: 7] = -one
    mask = chance.random(count) < share
    mask[0] = True
    rows, scores = filled(vectors).search(one + np.float32(0.3), mask, 2)
    same = mask.copy()
    same[count // 2 :: 7] = False
    assert sorted(rows.tolist()) == np.flatnonzero(same).tolist()
    assert len(set(scores.tolist())) == 1


def test_a_mask_may_be_shorter_or_longer_than_the_vectors() -> None:
    vectors = np.eye(4, dtype=np.float32)
    index = filled(vectors)
    for length in (0, 2, 4, 2000):
        rows, _ = index.search(vectors[1], np.ones(length, np.bool_), 10)
        assert sorted(rows.tolist()) == list(range(min(length, 4)))


def test_nothing_held_or_nothing_passing_gives_nothing() -> None:
    index = VectorIndex(8)
    question = np.ones(8, np.float32)
    assert index.search(question, np.zeros(0, np.bool_), 5)[0].tolist() == []
    index.put([], np.zeros((0, 8), np.float32))
    index.remove(5)
    assert (index.count, index.bytes) == (0, 0)
    index.put([2], question[None])
    assert index.search(question, np.zeros(3, np.bool_), 5)[0].tolist() == []


@pytest.mark.parametrize(
    "numbers",
    [
        [1.0] * 7,
        [1.0] * 9,
        [0.0] * 8,
        [float("nan")] + [1.0] * 7,
        [float("inf")] + [1.0] * 7,
        [-float("inf")] + [1.0] * 7,
    ],
)
def test_what_is_no_direction_is_refused(numbers: Sequence[float]) -> None:
    with pytest.raises(UnfitVector, match=r"dimensions|direction"):
        VectorIndex(8).check(np.array(numbers, np.float32))


@pytest.mark.parametrize("length", [1e-42, 1e-30, 1e-7, 1e7, 1e30, 3e38])
def test_a_direction_counts_however_long_it_is(length: float) -> None:
    direction = np.array([3, -4, 0, 0, 0, 0, 0, 0], np.float64) / 4
    vector = (direction * length).astype(np.float32)
    index = VectorIndex(8)
    index.check(vector)
    index.put([0, 1], np.stack([vector, np.eye(8, dtype=np.float32)[2]]))
    everything = np.ones(2, np.bool_)
    rows, scores = index.search(direction.astype(np.float32), everything, 1)
    # Where float32 itself keeps few bits of so short a vector, its direction is coarse.
    assert (rows.tolist(), scores[0]) == ([0], pytest.approx(1, abs=0.01))
    rows, scores = index.search(vector, everything, 1)
    assert (rows.tolist(), scores[0]) == ([0], pytest.approx(1, abs=0.01))


def nested_vectors(seed: int, count: int, dimensions: int, scanned: int) -> Floats:
    """Return vectors whose first dimensions carry most of the meaning, as MRL training gives."""
    chance = np.random.default_rng(seed)
    vectors = chance.normal(size=(count, dimensions)).astype(np.float32)
    vectors[:, scanned:] *= 0.15
    return vectors


@pytest.mark.soak
@pytest.mark.parametrize("share", [0.05, 0.3, 1.0])
def test_a_scan_of_the_first_dimensions_finds_the_true_best(share: float) -> None:
    vectors = nested_vectors(1 + SEED, amount("near rows"), 512, 128)
    index = filled(vectors, scanned=128)
    chance = np.random.default_rng(9)
    mask = chance.random(len(vectors)) < share
    for place in range(8):
        question = vectors[place] + chance.normal(size=512).astype(np.float32) * np.float32(0.1)
        check_nearest(index, vectors, question, mask, 10)


def test_a_scan_of_the_first_dimensions_takes_less_room() -> None:
    vectors = nested_vectors(2, 2000, 512, 128)
    narrow, wide = filled(vectors, scanned=128), filled(vectors)
    assert narrow.bytes < wide.bytes
    assert filled(vectors, scanned=4096).bytes == wide.bytes


def test_a_vector_without_its_first_dimensions_is_no_trouble() -> None:
    vectors = nested_vectors(3, 3000, 64, 8)
    vectors[:, :8] = 0
    index = filled(vectors, scanned=8)
    rows, scores = index.search(vectors[5], np.ones(3000, np.bool_), 1)
    assert 5 in rows.tolist()
    assert scores.max() == pytest.approx(1, abs=CLOSE_IN_FEW_DIMENSIONS)


def test_a_page_larger_than_one_step_of_rounding() -> None:
    vectors = random_vectors(11, 10_000, 16, 1.0)
    index = filled(vectors)
    for place in (0, 4095, 4096, 9999):
        check_nearest(index, vectors, vectors[place], np.ones(10_000, np.bool_), 3)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_a_first_look_by_sketches_finds_nearly_all(share: float) -> None:
    vectors = random_vectors(SEED, 20_000, 384, 2.0)
    index = filled(vectors)
    index.fewest_for_sketches = 1000
    index.finish()
    assert index._share is not None
    chance = np.random.default_rng(SEED + 1)
    mask = chance.uniform(size=len(vectors)) >= share
    found = []
    for _ in range(20):
        question = vectors[chance.integers(len(vectors))] + chance.normal(size=384).astype("f4")
        rows, scores = index.search(question, mask, 100)
        true = cosines(vectors, question)
        assert scores.tolist() == pytest.approx(true[rows].tolist(), abs=CLOSE)
        assert mask[rows].all()
        best = np.sort(true[mask])[::-1]
        assert np.sort(scores)[::-1][:10].tolist() == pytest.approx(best[:10].tolist(), abs=CLOSE)
        found.append((true[rows] >= best[99] - CLOSE).sum() / 100)
    assert np.mean(found) >= 0.99


@pytest.mark.parametrize("is_quick", [False, True])
def test_without_the_instruction_all_are_compared(
    monkeypatch: pytest.MonkeyPatch, *, is_quick: bool
) -> None:
    monkeypatch.setattr("service.index.resident.vectors.FEWEST", 1000)
    monkeypatch.setattr("service.index.resident.vectors.is_fast", lambda: is_quick)
    index = filled(random_vectors(SEED, 20_000, 128, 2.0))
    index.finish()
    assert (index._share is not None) == is_quick


def test_where_no_share_fits_all_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.index.resident.vectors.fitting_share", lambda *_: None)
    vectors = np.random.default_rng(SEED).uniform(0.1, 1.0, size=(3000, 64)).astype("f4")
    index = filled(vectors)
    index.fewest_for_sketches = 1000
    index.finish()
    everything = np.ones(len(vectors), np.bool_)
    # Few of many: of a hundred sketches would leave all of these.
    for question in vectors[:20]:
        check_nearest(index, vectors, question, everything, 10)


def test_sketches_follow_what_is_written_and_removed() -> None:
    vectors = random_vectors(SEED, 4000, 128, 1.0)
    index = filled(vectors)
    index.fewest_for_sketches = 1000
    index.finish()
    everything = np.ones(len(vectors), np.bool_)
    for row in (5, 17):
        index.remove(row)
        assert row not in index.search(vectors[row], everything, 20)[0]
    index.put([5], vectors[3999:])
    assert {5, 3999} <= set(index.search(vectors[3999], everything, 2)[0].tolist())
    restored = VectorIndex.restore(index.save())
    assert restored._share == index._share


def test_what_was_rounded_by_the_store_is_the_same_vector() -> None:
    vectors = random_vectors(SEED, 2000, 384, 1.0)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    first = filled(unit)
    again = filled(first._fine.astype(np.float32))
    assert (first._fine == again._fine).all()
    # What is a little longer than that is no unit vector.
    longer = filled(unit * np.float32(1.0004))
    assert np.linalg.norm(longer._fine.astype(np.float32), axis=1) == pytest.approx(1, abs=2e-4)


def test_an_index_that_grows_has_a_sketch_for_every_row_that_it_has_room_for() -> None:
    vectors = random_vectors(SEED, 12_000, 64, 2.0)
    index = VectorIndex(64)
    index.fewest_for_sketches, index._share = 1, 0.1
    for start in range(0, len(vectors), 500):
        rows = range(start, start + 500)
        index.put(rows, vectors[start : start + 500])
        # As a mask of the index is: with the room that its columns have.
        mask = np.ones(2 * len(vectors), np.bool_)
        assert start in index.search(vectors[start], mask, 5)[0]
    restored = VectorIndex.restore(index.save())
    restored.fewest_for_sketches = 1
    restored.put([len(vectors)], vectors[:1])
    assert len(vectors) in restored.search(vectors[0], mask, 5)[0]


def test_sketches_make_a_search_as_short_as_one_of_fewer_numbers() -> None:
    index = filled(random_vectors(SEED, 2000, 64, 2.0))
    assert index.numbers_compared >= 2000 * 64
    index.fewest_for_sketches = 1000
    assert index.numbers_compared >= 2000 * 64
    index._share = 0.02
    assert 500 * 64 < index.numbers_compared < 1000 * 64
