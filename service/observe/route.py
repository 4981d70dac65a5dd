"""The door of /observe: deltas of transcripts come in, what is worth keeping is kept."""

from dataclasses import dataclass
from typing import Annotated, Any, Final, Self

from pydantic import Field, JsonValue, StringConstraints, model_validator

from service.access.caller import caller
from service.errors import QuotaFull
from service.field_types import WHOLE, Flag, Label, OwnAgent
from service.observe.observing import Delta, Observer
from service.projects.place import written_under
from service.projects.project_fields import InBody
from service.projects.switched_off import SwitchedOff, refuse_switched_off
from service.transcripts.reading import Client
from service.web.declared import problems
from service.web.fields import Strict, body_example, own_agent, ruled
from service.web.parts import TheDatabase, part
from service.web.room import Room

router = Room("continuity", prefix="/observe")

TheObserver = Annotated[Observer, part(Observer)]


_BOTH: Final[JsonValue] = {
    "required": ["entries", "text"],
    "properties": {"entries": {"type": "array"}, "text": {"type": "string"}},
}


class ObserveRequest(Strict):
    """A stretch of a transcript, as its program wrote it: never a path."""

    model_config = ruled(
        body_example(
            session="s-0142", client="generic",
            entries=[{"role": "user", "content": "From now on use tabs in Makefiles."}],
        ),
        anyOf=[
            {"required": ["entries"], "properties": {"entries": {"type": "array"}}},
            {"required": ["text"], "properties": {"text": {"type": "string"}}},
        ],
        **{"not": _BOTH},
    )  # fmt: skip

    session: Label
    client: Client = Field(description="Which program wrote it.")
    agent: OwnAgent = own_agent()
    project: InBody = None
    entries: Annotated[list[Any], Field(max_length=20_000)] | None = Field(
        None, description="Its lines, parsed. Messages of a hook are lines too."
    )
    text: Annotated[str, StringConstraints(max_length=20_000_000)] | None = Field(
        None, description="Its lines as they are. A last line without its end is left for later."
    )
    offset: Annotated[int, Field(ge=0, le=10**15), WHOLE] | None = Field(
        None,
        description="Where it begins: bytes of UTF-8 of the transcript, or entries. What was read "
        "before is passed over. Unset: where the last delta ended.",
    )
    final: Flag = Field(
        False, description="The session ends. Where nobody wrote a handoff, one is made."
    )

    @model_validator(mode="after")
    def _has_lines(self) -> Self:
        if self.entries is None and self.text is None:
            msg = "gives no lines: send `entries` or `text`"
            raise ValueError(msg)
        if self.entries is not None and self.text is not None:
            msg = "gives lines in two forms: send `entries` or `text`, not both"
            raise ValueError(msg)
        return self

    def delta(self) -> Delta:
        """Return the stretch."""
        return Delta(self.session, self.client, self.text, self.entries, self.offset, self.final)


@dataclass(frozen=True, slots=True)
class ObservedFields:
    """What came of a delta.

    `stored` memories are new or say more than before, `duplicates` were known; `ignored` counts
    lines that gave none, by why. The next delta begins at `offset`.
    """

    stored: int
    duplicates: int
    ignored: dict[str, int]
    offset: int
    memories: list[str]
    warnings: list[str]


@router.post("", operation_id="observe", responses=problems(QuotaFull, SwitchedOff))
async def post_observe(
    db: TheDatabase, observer: TheObserver, request: ObserveRequest
) -> ObservedFields:
    """Read on in a transcript, and keep what is worth it; no model is asked.

    Kept are a person's sentences that hold from now on, were decided or are true for long, as far
    as their words tell, and fixes: what was done between a command's failure and its passing.
    What this service gave, side chains, thoughts and bookkeeping are left out. The same lines give
    the same memories, in whatever pieces they come and however often.
    """
    async with written_under(db, request.agent, request.project) as where:
        await refuse_switched_off(db, request.agent, where.scope, request.session)
        done = await observer.observe(request.agent, where.scope, request.delta(), caller())
    return ObservedFields(
        done.stored, done.duplicates, done.ignored, done.offset, done.memories, done.warnings
    )
