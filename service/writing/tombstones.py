"""What was deleted for good stays deleted: no document brings it back, and none keeps its text.

docs/decisions/0019-deleted-stays-deleted.md tells why it is so and where it ends. Beside these
hashes stand those of pushed memories whose words became others: see passed_by.
"""

import secrets
from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from service.drafts.drafts import Draft
from service.drafts.stored_memory import StoredMemory
from service.drafts.tombstones import seal, tombstones_of
from service.links import stored
from service.links.change import Change, DocumentRow
from service.records import Memory
from service.store.database import Database, record
from service.store.queries import load_query
from service.text.lines import Placed, blanked, hidden, merged
from service.writing.diff import DocumentDiff

CREATE_KEY: Final = load_query(__package__, "create_key")
TOMBSTONES: Final = load_query(__package__, "tombstones")
EXISTING: Final = load_query(__package__, "existing")
DOCUMENT_ROWS: Final = load_query(__package__, "document_rows")

# Why memories are removed, as the audit says it, when they are not to come back.
DELETED: Final = "deleted"
_KEY_BYTES: Final = 32
_PASSED: Final = "passed"


async def store_key(db: Database) -> bytes | None:
    """Return the key of the store's hashes; None where nothing was ever deleted for good."""
    facts = await db.meta("tombstones")
    return bytes.fromhex(facts["key"]) if facts else None


async def ensure_key(db: Database) -> None:
    """Give the store a key if it has none; of two services one's stands."""
    if await store_key(db) is None:
        key = secrets.token_hex(_KEY_BYTES)
        await db.run(CREATE_KEY, id=record("meta", "tombstones"), key=key)


async def passed_by(db: Database, agent: str, keys: Collection[str]) -> frozenset[str]:
    """Return those of ids beside which their words were said again, as they had become others.

    That holds when what had that id is deleted: who says them once more means what stands there.
    """
    key = await store_key(db) if keys else None
    if key is None:
        return frozenset()
    marks = {seal(key, _PASSED, one): one for one in keys}
    return frozenset(marks[one] for one in await _standing(db, agent, marks))


async def passing(db: Database, change: Change, keys: Iterable[str]) -> Change:
    """Return a change that writes words beside these ids, which says so: see passed_by."""
    await ensure_key(db)
    key = await store_key(db) or b""
    return replace(change, tombstones=tuple(seal(key, _PASSED, one) for one in sorted(keys)))


def stored_hashes(key: bytes | None, text_hash: str) -> frozenset[str]:
    """Return what a document of this text may have as its hash in the store.

    One that keeps lines to itself has a sealed one: with all the rest of a text before him, a
    reader of the store could guess at what is missing.
    """
    return frozenset({text_hash} if key is None else {text_hash, seal(key, text_hash)})


async def leave_out(db: Database, agent: str, diffs: Iterable[DocumentDiff]) -> None:
    """Take out of documents what was deleted of them, before it is embedded."""
    key = await store_key(db)
    if key is None:
        return
    by_uri = {diff.document.uri: diff for diff in diffs}
    new = [d for diff in by_uri.values() for d in diff.writes if _says_more(d, diff.old.get(d.id))]
    hashes = {uri: diff.text_hash for uri, diff in by_uri.items()}
    deleted = await _deleted(db, agent, _hashes_of(key, new, hashes))
    for diff in by_uri.values():
        diff.leave_out(deleted)


async def bury(db: Database, change: Change) -> Change:
    """Return a change with what it does to deleted sections: those it brings and those it makes.

    In the agent's turn: what was deleted while the change was embedded counts as well.
    """
    is_deletion = change.audit == DELETED and any(memory.uri for memory in change.gone)
    if not change.documents and not is_deletion:
        return change
    key = await store_key(db)
    if key is None:
        return change
    if change.documents:
        change = await _without_deleted(db, change, key)
    return await _with_tombstones(db, change, key) if is_deletion else change


