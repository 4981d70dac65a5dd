"""The engine that needs no memory of its own: SurrealDB's indexes and edges, asked every time."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar, Final

from service.index.database import evidence as stored_evidence
from service.index.evidence import Evidence, Question
from service.index.links import Links
from service.index.numbered import NumberedEngine
from service.index.numbering import NumberingEngine
from service.names.shares import DECLARED_SHARE, share_of
from service.records import (
    Concept,
    ConceptId,
    Filters,
    Memory,
    Place,
    Related,
    RelatedEdge,
    Scored,
    Vector,
)
from service.store.database import Database, record
from service.store.fetching import fetch_newest, fetch_visible
from service.store.queries import Query, load_query
from service.text.words import query_words

BY_TEXT: Final = load_query(__package__, "by_text")
BY_PHRASE: Final = load_query(__package__, "by_phrase")
HOLDING: Final = load_query(__package__, "holding")
HOLDING_AFTER: Final = load_query(__package__, "holding_after")
BY_VECTOR: Final = load_query(__package__, "by_vector")
BY_VECTOR_EXACTLY: Final = load_query(__package__, "by_vector_exactly")
VISIBLE: Final = load_query(__package__, "visible")
CONCEPTS_OF_MEMORIES: Final = load_query(__package__, "concepts_of_memories")
REFERENCING: Final = load_query(__package__, "referencing")
RELATED_EDGES: Final = load_query(__package__, "related_edges")
RELATED_CONCEPTS: Final = load_query(__package__, "related_concepts")
LATEST: Final = load_query(__package__, "latest")
NEWEST: Final = load_query(__package__, "newest")
SUMMARIES_OF: Final = load_query(__package__, "summaries_of")
NEWEST_OF: Final = load_query(__package__, "newest_of")
BEFORE_AND_AFTER: Final = load_query(__package__, "before_and_after")

# Every memory that is filtered is read: taken in slices from the top until enough have passed.
_SLICE: Final = 100


@dataclass(frozen=True)
class DatabaseEngine:
    """Ranks by what the store itself holds, so it is never behind; see Engine for each method."""

    db: Database
    name: ClassVar[str] = "database"

    async def numbered(self, agents: Sequence[str]) -> NumberedEngine:
        """Return an engine that gives memories numbers."""
        return NumberingEngine(self, agents)

    async def by_text(self, text: str, filters: Filters, limit: int) -> list[Scored]:
        """Rank by the store's full-text index."""
        words = query_words(text)
        if not words:
            return []
        rows = await self.db.run(BY_TEXT, words=words, limit=limit, **filters.params())
        return [Scored(row["id"], row["score"]) for row in rows]

    async def by_phrase(self, phrase: str, filters: Filters, limit: int) -> list[Scored]:
        """Look through the texts that hold all of its words."""
        rows = await self.db.run(
            BY_PHRASE, words=phrase, phrase=f" {phrase} ", limit=limit, **filters.params()
        )
        return [Scored(row["id"], row["score"]) for row in rows]

    async def by_vector(
        self, vector: Vector, filters: Filters, limit: int
    ) -> tuple[list[Scored], int]:
        """Rank by the store's HNSW index, exactly where filters leave too few of its nearest."""
        numbers = vector.tolist()
        nearest = await self.db.run(BY_VECTOR, vector=numbers, **filters.params())
        visible = set(nearest["visible"])
        filtered = len(nearest["known"]) - len(visible)
        if len(visible) < min(limit, len(nearest["near"])):
            # The index knows no filters: every memory that passes is compared, so that a rare
            # scope loses nothing.
            rows = await self.db.run(
                BY_VECTOR_EXACTLY, vector=numbers, limit=limit, **filters.params()
            )
            return [Scored(row["id"], row["score"]) for row in rows], filtered
        near = sorted(
            (row["distance"], row["id"]) for row in nearest["near"] if row["id"] in visible
        )
        return [Scored(key, 1.0 - distance) for distance, key in near[:limit]], filtered

    async def collect_evidence(
        self, question: Question, filters: Filters, keys: Iterable[str], reach: int
    ) -> Evidence:
        """Read the texts and count."""
        return await stored_evidence.collect_evidence(self.db, question, filters, keys, reach)

    async def fetch(self, keys: Sequence[str], filters: Filters) -> dict[str, Memory]:
        """Read them."""
        return await fetch_visible(self.db, keys, filters)

    async def fetch_newest(self, filters: Filters, before: Place, limit: int) -> list[Memory]:
        """Read the store's index of moments, from there on."""
        return await fetch_newest(self.db, filters, before, limit)

    async def linked(
        self, agents: Sequence[str], keys: Iterable[str], caps: Mapping[str, int]
    ) -> Links:
        """Follow `references` to concepts and back."""
        concepts_of = await self.concepts_of_memories(agents, keys, caps)
        return Links.of(await stored_evidence.linked(self.db, agents, concepts_of))

    async def holding(self, agent: str, phrases: Iterable[str], limit: int) -> dict[str, set[str]]:
        """Ask the store's full-text index, about a few phrases at once."""
        return await self._holding(HOLDING, phrases, agent=agent, limit=limit)

    async def holding_after(
        self, agent: str, phrases: Iterable[str], after: str, limit: int
    ) -> list[str]:
        """Ask the store's full-text index for all of them: it knows no order of ids."""
        held = await self._holding(HOLDING_AFTER, phrases, agent=agent, after=after, limit=limit)
        return sorted(set().union(*held.values()))[:limit]

    async def _holding(
        self, query: Query, phrases: Iterable[str], **asked: str | int
    ) -> dict[str, set[str]]:
        turns = asyncio.Semaphore(stored_evidence.AT_ONCE)

        async def one(words: str) -> tuple[str, set[str]]:
            async with turns:
                return words, set(await self.db.run(query, words=words, **asked))

        return dict(await asyncio.gather(*map(one, phrases)))

    async def referencing(self, agent: str, slugs: Iterable[str]) -> set[str]:
        """Ask the store's index over `references`."""
        keys = [[agent, slug] for slug in slugs]
        return set(await self.db.run(REFERENCING, keys=keys)) if keys else set()

    async def related_edges(self, agent: str, slugs: Iterable[str]) -> list[RelatedEdge]:
        """Read the rows that begin at each concept, and ask the store's index for the others."""
        edges: dict[RelatedEdge, None] = {}
        for slug in slugs:
            for (_, *ends), *told in await self.db.run(RELATED_EDGES, agent=agent, slug=slug):
                edges[RelatedEdge(*ends, *told)] = None
        return list(edges)

    async def keep_visible(
        self, ranking: Sequence[Scored], filters: Filters, limit: int
    ) -> list[Scored]:
        """Ask the store about one slice after the other, until enough have passed."""
        kept: list[Scored] = []
        for start in range(0, len(ranking), _SLICE):
            part = ranking[start : start + _SLICE]
            ids = [record("memory", hit.id) for hit in part]
            visible = set(await self.db.run(VISIBLE, ids=ids, **filters.params()))
            kept += [hit for hit in part if hit.id in visible]
            if len(kept) >= limit:
                break
        return kept[:limit]

    async def summaries_of(self, agents: Sequence[str], keys: Iterable[str]) -> dict[str, str]:
        """Read what each memory's row says."""
        ids = [record("memory", key) for key in keys]
        rows = await self.db.run(SUMMARIES_OF, ids=ids, agents=list(agents)) if ids else []
        return {row["id"]: row["consolidated_into"] for row in rows}

    async def newest(self, filters: Filters, among: Sequence[str] | None = None) -> datetime | None:
        """Ask the store's index of moments, or look at the memories named."""
        if among is None:
            moments = await self.db.run(NEWEST, **filters.params())
        else:
            ids = [record("memory", key) for key in among]
            moments = await self.db.run(NEWEST_OF, ids=ids, **filters.params())
        return moments[0] if moments else None

    async def latest(self, filters: Filters, limit: int) -> list[str]:
        """Ask the store's index of moments."""
        rows = await self.db.run(LATEST, limit=limit, **filters.params())
        return [row["id"] for row in rows]

    async def sizes(self, agents: Sequence[str]) -> dict[str, int]:
        """Read the counts that every write keeps up to date."""
        return await stored_evidence.sizes(self.db, agents)

    async def concepts_of_memories(
        self, agents: Sequence[str], keys: Iterable[str], caps: Mapping[str, int]
    ) -> dict[str, tuple[Concept, ...]]:
        """Follow `references` from memories."""
        ids = [record("memory", key) for key in keys]
        rows = await self.db.run(CONCEPTS_OF_MEMORIES, agents=list(agents), ids=ids)
        return {
            row["id"]: tuple(
                concept
                for concept in map(_concept, row["concepts"])
                if 1 < concept.memories <= caps.get(concept.id[0], 0)
            )
            for row in rows
        }

    async def concepts_named(self, agents: Sequence[str], question: Question) -> list[Concept]:
        """Look names up among merged and declared concepts."""
        named = await stored_evidence.named_in(self.db, agents, question)
        return sorted(named.concepts, key=lambda concept: concept.id)

    async def memories_of_concepts(
        self, agents: Sequence[str], concepts: Iterable[ConceptId]
    ) -> dict[ConceptId, list[str]]:
        """Follow `references` back to memories."""
        wanted = [key for key in concepts if key[0] in agents]
        found = await stored_evidence.memories_of(self.db, wanted)
        return {key: sorted(memories) for key, memories in found.items()}

    async def related_concepts(
        self, agents: Sequence[str], concepts: Sequence[Concept], edges: Iterable[str]
    ) -> dict[ConceptId, list[Related]]:
        """Follow `related_to` and `is_a`."""
        allowed, by_id = set(edges), {concept.id: concept for concept in concepts}
        if not by_id or not allowed & {"related_to", "is_a"}:
            return {}
        found = {}
        for (agent, slug), concept in by_id.items():
            if agent in agents:
                row = await self.db.run(RELATED_CONCEPTS, agent=agent, slug=slug)
                found[agent, slug] = _beside(row, concept, allowed)
        return found

    async def before_and_after(
        self, agents: Sequence[str], keys: Iterable[str]
    ) -> dict[str, tuple[list[str], list[str]]]:
        """Follow `follows` both ways."""
        ids = [record("memory", key) for key in keys]
        if not ids:
            return {}
        rows = await self.db.run(BEFORE_AND_AFTER, agents=list(agents), ids=ids)
        return {row["id"]: (sorted(row["before"]), sorted(row["after"])) for row in rows}

    def indexed_through(self, _agents: Sequence[str]) -> datetime:
        """Return this moment: what is stored now is what is searched."""
        return datetime.now(UTC)

    def caveat(self, _agents: Sequence[str]) -> str | None:
        """Return None: nothing stored is left out."""
        return None


def _beside(row: Mapping[str, Any], here: Concept, allowed: set[str]) -> list[Related]:
    near: list[Related] = []
    if "related_to" in allowed:
        near += [Related(_concept(r), "related_to", _share(r, here)) for r in row["related"]]
    if "is_a" in allowed:
        near += [Related(_concept(r), "is_a", DECLARED_SHARE) for r in row["isa"]]
    return sorted(near, key=lambda r: (-r.share, r.concept.id))


def _share(row: Mapping[str, Any], here: Concept) -> float:
    if row["is_declared"]:
        return DECLARED_SHARE
    return share_of(row["weight"], row["memories"], here.memories)


def _concept(row: Mapping[str, Any]) -> Concept:
    return Concept(_concept_id(row), row["name"], row["memories"])


def _concept_id(row: Mapping[str, Any]) -> ConceptId:
    agent, slug = row["id"]
    return agent, slug
