"""`memory_forget`: deletes one memory, once it is clear which."""

from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, Field, model_validator

from service.client.answers import Hit, Memory
from service.mcp.offered.answer import Answer, cut, in_doubt
from service.mcp.offered.arguments import Agent as AgentName
from service.mcp.offered.arguments import Arguments, Key
from service.mcp.offered.asking import Asking
from service.text.titles import is_beside

_CANDIDATES: Final = 5
_SNIPPET_CHARACTERS: Final = 160
_NONE_OF_THEM: Final = "None of them"


class ForgetArguments(Arguments):
    """The memory by its id, or words by which to look for it."""

    id: Annotated[Key | None, Field(description="The memory to delete.")] = None
    query: Annotated[
        str | None, Field(description="Or what it says: candidates are looked for first.")
    ] = None
    agent: AgentName = None

    @model_validator(mode="after")
    def _names_one(self) -> Self:
        if (self.id is None) == (self.query is None):
            msg = "give either `id` or `query`"
            raise ValueError(msg)
        return self


class Candidate(BaseModel):
    """A memory that may be meant."""

    id: str
    title: str
    text: str
    kind: str
    trust_tier: str

    def __str__(self) -> str:
        said = f"{self.title}: {self.text}" if is_beside(self.title, self.text) else self.text
        return in_doubt(said, self.trust_tier)


class Forgotten(Answer):
    """What became of it. `candidates`: nothing was deleted; call again with one of their ids."""

    action: Literal["forgotten", "kept", "candidates", "not_found"]
    id: str | None = None
    candidates: list[Candidate] = Field(default_factory=list)

    def as_text(self) -> str:
        """Return it in words."""
        if self.action == "candidates":
            listed = "\n".join(f"- id {one.id}: {one}" for one in self.candidates)
            return (
                f"Nothing was deleted. Call again with the `id` of the one that is meant:\n{listed}"
            )
        words = {
            "forgotten": f"Forgotten for good: id {self.id}.",
            "kept": "Nothing was deleted: it was not confirmed.",
            "not_found": "Nothing was deleted: no memory says this.",
        }
        return words[self.action]


async def memory_forget(asking: Asking, given: ForgetArguments) -> Forgotten:
    """Delete one memory for good, by its id; or look by words for those that may be meant.

    Where the client can ask the person, they say which, or that it is to be kept. By `query` alone
    nothing is deleted unless the person said so.
    """
    agent = asking.agent(given.agent)
    candidates = await _candidates(asking, given, agent)
    if not candidates:
        return Forgotten(action="not_found")
    if asking.choose is None:
        if given.id is None:
            return Forgotten(action="candidates", candidates=candidates)
        chosen = candidates[0]
    else:
        options = [*map(str, candidates), _NONE_OF_THEM if len(candidates) > 1 else "Keep it"]
        index = await asking.choose("Which memory is to be deleted for good?", options)
        if index is None or index >= len(candidates):
            return Forgotten(action="kept")
        chosen = candidates[index]
    await asking.memory.delete_memory(chosen.id, agent=agent)
    return Forgotten(action="forgotten", id=chosen.id)


async def _candidates(asking: Asking, given: ForgetArguments, agent: str | None) -> list[Candidate]:
    """Return what may be meant. By id it is one, and its words are read only to be shown."""
    if given.id is not None:
        if asking.choose is None:
            return [Candidate(id=given.id, title="", text="", kind="", trust_tier="trusted")]
        memory = await asking.memory.read_memory(given.id, agent=agent)
        return [_candidate(memory, memory["content"])]
    whose = {"agent": agent} if agent else {}
    answer = await asking.memory.search(
        given.query or "",
        limit=_CANDIDATES,
        detail="index",
        include_automatic=True,
        **whose,  # type: ignore[arg-type]
    )
    return [_candidate(hit, hit["snippet"]) for hit in answer["results"]]


def _candidate(memory: Memory | Hit, text: str) -> Candidate:
    short, _ = cut(" ".join(text.split()), _SNIPPET_CHARACTERS)
    return Candidate(
        id=memory["id"], title=memory["title"], text=short, kind=memory["kind"],
        trust_tier=memory["trust_tier"],
    )  # fmt: skip
