"""`memory_store`: one memory more."""

from typing import Annotated, Literal

from pydantic import Field

from service.field_types import Kind
from service.mcp.offered.answer import Answer, with_warnings
from service.mcp.offered.arguments import PlacedArguments, Session
from service.mcp.offered.asking import Asking


class StoreArguments(PlacedArguments):
    """A text, and what is said of it."""

    text: Annotated[str, Field(description="What to remember, in whole sentences.")]
    title: Annotated[str | None, Field(description="A short title.")] = None
    kind: Annotated[Kind | None, Field(description="What it is. Unset: a note.")] = None
    tags: Annotated[list[str] | None, Field(description="Words to find it by.")] = None
    importance: Annotated[float | None, Field(ge=0, le=1, description="0 to 1.")] = None
    scope: Annotated[
        str | None, Field(description="A topic that it is for, in the place of a project.")
    ] = None
    occurred_at: Annotated[str | None, Field(description="When it was. Unset: now.")] = None
    session: Session = None


class Kept(Answer):
    """What became of it: `duplicate` where the same was known."""

    id: str
    action: Literal["created", "duplicate", "updated"]
    concepts: list[str]
    warnings: list[str]

    def as_text(self) -> str:
        """Return it in a sentence."""
        words = {"created": "Remembered", "duplicate": "Known already", "updated": "Updated"}
        return with_warnings(f"{words[self.action]}: id {self.id}.", self.warnings)


async def memory_store(asking: Asking, given: StoreArguments) -> Kept:
    """Remember something for later sessions: a fact, a decision, a preference, a solution.

    It can be found at once. No secrets: they are masked.
    """
    said = given.model_dump(exclude={"text", "agent"}, exclude_none=True)
    # A scope that is named is meant, whatever project the caller works in.
    said = asking.where(given) | said if given.scope is None else said
    if agent := asking.agent(given.agent):
        said["agent"] = agent
    stored = await asking.memory.store_memory(given.text, **said)
    return Kept(**stored)
