"""Whom changes concern: nobody who would be changed by them is left out."""

from typing import Any

import pytest

from service.index.resident.agent_index import AgentIndex
from service.index.resident.concerned import named_in
from service.records import RowChange


def index_with(*keys: str) -> AgentIndex:
    """Return the index of the agent `a`, which knows these memories."""
    index = AgentIndex("a")
    for key in keys:
        index.put_ends("follows", key, [key])
    return index


@pytest.mark.parametrize(
    ("table", "key", "row"),
    [
        ("memory", "new", {"agent": "a"}),
        ("memory", "m", None),
        ("memory", "m", {"agent": "b"}),
        ("embedding", "m", {"vector": []}),
        ("embedding", "m", None),
        ("concept", ["a", "bell"], None),
        ("concept", ["a"], {"name": "bell"}),
        ("references", "m", None),
        ("references", "m", {"concepts": [["a", "bell"]]}),
        ("follows", "m", None),
        ("follows", "m", {"earlier": ["n"]}),
        ("related_to", ["a", "bell", "kettle"], None),
        ("is_a", "by hand", {"in": ["a", "bell"], "out": ["a", "thing"]}),
    ],
)
def test_a_change_of_ones_own(table: str, key: Any, row: dict[str, Any] | None) -> None:
    assert named_in([RowChange(table, key, row)]).concerns(index_with("m"))


@pytest.mark.parametrize(
    ("table", "key", "row"),
    [
        ("memory", "new", {"agent": "b"}),
        ("memory", "other", None),
        ("embedding", "other", {"vector": []}),
        ("concept", ["b", "bell"], None),
        ("references", "other", {"concepts": [["b", "bell"]]}),
        ("follows", "other", {"earlier": ["another"]}),
        ("related_to", ["b", "bell", "kettle"], None),
    ],
)
def test_a_change_of_somebody_else(table: str, key: Any, row: dict[str, Any] | None) -> None:
    assert not named_in([RowChange(table, key, row)]).concerns(index_with("m"))


def test_an_index_with_strange_rows_sees_everything() -> None:
    strange = named_in([RowChange("is_a", 7, None)])
    index = index_with()
    assert not strange.concerns(index)
    index.strange_edges["is_a", "7"] = ("bell", "thing")
    assert strange.concerns(index)
    index.strange_edges.clear()
    index.corrupt.add(("memory", "7"))
    assert strange.concerns(index)
