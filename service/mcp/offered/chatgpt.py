"""`search` and `fetch`: the two tools by which ChatGPT reads a source, in its shape."""

from typing import Annotated, Final

from pydantic import BaseModel, Field

from service.access.origins import doubt_of
from service.mcp.offered.answer import MOST_TEXT_CHARACTERS, Answer, cut, heading_of, in_doubt
from service.mcp.offered.arguments import Arguments, Id
from service.mcp.offered.asking import Asking

_LIMIT: Final = 10


class SearchArguments(Arguments):
    """A question."""

    query: Annotated[str, Field(description="The question, in plain words.")]


class FetchArguments(Arguments):
    """A memory."""

    id: Id


class Result(BaseModel):
    """A memory by its headings; one in doubt says so."""

    id: str
    title: str
    url: str


class Results(Answer):
    """What answers, best first."""

    results: list[Result]

    def as_text(self) -> str:
        """Return it as JSON, which is what ChatGPT reads."""
        return self.model_dump_json()


class Document(Answer):
    """A memory whole."""

    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, str]

    def as_text(self) -> str:
        """Return it as JSON, which is what ChatGPT reads."""
        return self.model_dump_json()


async def search(asking: Asking, given: SearchArguments) -> Results:
    """Search the memory; `fetch` reads a result whole."""
    agent = asking.agent(None)
    answer = await asking.memory.search(
        given.query,
        limit=_LIMIT,
        detail="index",
        **({"agent": agent} if agent else {}),  # type: ignore[arg-type]
    )
    titles = [in_doubt(heading_of(hit, ""), hit["trust_tier"]) for hit in answer["results"]]
    return Results(
        results=[
            Result(id=hit["id"], title=title, url=_url(hit["id"]))
            for hit, title in zip(answer["results"], titles, strict=True)
        ]
    )


async def fetch(asking: Asking, given: FetchArguments) -> Document:
    """Read a memory whole."""
    memory = await asking.memory.read_memory(given.id, agent=asking.agent(None))
    text, is_cut = cut(memory["content"], MOST_TEXT_CHARACTERS)
    facts = {"kind": memory["kind"], "occurred_at": memory["occurred_at"]}
    if doubt := doubt_of(memory["trust_tier"]):
        facts["trust_tier"] = doubt
    if memory["source"]["uri"]:
        facts["path"] = memory["source"]["uri"]
    return Document(
        id=memory["id"], title=heading_of(memory, ""), text=text, url=_url(memory["id"]),
        metadata=facts | ({"cut": "true"} if is_cut else {}),
    )  # fmt: skip


def _url(key: str) -> str:
    return f"graph-memory://memories/{key}"
