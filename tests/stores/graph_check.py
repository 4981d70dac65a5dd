"""A checker of whole stores: reads every row and tells each place where two of them disagree."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from service.consolidate.grouping import Wall
from service.drafts.chains import Link, expected_edges
from service.drafts.named import names_in
from service.errors import ServiceError
from service.links.expansions import explained
from service.links.links import find_concepts
from service.links.vocabulary import build_dictionary
from service.names.names import CERTAIN, Name, heading_name
from service.names.proper_nouns import proper_names
from service.names.relations import pairs
from service.records import CONSOLIDATION, QUARANTINED, Source
from service.store.database import Database
from service.store.queries import Query
from service.text.lines import lines_of

# Each edge table with the tables at its ends.
EDGES: Final = {
    "references": ("memory", "concept"),
    "related_to": ("concept", "concept"),
    "is_a": ("concept", "concept"),
    "follows": ("memory", "memory"),
    "derived_from": ("memory", "memory"),
    "supersedes": ("memory", "memory"),
}
TABLES: Final = (
    *EDGES,
    "memory",
    "embedding",
    "document",
    "concept",
    "candidate",
    "abbreviation",
    "meta",
    "unembedded",
    "leaving",
)

Key = Any
# Said at the end of a transaction that is to leave nothing behind.
_FIT: Final = "every row is fit"
# What a summary puts in front of what a memory says.
_DATE_OF_LINE: Final = re.compile(r"^(- \d{4}-\d\d-\d\d:)?")


@dataclass(frozen=True, slots=True)
class CheckedMemory:
    """A memory as far as its words and its place go."""

    id: str
    agent: str
    title: str
    heading_path: tuple[str, ...]
    tags: tuple[str, ...]
    concepts: tuple[str, ...]
    content: str
    trust_tier: str
    teaches: bool
    source: Source
    chain: str | None
    position: int
    occurred_at: datetime
    is_embedded: bool


@dataclass(frozen=True, slots=True)
class Store:
    """Every row of a store, by table, with record ids as their keys."""

    rows: dict[str, list[dict[str, Any]]]
    memories: dict[str, CheckedMemory]

    def keys(self, table: str) -> set[Key]:
        """Return the keys of a table's rows, as values that can stand in a set."""
        return {frozen(row["id"]) for row in self.rows[table]}

    def agents(self) -> list[str]:
        """Return every agent that owns anything, in order."""
        owners = {memory.agent for memory in self.memories.values()}
        return sorted(owners | {row["agent"] for row in self.rows["concept"]})


async def read_store(db: Database) -> Store:
    """Read every row of every table that the ingest writes."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for table in TABLES:
        query = Query(f"all_{table}", f"SELECT * FROM {table}", frozenset(), writes=False)  # noqa: S608 - names above
        rows[table] = _edges(table, await db.run(query))
    memories = {row["id"]: _memory(row) for row in rows["memory"]}
    return Store(rows, memories)


def _edges(table: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows with both ends of each edge, whatever the store keeps them as."""
    if table == "references":
        return [{"in": r["id"], "out": key, "of": r} for r in rows for key in r["concepts"]]
    if table == "follows":
        edges = [{"in": r["id"], "out": key, "of": r} for r in rows for key in r["earlier"]]
        back = _ways_back(rows) ^ {(edge["in"], edge["out"]) for edge in edges}
        return edges + [{"in": later, "out": f"{key}, one way only"} for later, key in back]
    if table == "related_to":
        return [
            {**row, "in": row["id"][:2], "out": [row["id"][0], row["id"][2]]}
            | ({"of": row["out"]} if "out" in row else {})
            for row in rows
        ]
    return rows


async def violations(db: Database) -> list[str]:
    """Return what is wrong in a store, one sentence each; empty for a sound one."""
    return [*await _unfit(db), *check(await read_store(db))]


async def _unfit(db: Database) -> list[str]:
    """Return what the definitions of the tables refuse of the rows: new ones were not looked at."""
    updates = "".join(f"UPDATE {table} RETURN NONE;" for table in TABLES)
    every = Query("every", f"BEGIN; {updates} THROW '{_FIT}'; COMMIT;", frozenset(), writes=False)
    try:
        await db.run(every)
    except ServiceError as error:
        return [] if _FIT in error.detail else [f"the definitions refuse a row: {error.detail}"]
    raise AssertionError


