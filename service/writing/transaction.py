"""One change to the store as one transaction: drafts, vectors, links and documents together."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from service.consolidate.effects import NO_EFFECTS, Effects, effect_params
from service.inference.embedder import Vector
from service.links.links import Change, Edge, Links
from service.links.merges import Regroup
from service.names.names import Name
from service.store.database import Database, record
from service.store.queries import load_query
from service.store.vector_forms import VectorForm, stored_vector

WRITE: Final = load_query(__package__, "write")


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document as it is stored."""

    uri: str
    text: str
    text_hash: str
    sections: int
    folder: str | None = None


@dataclass(frozen=True, slots=True)
class Declared:
    """What the user's concept file says: rows to write and edges between concepts.

    Pairs of `related` are in ascending order, those of `isa` read (narrower, broader). `taken` are
    spellings that were merged into a concept (its slug first) and are declared now.
    """

    concepts: tuple[Mapping[str, Any], ...] = ()
    related: tuple[Edge, ...] = ()
    isa: tuple[Edge, ...] = ()
    gone_related: tuple[Edge, ...] = ()
    gone_isa: tuple[Edge, ...] = ()
    taken: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Attached:
    """What goes into the same transaction as a change of memories; `audit` names a deletion.

    `regroup` is worked out in it, from what is stored then.
    """

    documents: tuple[DocumentRow, ...] = ()
    gone_documents: tuple[str, ...] = ()
    declared: Declared = Declared()
    effects: Effects = NO_EFFECTS
    regroup: Regroup | None = None
    audit: str | None = None


NOTHING_ATTACHED: Final = Attached()


@dataclass(frozen=True, slots=True)
class Writing:
    """Everything one transaction writes; `vectors` by memory id, those left out wait for later."""

    change: Change
    links: Links
    follows: set[Edge]
    gone_follows: set[Edge]
    vectors: Mapping[str, Vector]
    fingerprint: str
    form: VectorForm
    dictionary_version: int
    attached: Attached = NOTHING_ATTACHED


async def write(db: Database, writing: Writing) -> None:
    """Write it all, or nothing; raises what Database.run raises."""
    params: dict[str, Any] = {name: [] for name in WRITE.takes}
    params |= _memories(writing) | _documents(writing) | _concepts(writing) | _edges(writing)
    params |= effect_params(writing.attached.effects, datetime.now(UTC))
    agent = writing.change.agent
    params["dictionary"] = record("meta", ["dictionary", agent])
    params["added"] = _growth(writing.change)
    params["dictionary_version"] = writing.dictionary_version
    await db.run(WRITE, **params)


def _growth(change: Change) -> int:
    """Return by how many memories the agent's store grows."""
    new = sum(draft.key not in change.replaced for draft in change.drafts)
    return new - len(change.gone)


def _memories(writing: Writing) -> dict[str, Any]:
    now, change = datetime.now(UTC), writing.change
    memories, unembedded = [], []
    for draft in change.drafts:
        old = change.replaced.get(draft.key)
        is_unchanged = old is not None and old.content_hash == draft.content_hash
        is_embedded = draft.key in writing.vectors or (is_unchanged and old.is_embedded)  # type: ignore[union-attr]
        created_at = old.created_at if old else now
        memories.append(
            {
                **draft.row(), "id": draft.key, "is_embedded": is_embedded,
                "created_at": created_at, "updated_at": now,
            }
        )  # fmt: skip
        if old is not None and not is_embedded:
            unembedded.append(record("embedding", draft.key))
    gone = [memory.id for memory in change.gone]
    return {
        "memories": memories,
        "gone": [record(table, key) for key in gone for table in ("memory", "embedding")],
        "cleared": [record("memory", key) for key in [*gone, *change.replaced]],
        "unembedded": unembedded,
        "embeddings": [
            {
                "id": key,
                "vector": stored_vector(vector, writing.form),
                "fingerprint": writing.fingerprint,
            }
            for key, vector in writing.vectors.items()
        ],
        "audit": [
            {"action": writing.attached.audit, "agent": change.agent, "subject": key, "at": now}
            for key in gone
            if writing.attached.audit
        ],
    }


def _documents(writing: Writing) -> dict[str, Any]:
    agent, now = writing.change.agent, datetime.now(UTC)
    return {
        "documents": [
            {
                "id": record("document", [agent, d.uri]), "agent": agent, "uri": d.uri,
                "folder": d.folder, "text": d.text, "text_hash": d.text_hash,
                "sections": d.sections, "updated_at": now,
            }
            for d in writing.attached.documents
        ],
        "gone_documents": [
            record("document", [agent, uri]) for uri in writing.attached.gone_documents
        ],
        "shrunken": [
            {"id": record("document", [agent, uri]), "by": by}
            for uri, by in sorted(_shrunken(writing).items())
        ],
    }  # fmt: skip


