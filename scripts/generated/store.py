"""Build a store of generated notes straight in an embedded SurrealDB folder.

    scripts/generated/store.py FOLDER --memories 100000 [--dimensions 384] [--form bytes|array]
        [--texts FILE.jsonl]

The rows are what the pipeline would have written had the notes been pushed, session by session;
pushing 100,000 takes an hour, this a few minutes. It is a process of its own, so that the service
finds the lock free and the memory given back. FOLDER/store is the store, FOLDER/built.json
says what is in it: a folder that holds the same already is left as it is.
"""

import argparse
import asyncio
import hashlib
import json
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.progress import track

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from scripts.generated.links import AGENT, StoreLinks, find_store_links
from scripts.generated.notes import RECIPE, SESSION_NOTES, Note, Notes
from scripts.generated.word_vectors import WordVectors
from scripts.servers.processes import REPOSITORY
from service.drafts.chains import Link, expected_edges
from service.store.address import StoreAddress
from service.store.database import Database, record
from service.store.queries import Query
from service.store.schema import SCHEMA_VERSION
from service.store.vector_forms import VectorForm, stored_vector
from service.text.words import memory_words

# Sessions are whole in a batch; the size hardly matters.
BATCH_NOTES: Final = 50 * SESSION_NOTES
BATCH_EDGES: Final = 4000
# An index over everything is one statement, and takes as long as it takes.
_PATIENCE_SECONDS: Final = 24 * 3600.0

Rows = list[dict[str, Any]]

console = Console()


@dataclass(frozen=True, slots=True)
class StoreOrder:
    """What a store is to hold; `form` is how its vectors lie: bytes or array."""

    memories: int
    dimensions: int = 384
    form: VectorForm = "bytes"
    texts: Path | None = None

    @property
    def folder_name(self) -> str:
        """The name of a folder for this store alone."""
        text = f"-{self.texts.stem}" if self.texts else ""
        return f"memories-{self.memories}-{self.dimensions}-{self.form}{text}"

    def notes(self) -> Notes:
        """Return the notes that this store holds."""
        return Notes(self.memories, read_texts(self.texts) if self.texts else ())

    def facts(self) -> dict[str, Any]:
        """Return what must be equal for a store to be used again."""
        texts = self.texts.read_bytes() if self.texts else b""
        digest = hashlib.sha256(texts).hexdigest() if texts else None
        return asdict(self) | {"texts": digest, "recipe": RECIPE, "schema": SCHEMA_VERSION}


