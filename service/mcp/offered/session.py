"""`session_context`: what a session that begins should know."""

from typing import Annotated, Literal

from pydantic import Field

from service.client.sessions import why_empty
from service.mcp.offered.answer import Answer
from service.mcp.offered.arguments import PlacedArguments, Session
from service.mcp.offered.asking import Asking


class SessionArguments(PlacedArguments):
    """Which session, in which project."""

    session: Session = None
    source: Annotated[
        Literal["startup", "resume", "clear", "compact"],
        Field(description="Why it is asked; `resume`: only what it was not given yet."),
    ] = "startup"
    max_chars: Annotated[int, Field(ge=0, le=20_000, description="Most characters.")] = 9_500


class Context(Answer):
    """What the session should know, as markdown; where that is empty `why_empty` says why."""

    text: str
    sections: list[str]
    tokens: int
    scope: str | None
    why_empty: str | None

    def as_text(self) -> str:
        """Return the text."""
        return self.text or self.why_empty or ""


async def session_context(asking: Asking, given: SessionArguments) -> Context:
    """Tell what a session should know when it begins: rules, handoff, focus, decisions.

    Call it once, before the first answer.
    """
    said = given.model_dump(include={"source", "max_chars", "session"}, exclude_none=True)
    told = await asking.memory.session_context(**said, **asking.where(given))
    return Context(
        text=told["text"] or "",
        sections=[one["name"] for one in told["sections"]],
        tokens=told["tokens"],
        scope=told["receipt"]["scope"],
        why_empty=None if told["text"] else why_empty(told),
    )
