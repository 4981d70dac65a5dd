"""`memory_recall`: the same search in the words of other memory plug-ins (memory-lancedb)."""

from typing import Annotated, Self

from pydantic import BaseModel, Field

from service.access.origins import doubt_of
from service.client.answers import Hit
from service.mcp.offered.answer import MOST_ITEM_CHARACTERS, Answer, cut, heading_of, numbered
from service.mcp.offered.arguments import PlacedArguments
from service.mcp.offered.asking import Asking


class RecallArguments(PlacedArguments):
    """A question."""

    query: Annotated[str, Field(description="The question, in plain words.")]
    limit: Annotated[int, Field(ge=1, le=20, description="Most memories to return.")] = 5


class Recalled(BaseModel):
    """A memory, its headings in front of its text; `category` is its kind."""

    id: str
    text: str
    category: str
    importance: float
    score: float
    trust_tier: str

    @classmethod
    def of(cls, hit: Hit) -> Self:
        """Read a hit of the service."""
        text, _ = cut(hit.get("content") or hit["snippet"], MOST_ITEM_CHARACTERS)
        return cls(
            id=hit["id"], text=": ".join(filter(None, [heading_of(hit, text), text])),
            category=hit["kind"], importance=hit["importance"], score=hit["score"],
            trust_tier=hit["trust_tier"],
        )  # fmt: skip

    def __str__(self) -> str:
        doubt = doubt_of(self.trust_tier)
        return f"[{self.category}]{f' ({doubt})' if doubt else ''} {self.text}"


class Recollection(Answer):
    """How many memories there are, and the memories."""

    count: int
    memories: list[Recalled]

    def as_text(self) -> str:
        """Return them as those plug-ins do."""
        if not self.memories:
            return "No relevant memories found."
        listed = numbered(map(str, self.memories))
        return f"Found {self.count} memories:\n\n{listed}"


async def memory_recall(asking: Asking, given: RecallArguments) -> Recollection:
    """Search the memory; in the shape of memory-lancedb, for prompts that were written for it."""
    answer = await asking.memory.search(given.query, limit=given.limit, **asking.where(given))
    memories = [Recalled.of(hit) for hit in answer["results"]]
    return Recollection(count=len(memories), memories=memories)
