"""`memory_get`: one memory, or lines of a document, whole."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from service.mcp.offered.answer import MOST_TEXT_CHARACTERS, Answer, Place, headed, told_of
from service.mcp.offered.arguments import Agent, Arguments
from service.mcp.offered.asking import Asking


class GetArguments(Arguments):
    """A memory by its id, or a document by its path; and which lines of it."""

    id: Annotated[str | None, Field(description="The id of a memory.")] = None
    path: Annotated[str | None, Field(description="A document: memory/2026-02-13.md.")] = None
    from_line: Annotated[int, Field(alias="from", ge=1, description="First line, from 1.")] = 1
    lines: Annotated[int | None, Field(ge=1, description="How many. Unset: as many as fit.")] = None
    agent: Agent = None

    @model_validator(mode="after")
    def _names_one(self) -> Self:
        if (self.id is None) == (self.path is None):
            msg = "give `id` or `path`, not both"
            raise ValueError(msg)
        return self


class Neighbour(Answer):
    """A memory by its title."""

    id: str
    title: str


class MemoryFacts(Answer):
    """What is known of a memory beside its words; `title` is empty where these begin with it."""

    id: str
    title: str
    kind: str
    scope: str | None
    tags: list[str]
    occurred_at: str
    source: Place
    origin: str
    trust_tier: str
    concepts: list[str]
    before: list[Neighbour]
    after: list[Neighbour]


class Read(Answer):
    """Lines `from_line` to `to_line` of `total_lines`; with more, `next_from` is where they begin.

    `memory` is there where one was asked for, `path` where a document was.
    """

    text: str
    from_line: int
    to_line: int
    total_lines: int
    next_from: int | None
    path: str | None = None
    memory: MemoryFacts | None = None

    def as_text(self) -> str:
        """Return the words, under a line that says whose they are."""
        about = self.path or ""
        if self.memory:
            facts = (self.memory.kind, self.memory.occurred_at[:10], str(self.memory.source))
            about = headed(self.memory.title, facts)
        more = (
            f"\n(more from line {self.next_from} of {self.total_lines})" if self.next_from else ""
        )
        return f"{about}\n{self.text}{more}"


async def memory_get(asking: Asking, given: GetArguments) -> Read:
    """Read one memory whole by its id, or lines of a document by its path.

    Searches give both: the id, and the path with lines. Of a long text `next_from` is where it goes
    on.
    """
    agent = asking.agent(given.agent)
    if given.path is not None:
        document = await asking.memory.read_document(
            given.path, from_line=given.from_line, lines=given.lines, agent=agent
        )
        return _piece(document["text"], given, document["total_lines"], path=document["path"])
    memory = await asking.memory.read_memory(given.id or "", agent=agent)
    every = memory["content"].split("\n")
    first = given.from_line - 1
    chosen = every[first : None if given.lines is None else first + given.lines]
    facts = MemoryFacts(
        concepts=[one["name"] for one in memory["concepts"]],
        before=[Neighbour(**one) for one in memory["before"]],
        after=[Neighbour(**one) for one in memory["after"]],
        **told_of(memory, memory["content"]),
    )
    return _piece("\n".join(chosen), given, len(every), memory=facts)


def _piece(
    text: str,
    given: GetArguments,
    total: int,
    *,
    path: str | None = None,
    memory: MemoryFacts | None = None,
) -> Read:
    """Return as many whole lines as fit; of one line that is too long, its beginning."""
    fits = text
    if len(text) > MOST_TEXT_CHARACTERS:
        end = text.rfind("\n", 0, MOST_TEXT_CHARACTERS)
        fits = text[: end if end > 0 else MOST_TEXT_CHARACTERS]
    # An empty line is one, too; behind the last there is none.
    count = fits.count("\n") + 1 if given.from_line <= total else 0
    last = given.from_line - 1 + count
    return Read(
        text=fits, from_line=given.from_line, to_line=last, total_lines=total,
        next_from=last + 1 if last < total else None, path=path, memory=memory,
    )  # fmt: skip