def main() -> None:
    """Build what is asked for, unless it is there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--dimensions", type=int, default=384)
    parser.add_argument("--form", choices=["bytes", "array"], default="bytes")
    parser.add_argument("--texts", type=Path, help='JSON lines with a "text" each')
    asked = parser.parse_args()
    order = StoreOrder(asked.memories, asked.dimensions, asked.form, asked.texts)
    if not is_built(asked.folder, order):
        asyncio.run(build(asked.folder, order))


def is_built(folder: Path, order: StoreOrder) -> bool:
    """Say whether the folder holds exactly this store, complete."""
    mark = folder / "built.json"
    if not mark.exists():
        return False
    facts = json.loads(mark.read_text(encoding="utf-8"))
    return bool(facts == order.facts() | {"counts": facts["counts"]})


async def build(folder: Path, order: StoreOrder) -> None:
    """Build the store; what the folder held of another or an unfinished one is removed."""
    started = time.perf_counter()
    (folder / "built.json").unlink(missing_ok=True)
    shutil.rmtree(folder / "store", ignore_errors=True)
    notes, vectors = order.notes(), WordVectors(order.dimensions)
    links = find_store_links(notes)
    schema = (REPOSITORY / "schema.surql").read_text(encoding="utf-8")
    db = Database(
        StoreAddress(f"surrealkv://{folder / 'store'}", timeout_seconds=_PATIENCE_SECONDS)
    )
    try:
        await db.open(schema)
        await insert_concepts(db, links)
        await insert_memories(db, notes, links, vectors, order.form)
        await insert_pairs(db, links, order.form)
        await finish(db, order, vectors, schema)
    finally:
        await db.close()
    counts = {
        "memories": notes.count, "concepts": len(links.concepts),
        "references": sum(map(len, links.slugs_of)), "related_to": len(links.weights),
    }  # fmt: skip
    mark = order.facts() | {"counts": counts}
    (folder / "built.json").write_text(json.dumps(mark, indent=1), encoding="utf-8")
    console.print(f"built {counts} in {time.perf_counter() - started:.0f} s")


async def insert_concepts(db: Database, links: StoreLinks) -> None:
    """Insert every concept with the number of memories that mention it."""
    for rows in in_batches("concepts", links.concepts, BATCH_EDGES):
        await db.run(_inserting("concept"), rows=rows)


async def insert_memories(
    db: Database, notes: Notes, links: StoreLinks, vectors: WordVectors, form: VectorForm
) -> None:
    """Insert the memories with vectors, references, steps in time and candidates.

    The rows of the next batch are made while one is inserted. Two batches at once are no faster.
    """
    parts = list(range(0, notes.count, BATCH_NOTES))
    made = await asyncio.to_thread(_rows_from, notes, links, vectors, (parts[0], form))
    for start in track(parts, "memories", console=console, transient=True):
        next_part = start + BATCH_NOTES, form
        following = asyncio.create_task(
            asyncio.to_thread(_rows_from, notes, links, vectors, next_part)
        )
        for table, rows in made.items():
            await db.run(_inserting(table), rows=rows)
        made = await following


async def insert_pairs(db: Database, links: StoreLinks, form: VectorForm) -> None:
    """Insert the edges between concepts that memories mention together."""
    is_indexed = form == "array"
    pairs = [
        {
            "id": record("related_to", [AGENT, *pair]),
            "agent": AGENT if is_indexed else None, "out": pair[1] if is_indexed else None,
            "weight": weight,
        }
        for pair, weight in links.weights.items()
    ]  # fmt: skip
    for rows in in_batches("related_to", pairs, BATCH_EDGES):
        await db.run(_inserting("related_to"), rows=rows)


async def finish(db: Database, order: StoreOrder, vectors: WordVectors, schema: str) -> None:
    """Write what the service expects to find, and for its own engine the index over vectors."""
    await db.set_meta(["dictionary", AGENT], {"version": 1, "memories": order.memories})
    fingerprint = vectors.model.fingerprint
    facts = {"fingerprint": fingerprint, "dimensions": order.dimensions, "form": order.form}
    await db.set_meta("embedding", facts)
    if order.form == "array":
        with console.status("index over words"):
            await db.define_index(schema, "words")
        with console.status("index over vectors"):
            await db.define_index(schema, "vectors", dimensions=order.dimensions)


def _rows_from(
    notes: Notes, links: StoreLinks, vectors: WordVectors, which: tuple[int, VectorForm]
) -> dict[str, Rows]:
    """Return the rows of one batch by table, in the order in which they must be inserted."""
    start, form = which
    numbers = range(start, min(start + BATCH_NOTES, notes.count))
    batch = [notes.note(number) for number in numbers]
    now = datetime.now(UTC)
    return {
        "memory": [_memory_row(note, now, form) for note in batch],
        "embedding": [_embedding_row(note, vectors, form) for note in batch],
        "references": [
            {
                "id": record("references", note.draft.id),
                "concepts": [[AGENT, slug] for slug in sorted(links.slugs_of[number])],
            }
            for number, note in zip(numbers, batch, strict=True)
            if links.slugs_of[number]
        ],
        "follows": _follows_rows(_steps(batch)),
        "candidate": [
            {
                "id": record("candidate", [AGENT, slug]), "name": name,
                "memory": record("memory", note.draft.id),
            }
            for number, note in zip(numbers, batch, strict=True)
            for slug, name in links.candidates.get(number, ())
        ],
    }  # fmt: skip


def _memory_row(note: Note, now: datetime, form: VectorForm) -> dict[str, Any]:
    words = memory_words(note.draft.text, note.draft.tags) if form == "array" else None
    return {
        **note.draft.row(), "id": note.draft.id, "words": words, "is_embedded": True,
        "created_at": now, "updated_at": now, "archived_at": note.archived_at,
    }  # fmt: skip


def _follows_rows(steps: Iterable[tuple[str, str]]) -> Rows:
    """Return what came before and after each memory; sessions are whole in a batch."""
    rows: dict[str, dict[str, Any]] = {}
    for later, earlier in steps:
        for key in (later, earlier):
            rows.setdefault(key, {"id": record("follows", key), "earlier": [], "later": []})
        rows[later]["earlier"].append(earlier)
        rows[earlier]["later"].append(later)
    return list(rows.values())


def _embedding_row(note: Note, vectors: WordVectors, form: VectorForm) -> dict[str, Any]:
    vector = stored_vector(vectors.embed(note.draft.text), form)
    return {"id": note.draft.id, "vector": vector, "fingerprint": vectors.model.fingerprint}


def _steps(batch: Sequence[Note]) -> Iterator[tuple[str, str]]:
    """Yield the steps in time of whole sessions: (later, earlier)."""
    drafts = [note.draft for note in batch]
    for start in range(0, len(drafts), SESSION_NOTES):
        session = drafts[start : start + SESSION_NOTES]
        yield from expected_edges(Link(d.occurred_at, "", d.position, d.id) for d in session)


def _inserting(table: str) -> Query:
    text = f"INSERT INTO {table} $rows RETURN NONE"
    return Query(f"insert into {table}", text, frozenset({"rows"}), writes=True)


def in_batches(what: str, rows: Sequence[Any], size: int) -> Iterable[Sequence[Any]]:
    """Yield rows in batches, with a progress bar."""
    starts = range(0, len(rows), size)
    for start in track(starts, what, console=console, transient=True):
        yield rows[start : start + size]


def read_texts(path: Path) -> list[str]:
    """Return the texts of a JSON lines file; raises SystemExit when it has none."""
    lines = path.read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["text"].strip() for line in lines if line.strip()]
    return [text for text in texts if text] or sys.exit(f"no texts in {path}")


if __name__ == "__main__":
    main()
