"""The fields that requests and responses share: filters, memories as JSON, the table of fields."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, make_dataclass
from datetime import datetime
from typing import Annotated, Any, Final, Self, TypeVar, get_type_hints

from fastapi import Query
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    ModelWrapValidatorHandler,
    ValidationError,
    create_model,
    model_validator,
)
from pydantic_core import PydanticCustomError

from service.access.caller import caller
from service.field_types import WHOLE, AgentName, Flag, Moment, OwnAgent, Tags, Until
from service.metadata import FIELDS, LABEL_FILTERS, SHOWN, LabelFilter, Metadata, filter_type
from service.records import Filters, Memory
from service.store.agents import readable_agents
from service.store.database import Database
from service.text.titles import title_of

Model = TypeVar("Model", bound=BaseModel)
Shape = TypeVar("Shape")


# Each fault that is told takes some 50 microseconds and a kilobyte: a body may have millions.
_MOST_FAULTS: Final = 100


class Strict(BaseModel):
    """A request body: types are JSON's own, and `"off"` is no boolean.

    Unknown fields are refused, lest a misspelt filter widens an answer.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="wrap")
    @classmethod
    def _tell_few(cls, value: object, validate: ModelWrapValidatorHandler[Self]) -> Self:
        """Tell each fault where there are few, else how many there are."""
        unknown = len(value) - len(cls.model_fields) if isinstance(value, dict) else 0
        if unknown > _MOST_FAULTS:
            raise _many_faults(unknown)
        try:
            return validate(value)
        except ValidationError as error:
            if (count := error.error_count()) > _MOST_FAULTS:
                raise _many_faults(count) from None
            raise


def _many_faults(count: int) -> PydanticCustomError:
    told = "has {count} faults, too many to tell: see GET /openapi.json for what is taken here"
    return PydanticCustomError("many_faults", told, {"count": count})


_UNSET: Final = "Unset: the key's own agent, without a key `main`."


def _agent() -> str:
    return caller().agent


def own_agent(description: str = "Whose memories.") -> Any:
    """Return the field of a request's agent: where none is named, the caller's own."""
    return Field(default_factory=_agent, description=f"{description} {_UNSET}")


# The same as a parameter of a query. As the default of a parameter, FastAPI would ask no validator.
QueryAgent = Annotated[
    OwnAgent, Query(default_factory=_agent, description=f"Whose memories. {_UNSET}")
]

# How many of a list come on one page.
PageLimit = Annotated[int, Field(ge=1, le=1000), WHOLE, Query()]

# Of a model whose values stand in a query: all of them are text, and read as what they are.
IN_A_QUERY: Final = ConfigDict(strict=False)


def body_example(**fields: JsonValue) -> ConfigDict:
    """Return the configuration of a request body that shows this example in /openapi.json."""
    return ConfigDict(json_schema_extra={"examples": [fields]})


def ruled(config: ConfigDict, **rules: JsonValue) -> ConfigDict:
    """Add what fields must satisfy together, which a validator of the model refuses."""
    extra: Any = config["json_schema_extra"]
    return ConfigDict(json_schema_extra={**extra, **rules})


def with_fields(*, of_change: bool = False) -> Callable[[type[Model]], type[Model]]:
    """Add the table of fields to a request; `of_change` those that change, each to be left out."""
    added: dict[str, Any]
    if of_change:
        added = {
            name: (row.request, unchanged(row.description))
            for name, row in FIELDS.items()
            if row.changes
        }
    else:
        added = {
            name: (
                row.request | None if row.unset is None else row.request,
                Field(row.unset, description=row.description),
            )
            for name, row in FIELDS.items()
            if not row.given
        }
    return lambda model: _extended(model, added)


def unchanged(description: str | None = None) -> Any:
    """Return a field of a change that may be left out, and of which null is no value."""
    return Field(default_factory=lambda: None, description=description)


def with_label_filters(model: type[Model]) -> type[Model]:
    """Add the filters by exact values to a request."""
    added = {told.name: _filter_field(name, told) for name, told in LABEL_FILTERS.items()}
    return _extended(model, added)


