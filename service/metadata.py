"""The table of fields: what is said of a memory besides its text and its place; pure.

A row here and a line in schema.surql are all that a field needs: it can be pushed, changed and
read over HTTP, is written and compared, and, with a LabelFilter, answers are narrowed by it in
both engines. What a field means to ranking is said where that ranks.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Final

from service.access.origins import Origin
from service.field_types import EndMoment, Kind, Label, Moment, Share, TrustTier, Type


@dataclass(frozen=True, slots=True)
class LabelFilter:
    """How answers are narrowed by a field of exact values, which indexes in RAM hold as codes.

    `name` is the filter's in requests; it takes one value, or `many`. Without a `default` it is
    not asked for. `variable` is its name in queries, where `name` is the database's own.
    """

    name: str
    description: str
    many: bool = False
    default: tuple[str, ...] | None = None
    variable: str = ""

    @property
    def parameter(self) -> str:
        """The bound variable of queries, without its dollar."""
        return self.variable or self.name


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One row of the table, beside name, type and default, which the dataclass has.

    `request` is the type of a value in requests, `unset` what they hold where they say nothing. A
    field can be pushed, unless it is `given` by the way in, and changed afterwards unless not
    `changes`; it is shown in every answer unless not `shown`. A re-scan of its document leaves one
    that is `kept` as it was set; one that `makes_version` counts as an update when it differs.
    """

    request: Any
    description: str | None
    unset: Any
    given: bool
    shown: bool
    kept: bool
    changes: bool
    makes_version: bool
    filter: LabelFilter | None


_STANDARD: Final = {
    "given": False, "shown": True, "kept": False, "changes": True, "makes_version": False,
}  # fmt: skip


def row(
    default: Any,
    request: Any,
    description: str | None = None,
    *,
    label_filter: LabelFilter | None = None,
    **values: Any,
) -> Any:
    """Return the default of a field with its row; `values` are the others of FieldRow."""
    told = FieldRow(
        request, description, filter=label_filter, **{"unset": default, **_STANDARD, **values}
    )
    return field(default=default, metadata={"row": told})


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """What every shape of a memory carries: pushed, drafted, stored and shown."""

    scope: str | None = row(
        None, Label | None, makes_version=True,
        label_filter=LabelFilter("scope", "Only memories with exactly this scope."),
    )  # fmt: skip
    session: str | None = row(
        None, Label | None, "Memories of one session follow each other.", changes=False,
        label_filter=LabelFilter(
            "session", "Only memories of this session.", variable="in_session"
        ),
    )  # fmt: skip
    # Whose words it has, and who sent them: see access/origins.py. No text and no request says so.
    origin: Origin = row(
        "agent", Origin, given=True, changes=False,
        label_filter=LabelFilter("origins", "Only memories of these origins.", many=True),
    )  # fmt: skip
    client: str | None = row(None, Label | None, given=True, changes=False)
    key: str | None = row(None, Label | None, given=True, changes=False, shown=False)
    # What screening did before it was stored, by field: kinds and patterns, never the text.
    screened: tuple[str, ...] = row((), tuple[str, ...], given=True, changes=False)
    importance: float = row(0.5, Share, kept=True)
    trust_tier: str = row(
        "trusted", TrustTier, "Unset: what follows from where the words come from.", unset=None,
        kept=True,
        label_filter=LabelFilter(
            "trust", "Only memories of these trust tiers.", many=True,
            default=("trusted", "untrusted"),
        ),
    )  # fmt: skip
    sensitivity: str = row("normal", Label, kept=True)
    pinned: bool = row(False, bool, "Kept as it is: never consolidated.", kept=True)
    valid_from: datetime | None = row(None, Moment | None, kept=True)
    valid_until: datetime | None = row(None, EndMoment | None, kept=True)


NEVER_HOLDS: Final = (
    "valid_from is later than valid_until, so it would hold at no time; send an earlier beginning "
    "or a later end"
)


def holds_never(memory: Any) -> bool:
    """Return whether a memory, or a request for one, ends before it begins."""
    begins, ends = memory.valid_from, memory.valid_until
    return begins is not None and ends is not None and bool(begins > ends)


FIELDS: Final[Mapping[str, FieldRow]] = {f.name: f.metadata["row"] for f in fields(Metadata)}
DEFAULTS: Final[Mapping[str, Any]] = {f.name: f.default for f in fields(Metadata)}
KEPT: Final = tuple(name for name, row in FIELDS.items() if row.kept)
SHOWN: Final = tuple(name for name, row in FIELDS.items() if row.shown)
MAKE_VERSION: Final = tuple(name for name, row in FIELDS.items() if row.makes_version)
# Cleared by null: those that may be without a value.
CLEARABLE: Final = frozenset(name for name, value in DEFAULTS.items() if value is None)

# What every memory has is filtered as well; the type of a value by the field's name.
LABEL_FILTERS: Final[Mapping[str, LabelFilter]] = {
    "kind": LabelFilter("kinds", "Only memories of one of these kinds.", many=True),
    "type": LabelFilter("types", "Only memories of one of these types.", many=True),
    **{name: row.filter for name, row in FIELDS.items() if row.filter},
}
_REQUEST_TYPES: Final[Mapping[str, Any]] = {"kind": Kind, "type": Type}


def metadata_of(memory: Metadata) -> dict[str, Any]:
    """Return the values of a memory's fields by name, to build another shape of it."""
    return {name: getattr(memory, name) for name in FIELDS}


def filter_type(name: str) -> Any:
    """Return the type of one value that the filter of a field takes in requests."""
    return _REQUEST_TYPES.get(name) or FIELDS[name].request
