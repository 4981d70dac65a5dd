"""What an entry of a change feed tells; pure."""

from collections.abc import Mapping
from typing import Any

from service.records import RowChange
from service.store.plain import plain


def row_changes(entry: Mapping[str, Any]) -> tuple[RowChange, ...]:
    """Read one entry of the change feed; where it holds the original too, there are patches."""
    found = []
    for change in entry["changes"]:
        kind, row = next((k, v) for k, v in change.items() if isinstance(v, dict))
        if kind != "define_table":
            name = row["id"]
            values = None if kind == "delete" else plain(row)
            found.append(RowChange(name.table_name, plain(name.id), values))
    return tuple(found)


def tables_in(entry: Mapping[str, Any]) -> int:
    """Return how many tables an entry tells of: the limit of a look counts those."""
    items = (item for change in entry["changes"] for item in change.items())
    rows = [(kind, row) for kind, row in items if isinstance(row, dict)]
    return len({r["name"] if kind == "define_table" else r["id"].table_name for kind, r in rows})