async def _without_deleted(db: Database, change: Change, key: bytes) -> Change:
    sections = {draft.id: draft for row in change.documents for draft in row.drafts}
    # An id of what goes is no section's that stays: another one, a deleted one, may have it next.
    going = {memory.id for memory in change.gone}
    others = sections.keys() - change.replaced.keys() - going
    unchanged = set(await db.run(EXISTING, ids=_records(others)))
    absent = [
        draft
        for draft in sections.values()
        if draft.id not in unchanged and _says_more(draft, change.replaced.get(draft.id))
    ]
    text_hashes = {row.uri: row.text_hash for row in change.documents}
    hashes = _hashes_of(key, absent, text_hashes)
    deleted = await _deleted(db, change.agent, hashes)
    if not deleted:
        return change
    return replace(
        change,
        drafts=tuple(draft for draft in change.drafts if draft.id not in deleted),
        gone=(*change.gone, *(old for key, old in change.replaced.items() if key in deleted)),
        replaced={key: old for key, old in change.replaced.items() if key not in deleted},
        documents=tuple(_withholding(row, deleted, key) for row in change.documents),
        # Each of them by the other hash too: what was known by the text is known by the name now.
        tombstones=(*change.tombstones, *(one for part in deleted for one in hashes[part])),
    )


def _says_more(draft: Draft, old: StoredMemory | None) -> bool:
    """Say whether a section is not stored as it reads: what is, was not deleted."""
    return old is None or old.content_hash != draft.content_hash


def _withholding(row: DocumentRow, deleted: Iterable[str], key: bytes) -> DocumentRow:
    """Return a document's row without the lines of what was deleted."""
    gone = set(deleted)
    left = [draft for draft in row.drafts if draft.id not in gone]
    if len(left) == len(row.drafts):
        return row
    lines = hidden(row.text, _places(row.drafts, gone))
    return replace(
        row, text=blanked(row.text, lines), text_hash=seal(key, row.text_hash),
        sections=len(left), withheld=lines,
    )  # fmt: skip


async def _with_tombstones(db: Database, change: Change, key: bytes) -> Change:
    """Return a deletion with the tombstones of what goes and its documents without its lines."""
    gone: dict[str, list[StoredMemory]] = defaultdict(list)
    for memory in change.gone:
        if memory.uri:
            gone[memory.uri].append(memory)
    going = {memory.id for memory in change.gone}
    ids = [record("document", [change.agent, uri]) for uri in sorted(gone)]
    rows: Sequence[Mapping[str, Any]] = await db.run(DOCUMENT_ROWS, ids=ids)
    cut, tombstones = [], list(change.tombstones)
    for row in rows:
        memories, withheld = gone[row["uri"]], row["withheld"]
        text_hash = row["text_hash"] if withheld else seal(key, row["text_hash"])
        every = await stored.memories_of_document(db, change.agent, row["uri"])
        lines = merged([*withheld, *hidden(row["text"], _places(every.values(), going))])
        text = blanked(row["text"], lines)
        cut.append(DocumentRow(row["uri"], text, text_hash, 0, withheld=lines))
        for one in memories:
            path, content = one.heading_path, one.content
            tombstones += tombstones_of(key, row["uri"], text_hash, path, content)
    return replace(change, cut_documents=tuple(cut), tombstones=tuple(tombstones))


def _places(memories: Iterable[Memory | Draft], gone: Container[str]) -> Iterator[Placed]:
    for one in memories:
        first, last = one.source.line_start or 1, one.source.line_end or 0
        yield Placed(first, last, one.heading_path, one.id not in gone)


def _hashes_of(
    key: bytes, drafts: Iterable[Draft], text_hashes: Mapping[str, str]
) -> dict[str, tuple[str, str]]:
    """Return the hashes of sections by their keys; `text_hashes` are those of their documents."""
    sealed = {uri: seal(key, text_hash) for uri, text_hash in text_hashes.items()}
    found = {}
    for draft in drafts:
        uri = draft.source.uri or ""
        found[draft.id] = tombstones_of(key, uri, sealed[uri], draft.heading_path, draft.content)
    return found


async def _deleted(
    db: Database, agent: str, hashes: Mapping[str, tuple[str, str]]
) -> frozenset[str]:
    """Return the keys of those sections that were deleted for good."""
    standing = await _standing(db, agent, [one for pair in hashes.values() for one in pair])
    return frozenset(key for key, pair in hashes.items() if standing & set(pair))


async def _standing(db: Database, agent: str, hashes: Iterable[str]) -> set[str]:
    ids = [record("tombstone", [agent, one]) for one in hashes]
    return set(await db.run(TOMBSTONES, ids=ids)) if ids else set()


def _records(keys: Iterable[str]) -> list[Any]:
    return [record("memory", key) for key in sorted(keys)]
