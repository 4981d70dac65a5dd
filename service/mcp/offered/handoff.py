"""`handoff_write` and `handoff_read`: what a session leaves to the next one."""

from typing import Annotated

from pydantic import Field

from service.access.origins import doubt_of
from service.mcp.offered.answer import (
    MOST_TEXT_CHARACTERS,
    Answer,
    cut,
    with_warnings,
)
from service.mcp.offered.arguments import PlacedArguments, Session
from service.mcp.offered.asking import Asking


class HandoffArguments(PlacedArguments):
    """What the next session should know."""

    text: Annotated[str, Field(description="What was done, what comes next.")]
    session: Session = None


class Left(Answer):
    """A handoff that was stored."""

    id: str
    scope: str | None
    warnings: list[str]

    def as_text(self) -> str:
        """Return it in a sentence."""
        return with_warnings(f"Left to the next session: id {self.id}.", self.warnings)


class LastHandoff(Answer):
    """The last handoff; all of it is null where there is none."""

    id: str | None
    text: str | None
    at: str | None
    session: str | None
    origin: str | None
    trust_tier: str | None

    def as_text(self) -> str:
        """Return its words."""
        if not self.text:
            return "No handoff was left."
        doubt = doubt_of(self.trust_tier)
        return f"Left at {self.at}{f' ({doubt})' if doubt else ''}:\n{self.text}"


async def handoff_write(asking: Asking, given: HandoffArguments) -> Left:
    """Leave a handoff to the next session of the project: what was done, what comes next."""
    session = {"session": given.session} if given.session else {}
    stored = await asking.memory.write_handoff(given.text, **session, **asking.where(given))
    return Left(id=stored["id"], scope=stored["scope"], warnings=stored["warnings"])


async def handoff_read(asking: Asking, given: PlacedArguments) -> LastHandoff:
    """Read what the last session of the project left."""
    told = await asking.memory.read_handoff(**asking.where_in_query(given))
    text, _ = cut(told["text"] or "", MOST_TEXT_CHARACTERS)
    facts = {name: told[name] for name in ("id", "at", "session", "origin", "trust_tier")}
    return LastHandoff(text=text or None, **facts)
