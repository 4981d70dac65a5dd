"""`memory_get`: one memory, or lines of a document, whole."""

from typing import Annotated, Self

from pydantic import BaseModel, Field, model_validator

from service.access.origins import doubt_of
from service.mcp.offered.answer import (
    MOST_TEXT_CHARACTERS,
    Answer,
    Place,
    headed,
    in_doubt,
    told_of,
)
from service.mcp.offered.arguments import Agent, Arguments, Key
from service.mcp.offered.asking import Asking


class GetArguments(Arguments):
    """A memory by its id, or a document by its path; and which lines of it."""

    id: Annotated[Key | None, Field(description="The id of a memory.")] = None
    path: Annotated[str | None, Field(description="A document: memory/2026-02-13.md.")] = None
    from_line: Annotated[int, Field(alias="from", ge=1, description="First line, from 1.")] = 1
    from_character: Annotated[int, Field(ge=0, description="Where in that line, from 0.")] = 0
    lines: Annotated[int | None, Field(ge=1, description="How many. Unset: as many as fit.")] = None
    agent: Agent = None

    @model_validator(mode="after")
    def _names_one(self) -> Self:
        if (self.id is None) == (self.path is None):
            msg = "give either `id` or `path`"
            raise ValueError(msg)
        return self


class Neighbour(BaseModel):
    """A memory by its title."""

    id: str
    title: str
    trust_tier: str


class MemoryFacts(BaseModel):
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

    Where a line was too long for once that is the same line, from `next_character` on. `memory` is
    there where one was asked for, `path` where a document was; of that `trust_tier` is the lowest.
    """

    text: str
    trust_tier: str
    from_line: int
    to_line: int
    total_lines: int
    next_from: int | None
    next_character: int
    path: str | None = None
    memory: MemoryFacts | None = None

    def as_text(self) -> str:
        """Return the words, under a line that says whose they are."""
        about = in_doubt(self.path or "", self.trust_tier)
        if self.memory:
            one = self.memory
            facts = (one.kind, one.occurred_at[:10], str(one.source), doubt_of(one.trust_tier))
            about = headed(one.title, facts)
        more = ""
        if self.next_from:
            within = f"character {self.next_character} of " if self.next_character else ""
            more = f"\n(more from {within}line {self.next_from} of {self.total_lines})"
        return f"{about}\n{self.text}{more}"


async def memory_get(asking: Asking, given: GetArguments) -> Read:
    """Read one memory whole by its id, or lines of a document by its path.

    Searches give both: the id, and the path with lines. Of a long text `next_from` is where it goes
    on, of a long line with `next_character`.
    """
    agent = asking.agent(given.agent)
    if given.path is not None:
        document = await asking.memory.read_document(
            given.path, from_line=given.from_line, lines=given.lines, agent=agent
        )
        tier, total = document["trust_tier"], document["total_lines"]
        return _piece(document["text"], given, total, path=document["path"], trust_tier=tier)
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
    whole = "\n".join(chosen)
    return _piece(whole, given, len(every), memory=facts, trust_tier=facts.trust_tier)


def _piece(
    text: str,
    given: GetArguments,
    total: int,
    *,
    trust_tier: str,
    path: str | None = None,
    memory: MemoryFacts | None = None,
) -> Read:
    """Return as many whole lines as fit; of one line that is too long, as much of it as fits."""
    line, end_of_line, others = text.partition("\n")
    line = line[given.from_character :]
    fits, cut_at = line + end_of_line + others, 0
    if len(line) > MOST_TEXT_CHARACTERS:
        fits, cut_at = line[:MOST_TEXT_CHARACTERS], given.from_character + MOST_TEXT_CHARACTERS
    elif len(fits) > MOST_TEXT_CHARACTERS:
        fits = fits[: fits.rfind("\n", 0, MOST_TEXT_CHARACTERS + 1)]
    # An empty line is one, too; behind the last there is none.
    count = fits.count("\n") + 1 if given.from_line <= total else 0
    last = given.from_line - 1 + count
    following = last if cut_at else last + 1
    return Read(
        text=fits, from_line=given.from_line, to_line=last, total_lines=total,
        next_from=following if following <= total else None, next_character=cut_at,
        trust_tier=trust_tier, path=path, memory=memory,
    )  # fmt: skip
