"""Memories in the order of time, in arrays: against plain edges, walked step by step."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.index.resident.chains import Chains
from service.index.resident.facts import CorruptRow
from service.index.resident.ways import NOBODY
from tests.effort import examples

ROWS = 9
KEYS = [f"k{(7 * row) % ROWS}" for row in range(ROWS)]
ROW = st.integers(0, ROWS - 1)


def walked(edges: set[tuple[int, int]], visible: set[int], row: int, reach: int) -> list[int]:
    """Return what comes before a row, one step after the other, as the docstring has it."""
    way = [row]
    while len(way) <= reach:
        ends = [end for source, end in edges if source == way[-1] and end in visible]
        here = min(ends, key=KEYS.__getitem__, default=NOBODY)
        if here == NOBODY or here in way:
            break
        way.append(here)
    return [*way[1:], *[NOBODY] * (reach + 1 - len(way))]


@settings(max_examples=examples(100))
@given(
    st.lists(
        st.tuples(st.sampled_from(["put", "put", "put", "remove", "forget", "pack"]), ROW, ROW),
        max_size=30,
    ),
    st.sets(ROW),
    st.integers(1, 6),
)
def test_it_holds_and_walks_what_plain_edges_do(
    deeds: list[tuple[str, int, int]], visible: set[int], reach: int
) -> None:
    chains, edges = Chains(), set[tuple[int, int]]()
    mask = np.array([row in visible for row in range(ROWS)])
    rows = np.array(sorted(visible), np.intp)

    def assert_walks(found: Chains) -> None:
        back = {(target, source) for source, target in edges}
        before, after = found.around(rows, mask, KEYS, reach)
        expected = [[walked(way, visible, row, reach) for row in rows] for way in (edges, back)]
        assert [before.tolist(), after.tolist()] == expected

    for deed, source, target in deeds:
        if deed == "put":
            chains.put(source, target)
            edges.add((source, target))
        elif deed == "remove":
            chains.remove(source, target)
            edges.discard((source, target))
        elif deed == "forget":
            chains.remove_node(source)
            edges = {edge for edge in edges if source not in edge}
        else:
            chains.pack()
        # What was kept of the ways before is right after each change.
        assert_walks(chains)
    for held in (chains, Chains.restore(chains.save())):
        check_holds(held, edges)
        assert_walks(held)


def check_holds(chains: Chains, edges: set[tuple[int, int]]) -> None:
    """Check that chains hold these edges, asked in each way."""
    assert (set(chains), chains.count) == (edges, len(edges))
    # One row more than any edge has.
    rows = range(max((0, *(max(edge) for edge in edges))) + 100)
    before = [sorted(end for one, end in edges if one == row) for row in rows]
    after = [sorted(one for one, end in edges if end == row) for row in rows]
    assert [sorted(chains.ahead(row)) for row in rows] == before
    assert [sorted(chains.behind(row)) for row in rows] == after
    told = chains.beside(rows)
    assert [[sorted(ends) for ends in side] for side in told] == [before, after]


@pytest.mark.parametrize(
    "edges",
    [
        set(),
        {(0, 1)},
        {(1, 0)},
        {(0, 1), (0, 2), (3, 2), (4, 2)},
        {(70, 500)},
        {(500, 70), (500, 0)},
    ],
)
def test_what_is_saved_is_there_again_with_room_for_more(edges: set[tuple[int, int]]) -> None:
    chains = Chains()
    for source, target in edges:
        chains.put(source, target)
    check_holds(chains, edges)
    saved = chains.save()
    for name, rows in saved.by_row.items():
        saved.by_row[name] = np.append(rows, np.zeros(80, np.int32))
    check_holds(Chains.restore(saved), edges)


@pytest.mark.parametrize("reach", range(1, 8))
def test_a_long_way_is_walked_as_far_as_asked(reach: int) -> None:
    edges = {(row + 1, row) for row in range(ROWS - 1)}
    chains, rows, mask = Chains(), np.arange(ROWS), np.ones(ROWS, np.bool_)
    for source, target in edges:
        chains.put(source, target)
    back = {(target, source) for source, target in edges}
    for _ in range(2):
        before, after = chains.around(rows, mask, KEYS, reach)
        for ways, found in ((edges, before), (back, after)):
            assert found.tolist() == [
                walked(ways, {*range(ROWS)}, row, reach) for row in range(ROWS)
            ]
        chains.pack()


@pytest.mark.parametrize(
    "first",
    [
        [(0, 1)],
        [(0, 1), (2, 1)],
        [(0, 2), (2, 1), (3, 1)],
        [(2, 0), (0, 1)],
        [(5, 6), (6, 0), (0, 7)],
        [(2, 1), (3, 1), (5, 6), (5, 7)],
    ],
)
def test_what_a_new_edge_lengthens_is_walked_anew(first: list[tuple[int, int]]) -> None:
    chains, rows = Chains(), np.arange(ROWS)
    for source, target in first:
        chains.put(source, target)
    chains.pack()
    chains.put(1, 5)
    before, after = chains.around(rows, np.ones(ROWS, np.bool_), KEYS, 5)
    edges = {*first, (1, 5)}
    back = {(target, source) for source, target in edges}
    for ways, found in ((edges, before), (back, after)):
        assert found.tolist() == [walked(ways, {*range(ROWS)}, row, 5) for row in range(ROWS)]


def test_a_row_that_came_last_is_walked_from() -> None:
    chains, mask = Chains(), np.ones(501, np.bool_)
    chains.put(500, 70)
    before, after = chains.around(np.array([500]), mask, ["k"] * 501, 2)
    assert (before.tolist(), after.tolist()) == ([[70, NOBODY]], [[NOBODY, NOBODY]])


def test_a_weight_that_is_none_is_refused() -> None:
    with pytest.raises(CorruptRow):
        Chains().put(0, 1, "much")  # type: ignore[arg-type]
