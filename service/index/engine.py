"""What ranks: the one seam between a search and whichever indexes answer it."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from service.index.evidence import Evidence, Floats, Question
from service.index.links import Links
from service.index.numbered import NumberedEngine
from service.records import Concept, ConceptId, Filters, Memory, Place, Related, RelatedEdge, Scored


class Engine(Protocol):
    """Ranks memory ids by one signal each and knows the graph's edges.

    An index may lag behind the store, so what it ranks is looked at once more when it is fetched.
    The graph's methods take the agents whose graphs may be read; memories and concepts of others
    are as unknown as none, and unknown keys are absent from the answers. Edges never lead from
    one agent's graph to another's. Any method may raise StoreUnavailable.
    """

    @property
    def name(self) -> str:
        """Its name in receipts: `database` or `resident`."""

    async def numbered(self, agents: Sequence[str]) -> NumberedEngine:
        """Return this engine for one search about these agents, in which memories have numbers."""

    async def by_text(self, text: str, filters: Filters, limit: int) -> list[Scored]:
        """Return the memories that hold any of the text's words, by BM25.

        Best first, of equal ones the newest, then by id; empty for a text without words. The
        filters apply before the limit.
        """

    async def by_phrase(self, phrase: str, filters: Filters, limit: int) -> list[Scored]:
        """Return memories that hold the words of a phrase one after the other, unstemmed.

        `phrase` is as `words.quoted_phrases` gives it. By BM25 of its words, ties as in by_text;
        the filters apply before the limit.
        """

    async def by_vector(
        self, vector: Floats, filters: Filters, limit: int
    ) -> tuple[list[Scored], int]:
        """Return the memories nearest in meaning, and how many near ones were filtered out.

        By cosine (-1 to 1), best first, ties by id or as in by_text, where an engine knows when
        each happened; the filters apply before the limit. The count is
        of those within the walls of the filters that this search came across, not of all there are.
        """

    async def collect_evidence(
        self, question: Question, filters: Filters, keys: Iterable[str], reach: int
    ) -> Evidence:
        """Return what stands in those of the memories that pass the filters, and how near they are.

        With them come the memories up to `reach` steps before and after each, as far as those
        pass the filters too: a chain ends at one that does not.
        """

    async def fetch(self, keys: Sequence[str], filters: Filters) -> dict[str, Memory]:
        """Return by id those of the memories that pass the filters, as they are stored now.

        A write that was answered is seen, however far behind the index is.
        """

    async def fetch_newest(self, filters: Filters, before: Place, limit: int) -> list[Memory]:
        """Return the newest memories that pass the filters, of those that stand before a place.

        By their places downwards, as they are stored now; none is missing, whatever an index lacks.
        """

    async def linked(
        self, agents: Sequence[str], keys: Iterable[str], caps: Mapping[str, int]
    ) -> Links:
        """Return the memories one step beside each one, by the concept that leads there.

        A concept links a memory that mentions it with the memory it is the subject of, both ways;
        one in at most FEW_MEMORIES memories links any two of them. `caps` as in
        concepts_of_memories. Concepts that lead nowhere are left out.
        """

    async def holding(self, agent: str, phrases: Iterable[str], limit: int) -> dict[str, set[str]]:
        """Return by phrase the ids of an agent's memories that hold all its words; no filters.

        At most `limit` for each phrase, whose words are stemmed and as `words.index_words` gives
        them, and of what was written just now all. Every memory that is stored now is looked at,
        unless `caveat` tells of some that are left out.
        """

    async def holding_after(
        self, agent: str, phrases: Iterable[str], after: str, limit: int
    ) -> list[str]:
        """Return the first `limit` of all that `holding` looks for, behind the id `after`.

        In ascending order, so that the last of them is where the next ones are behind.
        """

    async def referencing(self, agent: str, slugs: Iterable[str]) -> set[str]:
        """Return the ids of an agent's memories that reference one of these concepts; no filters.

        As they are stored now, whether there is such a concept or not.
        """

    async def related_edges(self, agent: str, slugs: Iterable[str]) -> list[RelatedEdge]:
        """Return all edges of `related_to` at an agent's concepts, as stored now, each once."""

    async def keep_visible(
        self, ranking: Sequence[Scored], filters: Filters, limit: int
    ) -> list[Scored]:
        """Return the first `limit` of a ranking that pass the filters, in its order."""

    async def summaries_of(self, agents: Sequence[str], keys: Iterable[str]) -> dict[str, str]:
        """Return the id of the summary that each memory is part of; those of none are absent."""

    async def newest(self, filters: Filters, among: Sequence[str] | None = None) -> datetime | None:
        """Return when the newest memory that passes the filters happened; None without any.

        Of the memories named in `among` alone, if it is given.
        """

    async def latest(self, filters: Filters, limit: int) -> list[str]:
        """Return the ids of the newest memories that pass the filters, newest first, then by id."""

    async def sizes(self, agents: Sequence[str]) -> dict[str, int]:
        """Return the number of memories of each agent; one without any counts 0."""

    async def concepts_of_memories(
        self, agents: Sequence[str], keys: Iterable[str], caps: Mapping[str, int]
    ) -> dict[str, tuple[Concept, ...]]:
        """Return the concepts that each memory can link by, in any order.

        `caps` gives for each agent the number of memories above which a concept links nothing; one
        that stands in a single memory links nothing either. A memory without any has ().
        """

    async def concepts_named(self, agents: Sequence[str], question: Question) -> list[Concept]:
        """Return the concepts that a question names and words alone do not lead to, by id.

        They go by several names, or a memory was given them without their words; who mentions any
        other holds the words of its name. The question's vector is not looked at.
        """

    async def memories_of_concepts(
        self, agents: Sequence[str], concepts: Iterable[ConceptId]
    ) -> dict[ConceptId, list[str]]:
        """Return the ids of the memories that reference each concept, in ascending order."""

    async def related_concepts(
        self, agents: Sequence[str], concepts: Sequence[Concept], edges: Iterable[str]
    ) -> dict[ConceptId, list[Related]]:
        """Return the concepts beside each one, along those of `related_to` and `is_a` in `edges`.

        The tightest share first (see names/shares.py), ties by id. Of `related_to` only the 20
        heaviest edges of either direction count, ties by the other end's id; `is_a` both ways.
        """

    async def before_and_after(
        self, agents: Sequence[str], keys: Iterable[str]
    ) -> dict[str, tuple[list[str], list[str]]]:
        """Return the ids of the memories just before and just after each one, ascending."""

    def indexed_through(self, agents: Sequence[str], /) -> datetime:
        """Return up to when every change to these agents' memories is surely searched now."""

    def caveat(self, agents: Sequence[str], /) -> str | None:
        """Return why answers about these agents may be incomplete now; None if they are not."""
