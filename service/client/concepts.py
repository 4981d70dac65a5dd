"""What the service answers about concepts."""

from typing import TypedDict


class Concept(TypedDict):
    """Something memories talk about; `memories` counts those that mention it."""

    id: str
    name: str
    aliases: list[str]
    kind: str
    memories: int
    is_declared: bool


class ConceptPage(TypedDict):
    """One page of concepts, those in the most memories first."""

    concepts: list[Concept]
    next_cursor: str | None


class RelatedConcept(TypedDict):
    """A concept that stands beside this one in `weight` memories, or was declared related."""

    id: str
    weight: int
    is_declared: bool


class MergedConcept(TypedDict):
    """What was a concept of its own, and the run that merged it into this one."""

    id: str
    name: str
    run: str


class ConceptDetail(Concept):
    """A concept with its neighbours, and what was merged into it."""

    merged: list[MergedConcept]
    related_to: list[RelatedConcept]
    is_a: list[str]
    narrower: list[str]