def check(store: Store) -> list[str]:
    """Return what is wrong in these rows, one sentence each."""
    found: list[str] = []
    for part in (
        _wrong_ends, _wrong_vectors, _wrong_documents, _wrong_candidates, _wrong_sizes,
        _wrong_concepts, _wrong_abbreviations, _wrong_weights, _wrong_chains, _wrong_references,
        _wrong_summaries, _wrong_teachers, _wrong_votes,
    ):  # fmt: skip
        found += part(store)
    return found


def frozen(value: Any) -> Any:
    """Return a key as something that can stand in a set: lists become tuples."""
    return tuple(frozen(inner) for inner in value) if isinstance(value, list) else value


def _memory(row: dict[str, Any]) -> CheckedMemory:
    same = ("id", "agent", "title", "content", "position", "occurred_at", "trust_tier")
    return CheckedMemory(
        **{name: row[name] for name in same},
        heading_path=tuple(row["heading_path"]),
        tags=tuple(row["tags"]),
        concepts=tuple(row["concepts"]),
        teaches=row["source_kind"] != CONSOLIDATION and row["trust_tier"] != QUARANTINED,
        source=Source((row.get("source") or {}).get("uri")),
        chain=row.get("chain"),
        is_embedded=row["is_embedded"],
    )


def _ways_back(rows: list[dict[str, Any]]) -> set[tuple[str, str]]:
    return {(key, row["id"]) for row in rows for key in row["later"]}


def _wrong_ends(store: Store) -> Iterator[str]:
    """Edges that dangle, stand twice, or have an id that does not name their ends."""
    for table, (near, far) in EDGES.items():
        ends = [(frozen(row["in"]), frozen(row["out"])) for row in store.rows[table]]
        near_keys, far_keys = store.keys(near), store.keys(far)
        for start, end in ends:
            if start not in near_keys or end not in far_keys:
                yield f"{table} dangles: {start} → {end}"
        for pair, count in Counter(ends).items():
            if count > 1:
                yield f"{table} stands {count} times: {pair}"
    for row in store.rows["references"]:
        if store.memories[row["in"]].agent != row["out"][0]:
            yield f"references leads to another agent's concept: {row['of']}"


def _wrong_vectors(store: Store) -> Iterator[str]:
    embedded = {memory.id for memory in store.memories.values() if memory.is_embedded}
    vectors = store.keys("embedding")
    yield from (f"memory {key} is embedded but has no vector" for key in embedded - vectors)
    yield from (f"vector {key} belongs to no embedded memory" for key in vectors - embedded)
    every = store.memories.values()
    waiting = {(memory.agent, memory.id) for memory in every if not memory.is_embedded}
    yield from (
        f"{key} waits, or not, against its memory" for key in waiting ^ store.keys("unembedded")
    )


def _wrong_documents(store: Store) -> Iterator[str]:
    of_files = [m for m in store.memories.values() if m.source.uri]
    sections = Counter((m.agent, m.source.uri) for m in of_files)
    documents = {frozen(row["id"]): row["sections"] for row in store.rows["document"]}
    for key in sorted(sections.keys() | documents.keys()):
        if documents.get(key) != sections[key]:
            yield f"document {key} has {sections[key]} memories and says {documents.get(key)}"
    for row in store.rows["document"]:
        lines = [*lines_of(row["text"]), ""]
        for first, last in row.get("withheld") or []:
            if any(lines[first - 1 : last]):
                yield f"document {row['id']} shows lines {first} to {last}, which were deleted"


def _wrong_candidates(store: Store) -> Iterator[str]:
    for row in store.rows["candidate"]:
        agent = row["id"][0]
        memory = store.memories.get(row["memory"])
        if memory is None or memory.agent != agent:
            yield f"candidate {row['id']} belongs to memory {row['memory']}, which is not there"
        elif row["id"][1] not in proper_names(memory.content):
            yield f"candidate {row['id']} does not stand in memory {memory.id}"


def _wrong_sizes(store: Store) -> Iterator[str]:
    counted = Counter(memory.agent for memory in store.memories.values())
    for row in store.rows["meta"]:
        if isinstance(row["id"], list) and row["id"][0] == "dictionary":
            agent = row["id"][1]
            if row["memories"] != counted.pop(agent, 0):
                yield f"agent {agent} is said to have {row['memories']} memories"
    yield from (f"agent {agent} has no dictionary row" for agent in counted)


