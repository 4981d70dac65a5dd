"""What requests of /memories hold."""

from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Final, Self

from pydantic import Field, JsonValue, ValidationInfo, field_validator, model_validator

from service.access.caller import caller
from service.field_types import (
    WHOLE,
    Flag,
    Kind,
    MemoryText,
    Moment,
    OwnAgent,
    Question,
    Reference,
    Tags,
    Title,
    Type,
)
from service.memories.screening import Pushed
from service.memories.source_kinds import SourceKind
from service.metadata import CLEARABLE, FIELDS, KEPT, NEVER_HOLDS, holds_never
from service.projects.project_fields import InBody, identity_of
from service.projects.registry import Registered
from service.records import Filters
from service.web.cursors import CursorForm
from service.web.fields import (
    IN_A_QUERY,
    FilterFields,
    Strict,
    body_example,
    own_agent,
    ruled,
    unchanged,
    with_fields,
)

# When the last memory of a page occurred, and its id.
PLACE: Final = CursorForm("m", (datetime, str))


# A scope that is named stays where the project of that scope was moved.
_SAID: Final = frozenset({*KEPT, "scope"})
_BOTH_PLACES: Final[JsonValue] = {
    "required": ["scope", "project"],
    "properties": {name: {"not": {"type": "null"}} for name in ("scope", "project")},
}


@with_fields()
class StoreRequest(Strict):
    """A memory to store. The same `source_ref` and `source_kind` again update it in place."""

    model_config = ruled(
        body_example(
            text="We chose Qwen3-Embedding-4B: best retrieval in 12 GB.", kind="decision",
            tags=["embedding"], occurred_at="2026-02-13T10:00:00Z", source_ref="decision-7",
        ),
        **{"not": _BOTH_PLACES},
    )  # fmt: skip

    text: MemoryText
    title: Title | None = None
    kind: Kind = "note"
    type: Type | None = Field(None, description="Unset: what the kind implies.")
    agent: OwnAgent = own_agent()
    tags: Tags = Field([], description="Labels to filter and to find it by; they are concepts too.")
    concepts: Tags = Field(
        [], description="Names it is about, besides those in its text: found by them."
    )
    occurred_at: Moment | None = Field(None, description="Unset: now.")
    source_ref: Reference | None = Field(
        None,
        description="Your own id for this memory; the same one again updates it. Those of another "
        "`source_kind` are other memories.",
    )
    source_kind: SourceKind = "push"
    project: InBody = None

    @model_validator(mode="after")
    def _is_in_one_place(self) -> Self:
        if self.project is not None and getattr(self, "scope", None) is not None:
            msg = "a project has a scope of its own; send `scope` or `project`, not both"
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _holds_at_some_time(self) -> Self:
        if holds_never(self):
            raise ValueError(NEVER_HOLDS)
        return self

    async def pushed(self, projects: Registered) -> Pushed:
        """Return the memory this request describes, as its caller's; its project is known then.

        Raises Forbidden for a trust tier that only an admin gives and for a project of another's
        scope, InvalidRequest for a project that cannot be read.
        """
        values: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in self}
        identity = identity_of(values.pop("project"))
        if identity:
            values["scope"] = await projects.scope(self.agent, identity)
            caller().check_project(values["scope"])
        return Pushed.by(caller(), **values, said=self.model_fields_set & _SAID)


# By null in a change: without a title, it is told by how the text begins.
_CLEARED: Final = ("title", *(n for n, row in FIELDS.items() if row.changes and n in CLEARABLE))


class BatchRequest(Strict):
    """Up to 1,000 memories; each is checked by itself, and a refused one keeps out none."""

    model_config = body_example(
        memories=[
            {"text": "Is the gateway up?", "session": "s1", "occurred_at": "2026-02-13T10:00:00Z"},
            {"text": "It is, since nine.", "session": "s1", "occurred_at": "2026-02-13T10:00:05Z"},
        ]
    )

    memories: list[Annotated[StoreRequest | Any, Field(union_mode="left_to_right")]] = Field(
        min_length=1, max_length=1000, description="Memories as in POST /memories, at most 1,000."
    )


@with_fields(of_change=True)
class ChangeRequest(Strict):
    """The fields to change; those left out stay as they are, null clears those that take it."""

    model_config = body_example(importance=0.9, tags=["embedding", "settled"])

    text: MemoryText = unchanged()
    title: Title | None = unchanged()
    kind: Kind = unchanged()
    type: Type = unchanged()
    tags: Tags = unchanged()
    concepts: Tags = unchanged()
    occurred_at: Moment = unchanged()
    archived: bool = unchanged("true archives, false takes back out.")

    @field_validator("*", mode="before")
    @classmethod
    def _may_be_null(cls, value: object, told: ValidationInfo) -> object:
        if value is None and told.field_name not in _CLEARED:
            msg = f"cannot be cleared: leave it out to keep it. null clears {', '.join(_CLEARED)}"
            raise ValueError(msg)
        return value


class FeedbackRequest(Strict):
    """Whether a memory helped."""

    model_config = body_example(helpful=True)

    helpful: Flag | None = Field(
        description="Whether it helped: your key's vote, in place of its former one. null takes it "
        "back."
    )
    query: Question | None = Field(
        None,
        description="The question that the memory came up for. It is taken and not kept: a vote is "
        "on the memory, whatever is asked.",
    )


class ListParameters(FilterFields):
    """The filters of /search, and a page."""

    model_config = IN_A_QUERY

    include_ended: Flag = Field(False, description="Memories past their `valid_until` too.")
    limit: Annotated[int, Field(ge=1, le=1000), WHOLE] = Field(
        50, description="Memories a page, 1 to 1,000."
    )
    cursor: Annotated[str, Field(max_length=1000), *PLACE.type_rules()] | None = Field(
        None, description="`next_cursor` of the page before."
    )

    def filters(self, agents: tuple[str, ...]) -> Filters:
        """Return the filters for these readable agents."""
        return replace(super().filters(agents), with_ended=self.include_ended)
