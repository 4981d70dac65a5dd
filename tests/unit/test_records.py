"""Rows become memories at the border; filters become bound variables and a receipt."""

from datetime import UTC, datetime
from typing import Any

import pytest

from service.records import Filters, Memory, Source

_AT = datetime(2026, 2, 13, 9, 5, tzinfo=UTC)
_ROW: dict[str, Any] = {
    "id": "m1", "agent": "main", "kind": "note", "type": "semantic", "title": "T", "content": "C",
    "occurred_at": _AT, "created_at": _AT, "updated_at": _AT,
}  # fmt: skip


def test_a_row_keeps_every_field() -> None:
    row = _ROW | {
        "scope": "lab", "heading_path": ["A", "B"], "tags": ["gpu"], "session": "s",
        "source_kind": "document",
        "source": {"uri": "a.md", "line_start": 1, "line_end": 3, "ref": "r"},
        "importance": 0.9, "trust_tier": "untrusted", "sensitivity": "private",
        "helpful": 2, "unhelpful": 1,
        "archived_at": _AT, "valid_from": _AT, "valid_until": _AT,
    }  # fmt: skip
    memory = Memory.from_row(row)
    for name in row.keys() - {"source", "heading_path", "tags"}:
        assert getattr(memory, name) == row[name], name
    assert (memory.heading_path, memory.tags) == (("A", "B"), ("gpu",))
    assert memory.source == Source("a.md", 1, 3, "r")


def test_what_a_row_leaves_open_has_its_default() -> None:
    memory = Memory.from_row(
        _ROW | {"scope": None, "source": None, "tags": None, "importance": None}
    )
    assert memory == Memory(
        id="m1",
        agent="main",
        kind="note",
        type="semantic",
        title="T",
        content="C",
        occurred_at=_AT,
        created_at=_AT,
        updated_at=_AT,
    )
    assert (memory.importance, memory.source, memory.tags) == (0.5, Source(), ())


def test_columns_of_no_concern_are_left_out() -> None:
    row = _ROW | {"words": "x", "chain": "y", "source": {"uri": "a.md", "new": 1}}
    assert Memory.from_row(row).source == Source("a.md")


def test_a_row_without_its_content_is_refused() -> None:
    with pytest.raises(TypeError):
        Memory.from_row({name: _ROW[name] for name in set(_ROW) - {"content"}})


def test_filters_are_bound_under_the_names_the_database_allows() -> None:
    params = Filters(agents=("a", "b"), kinds=("note",), session="s", since=_AT).params()
    assert params["agents"] == ["a", "b"]
    assert params["kinds"] == ["note"]
    assert params["in_session"] == "s"
    assert params["since"] == _AT
    assert params["scope"] is None
    assert "session" not in params
    assert len(params) == len(Filters.__dataclass_fields__)


def test_the_receipt_tells_only_what_was_asked() -> None:
    assert Filters().given() == {}
    given = Filters(agents=("kit",), tags=("gpu",), include_archived=True).given()
    assert given == {"agents": ["kit"], "tags": ["gpu"], "include_archived": True}
