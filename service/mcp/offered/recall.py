"""`graph_recall`: what is connected to a question, and how."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Final

from pydantic import BaseModel, Field

from service.client.answers import ConceptStep, MemoryStep, RecalledMemory, TimeStep
from service.mcp.offered.answer import Answer, Item, in_doubt, numbered
from service.mcp.offered.arguments import PlacedArguments
from service.mcp.offered.asking import Asking

Step = MemoryStep | ConceptStep | TimeStep

_MOST_CONCEPTS: Final = 10


class RecallArguments(PlacedArguments):
    """A question, and how far to walk from its best answers."""

    query: Annotated[str, Field(description="The question, in plain words.")]
    hops: Annotated[int, Field(ge=1, le=4, description="How far to walk.")] = 2
    limit: Annotated[int, Field(ge=1, le=10, description="Most memories to return.")] = 5


class Reached(Item):
    """A memory, how many steps from a seed, and the path that led there."""

    distance: int
    path: str

    def as_text(self) -> str:
        """Return its words under its path."""
        words = super().as_text()
        return f"{words}\nPath: {self.path}" if self.distance else words


class Neighbours(BaseModel):
    """What came just before and just after a seed, by title; one in doubt says so."""

    memory: str
    before: list[str]
    after: list[str]


class Threads(Answer):
    """What is connected, the concepts on the way, and what came before and after."""

    memories: list[Reached]
    concepts: list[str]
    chains: list[Neighbours]

    def as_text(self) -> str:
        """Return a list of them, and the concepts."""
        if not self.memories:
            return "No memory answers this, so that nothing is connected to it."
        listed = numbered(one.as_text() for one in self.memories)
        by = f"\n\nConcepts on the way: {', '.join(self.concepts)}" if self.concepts else ""
        return f"{listed}{by}"


async def graph_recall(asking: Asking, given: RecallArguments) -> Threads:
    """Follow the threads from the best answers: memories connected by concepts and by time.

    Use it for why and how questions, where the answer lies in several memories. Each
    result tells its path.
    """
    answer = await asking.memory.graph_recall(
        given.query, hops=given.hops, limit=given.limit, **asking.where(given)
    )
    return Threads(
        memories=[_reached(one) for one in answer["results"]],
        concepts=[one["name"] for one in answer["concepts"][:_MOST_CONCEPTS]],
        chains=[
            Neighbours(
                memory=one["memory"],
                before=[in_doubt(other["title"], other["trust_tier"]) for other in one["before"]],
                after=[in_doubt(other["title"], other["trust_tier"]) for other in one["after"]],
            )
            for one in answer["chains"]
        ],
    )


def _reached(hit: RecalledMemory) -> Reached:
    item = Item.of(hit)
    return Reached(distance=hit["distance"], path=_told(hit["path"]), **dict(item))


def _told(path: Sequence[Step]) -> str:
    return " → ".join(_step(dict(one)) for one in path)


def _step(step: Mapping[str, object]) -> str:
    if "direction" in step:
        return "later" if step["direction"] == "after" else "earlier"
    if "concept" in step:
        return f"{step['edge']} {step['concept']}"
    return in_doubt(f"“{step['title']}”", str(step["trust_tier"]))
