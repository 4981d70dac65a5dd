"""The door of /intents: "when this comes up, say that"."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Annotated, Final, Self

from fastapi import Response
from pydantic import Field, model_validator

from service.access.caller import caller
from service.errors import NotFound
from service.field_types import NUMBER, WHOLE, EndMoment, Moment, OwnAgent, Said
from service.intents.matching import USUAL, Intent
from service.intents.standing import TooManyIntents, forget, intend, list_intents
from service.projects.place import written_under
from service.projects.project_fields import InBody
from service.projects.switched_off import SwitchedOff, refuse_switched_off
from service.web.cursors import CursorForm
from service.web.declared import links, problems
from service.web.fields import PageLimit, QueryAgent, Strict, body_example, own_agent, ruled
from service.web.parts import TheDatabase, ThePipeline
from service.web.room import Room

router = Room("continuity", prefix="/intents")

# The id of the last intent of a page.
PLACE: Final = CursorForm("i", (str,))


class IntentNotFound(NotFound):
    """There is no standing intent with this id."""


class IntentRequest(Strict):
    """When any of these words come up, or it is due, say this."""

    model_config = ruled(
        body_example(when=["deploy", "release"], text="Ask Mina before any deployment."),
        anyOf=[
            {"required": ["when"], "properties": {"when": {"minItems": 1}}},
            {"required": ["due"], "properties": {"due": {"type": "string"}}},
        ],
    )

    when: list[Said] = Field(
        [], max_length=50,
        description="Words, or names of concepts: it is said when all words of one of these come "
        "up in a question. With `due`, from then on.",
    )  # fmt: skip
    text: Annotated[Said, Field(description="What to say.")]
    due: Moment | None = Field(None, description="A session that begins from then on is told.")
    cooldown_hours: Annotated[float, Field(ge=0, le=8760), NUMBER] = Field(
        24.0, description="For so long it is not said again."
    )
    fires: Annotated[int, Field(ge=1, le=1000), WHOLE] = Field(
        3, description="How often it is said at most."
    )
    expires_at: EndMoment | None = Field(
        None,
        description=f"When it ends. Unset: after {USUAL.days} days, with `due` from then on.",
    )
    agent: OwnAgent = own_agent()
    project: InBody = None

    @model_validator(mode="after")
    def _says_when(self) -> Self:
        if not self.when and self.due is None:
            msg = "says no time: give `when` or `due`"
            raise ValueError(msg)
        return self


@dataclass(frozen=True, slots=True)
class IntentFields:
    """A standing intent: `fired` counts how often it was said, last at `fired_at`."""

    id: str
    when: list[str]
    text: str
    scope: str | None
    due: datetime | None
    cooldown_hours: float
    fires: int
    fired: int
    fired_at: datetime | None
    expires_at: datetime | None
    created_at: datetime
    origin: str
    trust_tier: str
    warnings: list[str]

    @classmethod
    def of(cls, intent: Intent, warnings: tuple[str, ...] = ()) -> "IntentFields":
        """Return an intent as JSON fields."""
        values = {name: getattr(intent, name) for name in Intent.__dataclass_fields__}
        return cls(**{**values, "when": list(intent.when)}, warnings=list(warnings))


@dataclass(frozen=True, slots=True)
class IntentPage:
    """Intents in the order of their ids; `next_cursor` is null on the last page."""

    intents: list[IntentFields]
    next_cursor: str | None


@router.post(
    "", status_code=201, operation_id="intend",
    responses=problems(TooManyIntents, SwitchedOff) | links(201, forget_intent={"id": "/id"}),
)  # fmt: skip
async def post_intent(
    db: TheDatabase, pipeline: ThePipeline, request: IntentRequest
) -> IntentFields:
    """Have something said when it comes up: in searches of a session, and when it begins.

    Searches and recalls tell it in `intents` where `new_only` names the session that asks; the
    session context tells what is due. Words of an untrusted origin are never said. Sent again while
    it may still be said, it is the one that was stored.
    """
    now = datetime.now(UTC)
    async with written_under(db, request.agent, request.project) as where:
        await refuse_switched_off(db, request.agent, where.scope, None)
        wanted = Intent(
            id="", when=tuple(request.when), text=request.text, scope=where.scope, due=request.due,
            cooldown_hours=request.cooldown_hours, fires=request.fires, fired=0, fired_at=None,
            expires_at=request.expires_at, created_at=now, origin="agent", trust_tier="trusted",
        )  # fmt: skip
        async with pipeline.sending.of(request.agent):
            stored, warnings = await intend(db, pipeline.sanitiser, wanted, request.agent, caller())
    return IntentFields.of(replace(stored, scope=where.scope), warnings)


@router.get(
    "", operation_id="list_intents",
    responses=links(200, list_intents={"cursor": "/next_cursor"}),
)  # fmt: skip
async def get_intents(
    db: TheDatabase,
    agent: QueryAgent,
    limit: PageLimit = 50,
    cursor: Annotated[str, Field(max_length=1000), *PLACE.type_rules()] | None = None,
) -> IntentPage:
    """List an agent's standing intents, also those that are said no more."""
    after = PLACE.decode(cursor)[0] if cursor else ""
    found = await list_intents(db, agent, after, limit + 1)
    page = [IntentFields.of(one) for one in found[:limit]]
    return IntentPage(page, PLACE.encode(page[-1].id) if len(found) > limit else None)


@router.delete(
    "/{id}", status_code=204, operation_id="forget_intent", responses=problems(IntentNotFound)
)
async def delete_intent(db: TheDatabase, id: str, agent: QueryAgent) -> Response:  # noqa: A002 - the contract's name
    """Have something said no more."""
    if not await forget(db, agent, id):
        raise IntentNotFound(f"There is no intent {id!r}: GET /intents lists those there are.")
    return Response(status_code=204)
