"""`observe`: reads on in a transcript, and keeps what is worth it."""

from typing import Annotated, Literal

from pydantic import Field

from service.mcp.offered.answer import Answer, with_warnings
from service.mcp.offered.arguments import PlacedArguments
from service.mcp.offered.asking import Asking


class ObserveArguments(PlacedArguments):
    """A stretch of a transcript, as its program wrote it."""

    session: Annotated[str, Field(description="The session that it is of.")]
    text: Annotated[str, Field(description="Its lines, JSON objects as the program wrote them.")]
    client: Annotated[
        Literal["claude-code", "codex", "openclaw", "generic"],
        Field(description="Which program wrote it."),
    ] = "generic"
    offset: Annotated[
        int | None,
        Field(ge=0, description="Where it begins, in bytes. Unset: where the last ended."),
    ] = None
    final: Annotated[bool, Field(description="The session ends.")] = False


class Observed(Answer):
    """What came of it; the next stretch begins at `offset`."""

    stored: int
    duplicates: int
    ignored: dict[str, int]
    offset: int
    memories: list[str]
    warnings: list[str]

    def as_text(self) -> str:
        """Return it in a sentence."""
        words = f"{self.stored} kept, {self.duplicates} known already; go on at {self.offset}."
        return with_warnings(words, self.warnings)


async def observe(asking: Asking, given: ObserveArguments) -> Observed:
    """Give a stretch of this session's transcript, for what is worth keeping of it.

    Kept are what a person said that holds from now on, and fixes that were proven.
    """
    said = given.model_dump(include={"text", "offset", "final"}, exclude_none=True)
    done = await asking.memory.observe(given.session, given.client, **said, **asking.where(given))
    return Observed.model_validate(dict(done))