def _shrunken(writing: Writing) -> Counter[str]:
    """Return how many sections leave documents that stay and are not written themselves."""
    written = {document.uri for document in writing.attached.documents} | set(
        writing.attached.gone_documents
    )
    gone = (memory.uri for memory in writing.change.gone)
    return Counter(uri for uri in gone if uri and uri not in written)


def _concepts(writing: Writing) -> dict[str, Any]:
    agent, links = writing.change.agent, writing.links
    declared = {row["id"].id[1] for row in writing.attached.declared.concepts}
    learned = [concept_row(agent, n) for n in links.new_concepts if n.slug not in declared]
    return {
        "concepts": [*learned, *map(dict, writing.attached.declared.concepts)],
        "orphans": _records("concept", agent, links.orphans),
        "counts": [
            {"id": record("concept", [agent, slug]), "by": by}
            for slug, by in sorted(links.references.counts.items())
        ],
        "candidates": [
            {
                "id": record("candidate", [agent, slug]), "name": name,
                "memory": record("memory", key),
            }
            for slug, (name, key) in sorted(links.candidates.items())
        ],
        "gone_candidates": _records("candidate", agent, links.gone_candidates),
        "merged": [
            {
                "id": record("concept", [agent, row["slug"]]),
                "merged": row["merged"] or None, "apart": row["apart"] or None,
            }
            for row in writing.change.regrouped.rows
        ],
        "taken": [
            {"id": record("concept", [agent, slug]), "slugs": list(slugs)}
            for slug, slugs in writing.attached.declared.taken
        ],
        "abbreviations": [
            {
                "id": record("abbreviation", [key, short]), "agent": agent, "short": short,
                "slug": name.slug, "name": name.name, "memory": record("memory", key),
            }
            for (key, short), name in sorted(links.expansions.said.items())
        ],
        "aliases": [
            {"id": record("concept", [agent, slug]), "aliases": list(aliases)}
            for slug, aliases in sorted(links.expansions.aliases.items())
        ],
    }  # fmt: skip


def concept_row(
    agent: str, name: Name, aliases: Iterable[str] = (), *, is_declared: bool = False
) -> dict[str, Any]:
    """Return a row of table `concept` that nothing references yet."""
    return {
        "id": record("concept", [agent, name.slug]), "agent": agent, "name": name.name,
        "aliases": list(aliases), "kind": name.kind, "memories": 0,
        "is_declared": is_declared, "is_cased": name.is_cased,
    }  # fmt: skip


def _edges(writing: Writing) -> dict[str, Any]:
    agent, references, declared = (
        writing.change.agent,
        writing.links.references,
        writing.attached.declared,
    )
    leaving = {memory.id for memory in writing.change.gone}
    weights = {pair: (by, False) for pair, by in references.weights.items()}
    weights |= {pair: (references.weights.get(pair, 0), True) for pair in declared.related}
    return {
        "references": [
            {
                "id": record("references", [key, slug]), "in": record("memory", key),
                "out": record("concept", [agent, slug]),
            }
            for key, slug in sorted(references.added)
        ],
        "gone_references": [
            record("references", [key, slug])
            for key, slug in sorted(references.dropped)
            if key not in leaving
        ],
        "related": [
            {
                "id": record("related_to", [agent, *pair]),
                "in": record("concept", [agent, pair[0]]),
                "out": record("concept", [agent, pair[1]]),
                "weight": by, "is_declared": is_declared,
            }
            for pair, (by, is_declared) in sorted(weights.items())
            if is_declared or pair not in writing.links.zero_pairs
        ],
        "unrelated": [
            record("related_to", [agent, *pair])
            for pair in sorted(writing.links.zero_pairs - set(declared.related))
        ],
        "undeclared": [record("related_to", [agent, *p]) for p in declared.gone_related],
        "isa": [
            {
                "id": record("is_a", [agent, *pair]), "in": record("concept", [agent, pair[0]]),
                "out": record("concept", [agent, pair[1]]),
            }
            for pair in declared.isa
        ],
        "gone_isa": [record("is_a", [agent, *pair]) for pair in declared.gone_isa],
        "follows": [
            {
                "id": record("follows", list(edge)), "in": record("memory", edge[0]),
                "out": record("memory", edge[1]),
            }
            for edge in sorted(writing.follows)
        ],
        "gone_follows": [record("follows", list(edge)) for edge in sorted(writing.gone_follows)],
    }  # fmt: skip


def _records(table: str, agent: str, slugs: Iterable[str]) -> list[Any]:
    return [record(table, [agent, slug]) for slug in sorted(slugs)]
