"""Clusters of near-duplicates, by the vectors of memories."""

import numpy as np

from service.consolidate.near_duplicates import find_leaders
from service.store.vector_forms import Matrix

NOBODY: Matrix = np.zeros((0, 3), np.float32)


def rows(*degrees: float) -> Matrix:
    """Return unit vectors at these angles in one plane."""
    angles = np.radians(np.array(degrees))
    return np.stack([np.cos(angles), np.sin(angles), 0 * angles], 1).astype(np.float32)


def test_more_than_three_make_a_cluster() -> None:
    assert find_leaders(list("abc"), rows(0, 1, 2), [], NOBODY) == {}
    assert find_leaders(list("abcd"), rows(0, 1, 2, 3), [], NOBODY) == dict.fromkeys("abcd", "a")


def test_near_is_a_cosine_of_85_hundredths() -> None:
    assert find_leaders(["x"], rows(31), ["old"], rows(0)) == {"x": "old"}
    assert find_leaders(["x"], rows(32.5), ["old"], rows(0)) == {}


def test_every_member_is_like_its_leader_and_no_chain_forms() -> None:
    # 31.8 degrees is a cosine of .85: each is like the next, the last not like the first.
    found = find_leaders(list("abcdefgh"), rows(*range(0, 160, 20)), [], NOBODY)
    assert found == {}
    steps = rows(0, 10, 20, 30, 40, 50, 60, 70)
    found = find_leaders(list("abcdefgh"), steps, [], NOBODY)
    assert found == dict.fromkeys("abcd", "a") | dict.fromkeys("efgh", "e")


def test_a_cluster_that_exists_grows_by_one() -> None:
    assert find_leaders(["x"], rows(5), ["old"], rows(0)) == {"x": "old"}
    assert find_leaders(["x"], rows(60), ["old"], rows(0)) == {}


def test_beside_a_cluster_that_exists_another_forms() -> None:
    found = find_leaders(list("abcdx"), rows(90, 91, 92, 93, 5), ["old"], rows(0))
    assert found == dict.fromkeys("abcd", "a") | {"x": "old"}


def test_the_nearest_leader_is_joined() -> None:
    assert find_leaders(["x"], rows(16), ["far", "near"], rows(0, 20)) == {"x": "near"}


def test_blocks_change_nothing() -> None:
    chance = np.random.default_rng(7)
    middles = chance.normal(size=(9, 16))
    vectors = np.repeat(middles, 300, 0) + chance.normal(scale=0.05, size=(2700, 16))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    order = chance.permutation(2700)
    keys = [f"{n // 300}-{n}" for n in order]
    found = find_leaders(keys, vectors[order].astype(np.float32), [], np.zeros((0, 16), np.float32))
    assert found.keys() == set(keys)
    assert all(key[0] == leader[0] for key, leader in found.items())
    assert len(set(found.values())) == 9


def test_a_leader_far_down_has_its_own_name() -> None:
    first, last = [f"a{n}" for n in range(600)], [f"b{n}" for n in range(4)]
    found = find_leaders([*first, *last], rows(*[0] * 600, *[90] * 4), [], NOBODY)
    assert found == dict.fromkeys(first, "a0") | dict.fromkeys(last, "b0")
