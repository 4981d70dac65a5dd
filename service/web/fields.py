"""The fields that requests and responses share: names, bounds, filters, memories as JSON."""

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
)

from service.records import Filters, Memory
from service.text.titles import MOST_SENT_TITLE_CHARACTERS, title_of

Kind = Literal[
    "daily_log", "note", "decision", "preference", "fact", "entity", "handoff", "observation",
    "summary",
]  # fmt: skip
Type = Literal["episodic", "semantic", "procedural"]
TrustTier = Literal["trusted", "untrusted", "quarantined"]

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def _encodable(text: str) -> str:
    """Refuse what cannot be stored: lone surrogates and NUL."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        msg = f"holds a lone surrogate at position {error.start}; send valid Unicode"
        raise ValueError(msg) from error
    if "\x00" in text:
        msg = "holds a NUL character; leave it out"
        raise ValueError(msg)
    return text


def _telling(text: str) -> str:
    if not text.strip():
        msg = "is empty; send at least one word"
        raise ValueError(msg)
    return text


def _written(value: object) -> object:
    """Refuse numbers: `since=2026` would be read as seconds since 1970, and widen the answer."""
    if not isinstance(value, str | datetime) or re.fullmatch(r"\s*[+-]?[\d.]+\s*", str(value)):
        msg = "is not a date; write 2026-02-13 or 2026-02-13T10:00:00Z"
        raise ValueError(msg)
    return value


def _in_utc(moment: datetime) -> datetime:
    """Return the moment in UTC; one without a zone is read as UTC."""
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    try:
        return zoned.astimezone(UTC)
    except OverflowError as error:
        msg = "lies outside of the years 1 to 9999"
        raise ValueError(msg) from error


def _end_of_day(value: object) -> object:
    """Read a bare date as its last moment, so that `until` a day includes that day."""
    if isinstance(value, str) and _DAY.fullmatch(value.strip()):
        with suppress(ValueError):
            return datetime.combine(date.fromisoformat(value.strip()), time.max, UTC)
    return value


Text = Annotated[str, AfterValidator(_encodable)]
Moment = Annotated[datetime, BeforeValidator(_written), AfterValidator(_in_utc)]
EndMoment = Annotated[
    datetime, BeforeValidator(_end_of_day), BeforeValidator(_written), AfterValidator(_in_utc)
]
AgentName = Annotated[
    str, StringConstraints(pattern=r"^[\w.:@/-]{1,100}$"), AfterValidator(_encodable)
]
Label = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(_encodable)]
Title = Annotated[
    str, StringConstraints(max_length=MOST_SENT_TITLE_CHARACTERS), AfterValidator(_encodable),
    Field(description="One line that names it. One longer than 200 characters is cut at a word, "
          "and the whole of it put in front of the text; up to 10,000 characters.",
          examples=["Which embedding model we chose, and why"]),
]  # fmt: skip
Reference = Annotated[
    str, StringConstraints(min_length=1, max_length=500), AfterValidator(_encodable)
]
Question = Annotated[
    str, StringConstraints(max_length=10_000), AfterValidator(_encodable), AfterValidator(_telling),
    Field(description="The question, in plain words; up to 10,000 characters.",
          examples=["what happened with the RTX 5070 Ti VRAM issue?"]),
]  # fmt: skip
MemoryText = Annotated[
    str, StringConstraints(max_length=200_000), AfterValidator(_encodable),
    AfterValidator(_telling),
    Field(description="What to remember; markdown is welcome. Up to 200,000 characters.",
          examples=["JR's code phrase is blue bunny."]),
]  # fmt: skip
Tags = Annotated[list[Label], Field(max_length=100)]


class Strict(BaseModel):
    """A request body: unknown fields are refused, lest a misspelt filter widens an answer."""

    model_config = ConfigDict(extra="forbid")


def body_example(**fields: JsonValue) -> ConfigDict:
    """Return the configuration of a request body that shows this example in /openapi.json."""
    return ConfigDict(json_schema_extra={"examples": [fields]})


class FilterFields(Strict):
    """Who asks, and what an answer must satisfy; every given filter must hold."""

    agent: AgentName = Field("main", description="The agent that asks; it sees its own memories.")
    read_from: list[AgentName] = Field(
        [], max_length=20, description="Other agents to read as well; each must have granted it."
    )
    scope: Label | None = Field(None, description="Only memories with exactly this scope.")
    kinds: list[Kind] | None = Field(None, description="Only memories of one of these kinds.")
    types: list[Type] | None = Field(None, description="Only memories of one of these types.")
    tags: Tags | None = Field(None, description="Only memories that carry all of these tags.")
    since: Moment | None = Field(None, description="Not older than this (occurred_at, inclusive).")
    until: EndMoment | None = Field(
        None, description="Not newer than this (occurred_at, inclusive); a bare date means its end."
    )
    as_of: Moment | None = Field(
        None, description="See memories as they held at this moment (valid_from, valid_until)."
    )
    session: Label | None = Field(None, description="Only memories of this session.")
    include_archived: bool = Field(False, description="Archived memories too.")
    trust: list[TrustTier] = Field(
        ["trusted", "untrusted"], min_length=1, description="Only memories of these trust tiers."
    )

    def filters(self, agents: tuple[str, ...]) -> Filters:
        """Return the filters for these readable agents."""
        return Filters(
            agents=agents, scope=self.scope, kinds=_some(self.kinds), types=_some(self.types),
            tags=_some(self.tags), since=self.since, until=self.until, as_of=self.as_of,
            session=self.session, include_archived=self.include_archived, trust=tuple(self.trust),
        )  # fmt: skip


def _some(values: Iterable[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(values)


@dataclass(frozen=True, slots=True)
class SourceFields:
    """Where a memory was read from: a document's lines, or a caller's own reference."""

    uri: str | None = None
    line_start: int | None = None
    line_end: int | None = None
    ref: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryFields:
    """A memory as every answer shows it; without `content` where only an index was asked for."""

    id: str
    title: str
    content: Annotated[str | None, Field(exclude_if=lambda content: content is None)]
    kind: str
    type: str
    agent: str
    scope: str | None
    tags: list[str]
    heading_path: list[str]
    session: str | None
    source: SourceFields
    occurred_at: datetime
    created_at: datetime
    updated_at: datetime
    importance: float
    trust_tier: str
    sensitivity: str
    pinned: bool
    archived_at: datetime | None
    consolidated_into: str | None
    valid_from: datetime | None
    valid_until: datetime | None


def memory_fields(memory: Memory, *, with_content: bool = True) -> dict[str, Any]:
    """Return the fields of MemoryFields for a memory."""
    source = memory.source
    return {
        **{n: getattr(memory, n) for n in _SAME},
        "title": title_of(memory.title, memory.content),
        "content": memory.content if with_content else None,
        "tags": list(memory.tags),
        "heading_path": list(memory.heading_path),
        "source": SourceFields(source.uri, source.line_start, source.line_end, source.ref),
    }


_SAME = tuple(
    set(MemoryFields.__dataclass_fields__) - {"content", "title", "tags", "heading_path", "source"}
)