def _wrong_teachers(store: Store) -> Iterator[str]:
    """Memories that say of themselves that they teach and must not, or the other way round."""
    for row in store.rows["memory"]:
        # Rows of older versions say nothing: all but summaries do.
        teaches = row.get("teaches", row["source_kind"] != CONSOLIDATION)
        if teaches != store.memories[row["id"]].teaches:
            yield f"memory {row['id']} of tier {row['trust_tier']} says teaches: {teaches}"


def _wrong_votes(store: Store) -> Iterator[str]:
    """Memories of which a key says two things, or whose counts are not those of their votes."""
    for row in store.rows["memory"]:
        votes = row.get("votes") or []
        said = Counter(helpful for _, helpful in votes)
        counts = (row.get("helpful") or 0, row.get("unhelpful") or 0)
        if counts != (said[True], said[False]) or len({key for key, _ in votes}) < len(votes):
            yield f"memory {row['id']} counts {counts} and has votes {votes}"


def _wrong_concepts(store: Store) -> Iterator[str]:
    mentions = Counter(
        frozen(row["out"]) for row in store.rows["references"] if store.memories[row["in"]].teaches
    )
    for row in store.rows["concept"]:
        key = frozen(row["id"])
        if row["memories"] != mentions[key]:
            yield f"concept {key} says {row['memories']} memories, {mentions[key]} mention it"
        if not mentions[key] and not row["is_declared"]:
            yield f"concept {key} is neither mentioned nor declared"
    slugs = [(*row["id"][:1], old["slug"]) for row in _merging(store) for old in row["merged"]]
    yield from (f"{key} is merged and a concept too" for key in store.keys("concept") & set(slugs))
    yield from (f"{key} is merged twice" for key, count in Counter(slugs).items() if count > 1)


def _merging(store: Store) -> list[dict[str, Any]]:
    return [row for row in store.rows["concept"] if row.get("merged")]


def _wrong_abbreviations(store: Store) -> Iterator[str]:
    """Compare what is stored with what the texts explain, and aliases with what they agree on."""
    expected = {
        (memory.id, short): name
        for memory in store.memories.values()
        if memory.teaches
        for short, name in explained(memory).items()
    }
    found = {(row["memory"], row["short"]): row["slug"] for row in store.rows["abbreviation"]}
    if found != {key: name.slug for key, name in expected.items()}:
        yield f"abbreviations are {found}, the texts explain {expected}"
    meanings: dict[tuple[str, str], set[str]] = defaultdict(set)
    for (key, short), name in expected.items():
        meanings[store.memories[key].agent, short].add(name.slug)
    for agent in store.agents():
        rows = [row for row in store.rows["concept"] if row["agent"] == agent]
        declared = build_dictionary([row for row in rows if row["is_declared"]])
        merged = build_dictionary(rows)
        learned = {row["id"][1]: row["aliases"] for row in rows if not row["is_declared"]}
        wanted: dict[str, list[str]] = {slug: [] for slug in learned}
        for (owner, short), slugs in sorted(meanings.items()):
            [slug, *others] = sorted(set(map(merged.stands_for, slugs)))
            is_free = short not in declared and slug not in declared
            if owner == agent and not others and is_free and slug in wanted:
                wanted[slug].append(short.upper())
        if learned != wanted:
            yield f"aliases of {agent} are {learned}, agreed are {wanted}"


def _wrong_summaries(store: Store) -> Iterator[str]:
    """Compare both ways of telling what is part of which summary, and the texts of summaries."""
    rows = {row["id"]: row for row in store.rows["memory"]}
    said = {(row["consolidated_into"], key) for key, row in rows.items() if _is_part(row)}
    edges = {(row["in"], row["out"]): row for row in store.rows["derived_from"]}
    for summary, source in sorted(said ^ edges.keys()):
        yield f"memory {source} and summary {summary} disagree about belonging together"
    given: dict[str, list[int]] = defaultdict(list)
    for (summary, source), edge in sorted(edges.items()):
        given[summary] += edge["lines"]
        yield from _wrong_source(rows[summary], rows[source], edge)
    for key, row in rows.items():
        lines = list(range(1, row["content"].count("\n") + 2))
        if row["source_kind"] == CONSOLIDATION and sorted(given[key]) != lines:
            yield f"summary {key} has lines that no source gave, or two"


