"""`decision_log` and `decision_list`: what was decided."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from service.access.origins import doubt_of
from service.mcp.offered.answer import (
    MOST_ITEM_CHARACTERS,
    Answer,
    beside,
    cut,
    with_warnings,
)
from service.mcp.offered.arguments import PlacedArguments, Session
from service.mcp.offered.asking import Asking


class DecisionArguments(PlacedArguments):
    """A decision, and the one that it replaces."""

    text: Annotated[str, Field(description="What was decided, and why.")]
    title: Annotated[str | None, Field(description="A short title.")] = None
    tags: Annotated[list[str] | None, Field(description="Words to find it by.")] = None
    supersedes: Annotated[str | None, Field(description="The id of the one it replaces.")] = None
    session: Session = None


class DecisionsArguments(PlacedArguments):
    """Which decisions."""

    tag: Annotated[str | None, Field(description="Only with this tag.")] = None
    since: Annotated[str | None, Field(description="Not older: 2026-02-13.")] = None
    last: Annotated[int, Field(ge=1, le=50, description="Most to return.")] = 10


class Logged(Answer):
    """What became of a decision."""

    id: str
    action: Literal["created", "duplicate", "updated"]
    supersedes: str | None
    warnings: list[str]

    def as_text(self) -> str:
        """Return it in a sentence."""
        return with_warnings(f"Decision {self.action}: id {self.id}.", self.warnings)


class Decision(BaseModel):
    """A decision; `superseded_by` are the ids of those that took its place.

    `title` is empty where its text begins with it.
    """

    id: str
    title: str
    text: str
    at: str
    tags: list[str]
    origin: str
    trust_tier: str
    superseded_by: list[str]

    def __str__(self) -> str:
        end = "holds no longer" if self.superseded_by else ""
        told = ", ".join(filter(None, (end, doubt_of(self.trust_tier))))
        return f"- {self.at[:10]}{f' ({told})' if told else ''} id {self.id}: {self.text}"


class Decisions(Answer):
    """Decisions, the newest first."""

    decisions: list[Decision]

    def as_text(self) -> str:
        """Return a line for each."""
        return "\n".join(map(str, self.decisions)) or "Nothing was decided."


async def decision_log(asking: Asking, given: DecisionArguments) -> Logged:
    """Log a decision with its reason; the one that it supersedes holds no longer."""
    said = given.model_dump(exclude={"text", "agent", "project"}, exclude_none=True)
    logged = await asking.memory.log_decision(given.text, **said, **asking.where(given))
    return Logged.model_validate(dict(logged))


async def decision_list(asking: Asking, given: DecisionsArguments) -> Decisions:
    """List what was decided, the newest first, also what holds no longer."""
    page = await asking.memory.list_decisions(
        tag=given.tag, since=given.since, last=given.last, **asking.where_in_query(given)
    )
    return Decisions(
        decisions=[
            Decision(
                id=one["id"], title=beside(one["title"], one["text"]),
                text=cut(one["text"], MOST_ITEM_CHARACTERS)[0],
                at=one["at"], tags=one["tags"], origin=one["origin"],
                trust_tier=one["trust_tier"], superseded_by=one["superseded_by"],
            )
            for one in page["decisions"]
        ]
    )  # fmt: skip