def _filter_field(name: str, told: LabelFilter) -> Any:
    kind = filter_type(name)
    if told.many:
        # Of no value nothing is left: whoever fills in what it need not send would find nothing.
        kind = Annotated[list[kind], Field(min_length=1)]  # type: ignore[valid-type]
    if told.default is not None:
        return (kind, Field(list(told.default), description=told.description))
    return (kind | None, Field(None, description=told.description))


def _extended(model: type[Model], added: dict[str, Any]) -> type[Model]:
    return create_model(
        model.__name__, __base__=model, __module__=model.__module__, __doc__=model.__doc__, **added
    )


def showing_fields(shape: type[Shape]) -> type[Shape]:
    """Add the table of fields to the shape of an answer; every one is always there."""
    hints = get_type_hints(Metadata)
    made: type[Shape] = make_dataclass(
        shape.__name__, [(name, hints[name]) for name in SHOWN], bases=(shape,),
        namespace={"__doc__": shape.__doc__}, frozen=True, slots=True,
    )  # fmt: skip
    made.__module__ = shape.__module__
    return made


@with_label_filters
class FilterFields(Strict):
    """Who asks, and what an answer must satisfy; every given filter must hold."""

    agent: OwnAgent = own_agent("The agent that asks; it sees its own memories.")
    read_from: list[AgentName] = Field(
        [], max_length=20, description="Other agents to read as well; each must have granted it."
    )
    tags: Tags | None = Field(None, description="Only memories that carry all of these tags.")
    since: Moment | None = Field(None, description="Not older than this (occurred_at, inclusive).")
    until: Until | None = Field(
        None, description="Not newer than this (occurred_at, inclusive); a bare date means its end."
    )
    as_of: Moment | None = Field(
        None, description="See memories as they held at this moment (valid_from, valid_until)."
    )
    include_archived: Flag = Field(False, description="Archived memories too.")

    @model_validator(mode="after")
    def _of_own_scope(self) -> Self:
        if caller().memory_scopes is not None:
            scope = caller().own_scope(getattr(self, "scope"))  # noqa: B009
            setattr(self, "scope", scope)  # noqa: B010 - of the table of fields
        return self

    async def readable(self, db: Database) -> tuple[str, ...]:
        """Return the agents to be read; raises AgentNotReadable.

        What was granted of one scope alone may be read where it is asked for.
        """
        scope = getattr(self, "scope")  # noqa: B009 - of the table of fields
        return await readable_agents(db, self.agent, self.read_from, scope)

    def filters(self, agents: tuple[str, ...]) -> Filters:
        """Return the filters for these readable agents."""
        labels: dict[str, Any] = {
            told.name: _some(value) if told.many else value
            for told in LABEL_FILTERS.values()
            for value in (getattr(self, told.name),)
        }
        return Filters(
            agents=agents, tags=_some(self.tags), since=self.since, until=self.until,
            as_of=self.as_of, include_archived=self.include_archived, **labels,
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


@showing_fields
@dataclass(frozen=True, slots=True)
class MemoryFields:
    """A memory as every answer shows it; without `content` where only an index was asked for."""

    id: str
    title: str
    content: Annotated[str | None, Field(exclude_if=lambda content: content is None)]
    kind: str
    type: str
    agent: str
    tags: list[str]
    heading_path: list[str]
    search_headings: Annotated[
        list[str],
        Field(
            description="What it is found by that stands in no text of it: the name of a file "
            "without a title, then deeper headings above a part of a split section, and the header "
            "row of the table that it begins amid.",
            examples=[["no-floating-promises", "ignoreVoid"]],
        ),
    ]
    source: SourceFields
    occurred_at: datetime
    created_at: datetime
    updated_at: datetime
    archived_at: datetime | None
    consolidated_into: str | None


def memory_fields(memory: Memory, *, with_content: bool = True) -> dict[str, Any]:
    """Return the fields of MemoryFields for a memory."""
    source = memory.source
    return {
        **{n: getattr(memory, n) for n in _SAME},
        "title": title_of(memory.title, memory.content),
        "content": memory.content if with_content else None,
        "tags": list(memory.tags),
        "heading_path": list(memory.heading_path),
        "search_headings": list(memory.search_headings),
        "source": SourceFields(source.uri, source.line_start, source.line_end, source.ref),
    }


_SAME = (
    "id", "kind", "type", "agent", "occurred_at", "created_at", "updated_at", "archived_at",
    "consolidated_into", *SHOWN,
)  # fmt: skip