def _wrong_source(
    summary: dict[str, Any], source: dict[str, Any], edge: dict[str, Any]
) -> Iterator[str]:
    name = f"source {source['id']} of summary {summary['id']}"
    if not source.get("archived_at"):
        yield f"{name} is not archived"
    if any(source.get(field) != summary.get(field) for field in Wall._fields):
        yield f"{name} differs from it in scope or trust"
    if edge["content_hash"] != source["content_hash"]:
        yield f"{name} had another text when it was made"
    told = summary["content"].split("\n")
    named = heading_name(source["title"], "title")
    # A section without a text says its title.
    words = " ".join((source["content"] or source["title"]).split())
    title = f"{named.name}: " if named else ""
    for line in edge["lines"]:
        text = _DATE_OF_LINE.sub("", told[line - 1]).strip().removeprefix(title)
        text = " ".join(text.split())
        if text not in words and not text.startswith(("[x]", "```")):
            yield f"{name} does not say its line {line}: {text}"


def _is_part(row: dict[str, Any]) -> bool:
    return row.get("consolidated_into") is not None


def _references(store: Store) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {key: set() for key in store.memories}
    for row in store.rows["references"]:
        found.setdefault(row["in"], set()).add(row["out"][1])
    return found


def _wrong_weights(store: Store) -> Iterator[str]:
    expected: Counter[Key] = Counter()
    for key, slugs in _references(store).items():
        memory = store.memories.get(key)
        if memory and memory.teaches:
            agent = memory.agent
            expected.update((agent, *pair) for pair in pairs(slugs))
    found: dict[Key, int] = {}
    for row in store.rows["related_to"]:
        key = frozen(row["id"])
        found[key] = row["weight"]
        # A store has them for the database engine's index alone.
        if (row.get("agent", key[0]), row.get("of", key[2])) != (key[0], key[2]):
            yield f"related_to {key} says other ends"
        if row["weight"] <= 0 and not row.get("is_declared"):
            yield f"related_to {key} ties nothing together"
    for key in sorted(expected.keys() | found.keys()):
        if expected[key] != found.get(key, 0):
            yield f"related_to {key} weighs {found.get(key)}, {expected[key]} memories pair them"


def _wrong_chains(store: Store) -> Iterator[str]:
    chains: dict[tuple[str, str], set[Link]] = defaultdict(set)
    for memory in store.memories.values():
        if memory.chain:
            link = Link(memory.occurred_at, memory.source.uri or "", memory.position, memory.id)
            chains[memory.agent, memory.chain].add(link)
    expected = {edge for links in chains.values() for edge in expected_edges(links)}
    found = {(row["in"], row["out"]) for row in store.rows["follows"]}
    yield from (f"follows is missing: {edge}" for edge in sorted(expected - found))
    yield from (f"follows is wrong: {edge}" for edge in sorted(found - expected))


def _wrong_references(store: Store) -> Iterator[str]:
    """Compare with what a dictionary made of the stored concepts finds."""
    found = _references(store)
    for agent in store.agents():
        rows = [row for row in store.rows["concept"] if row["agent"] == agent]
        dictionary = build_dictionary(rows)
        memories = [memory for memory in store.memories.values() if memory.agent == agent]
        for memory in memories:
            expected = find_concepts(dictionary, memory)
            for slug in sorted(expected ^ found[memory.id]):
                is_missing = "lacks" if slug in expected else "should not have"
                yield f"memory {memory.id} of {agent} ({memory.title!r}) {is_missing} {slug}"
        teaching = [memory for memory in memories if memory.teaches]
        yield from _unknown_names(rows, teaching)


def _unknown_names(rows: list[dict[str, Any]], memories: list[CheckedMemory]) -> Iterator[str]:
    """Names given on purpose, or met in two memories, that no concept has."""
    dictionary = build_dictionary(rows)
    users: dict[str, list[CheckedMemory]] = defaultdict(list)
    proper: dict[str, Name] = {}
    for memory in memories:
        for name in names_in(memory):
            if dictionary.resolve(name) is None:
                yield f"{name.name!r}, given by memory {memory.id}, is not a concept"
        for slug, name in proper_names(memory.content).items():
            if slug not in dictionary:
                users[slug].append(memory)
                proper[slug] = name
    for slug, name in proper.items():
        trial = build_dictionary(rows)
        trial.add(name)
        # Where a longer name covers it, it is not met.
        count = sum(slug in find_concepts(trial, memory) for memory in users[slug])
        if count > (name.kind not in CERTAIN):
            yield f"{name.name!r}, met in {count} memories, is not a concept"
