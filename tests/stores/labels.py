"""The exact values that a memory is filtered by, in the order of the table of fields."""

from service.metadata import DEFAULTS, LABEL_FILTERS

_LABELS = {**DEFAULTS, "kind": "note", "type": "semantic"}


def labels(**values: str | None) -> tuple[str | None, ...]:
    """Return the labels of a trusted note with these values."""
    assert values.keys() <= LABEL_FILTERS.keys()
    return tuple({**_LABELS, **values}[name] for name in LABEL_FILTERS)
