"""Turning a store into one of schema version 3: vectors of float32, edges of the kind RELATION."""

from typing import Any, Final

from service.store.database import Database, record
from service.store.queries import Query
from service.store.vector_forms import read_vector

VERSION_3: Final = {"version": 3}
EDGES: Final = ("references", "follows", "related_to")

_TABLES: Final = """
REMOVE EVENT IF EXISTS gone ON memory; REMOVE EVENT IF EXISTS gone ON concept;
REMOVE TABLE references; REMOVE TABLE follows; REMOVE TABLE related_to;
DEFINE TABLE references TYPE RELATION IN memory OUT concept ENFORCED SCHEMAFULL;
DEFINE TABLE follows TYPE RELATION IN memory OUT memory ENFORCED SCHEMAFULL;
DEFINE TABLE related_to TYPE RELATION IN concept OUT concept ENFORCED SCHEMAFULL;
DEFINE FIELD weight ON related_to TYPE int;
DEFINE FIELD is_declared ON related_to TYPE bool;
DEFINE INDEX by_ends ON references FIELDS in, out UNIQUE;
"""


async def make_version_3(db: Database) -> None:
    """Rewrite a store as version 3 had left it; one edge has an id by hand."""
    rows = {table: await _rows(db, table) for table in ("embedding", *EDGES)}
    old = {
        "references": [
            {
                "id": record("references", [row["id"], key[1]]),
                "in": record("memory", row["id"]), "out": record("concept", key),
            }
            for row in rows["references"]
            for key in row["concepts"]
        ],
        "follows": [
            {
                "id": record("follows", [row["id"], key]),
                "in": record("memory", row["id"]), "out": record("memory", key),
            }
            for row in rows["follows"]
            for key in row["earlier"]
        ],
        "related_to": [
            {
                "id": record("related_to", row["id"]),
                "in": record("concept", row["id"][:2]),
                "out": record("concept", [row["id"][0], row["id"][2]]),
                "weight": row["weight"], "is_declared": bool(row.get("is_declared")),
            }
            for row in rows["related_to"]
        ],
    }  # fmt: skip
    for edges in old.values():
        for edge in edges[:1]:
            del edge["id"]
    await db.apply(_TABLES)
    for table, edges in old.items():
        await _run(db, f"INSERT RELATION INTO {table} $rows RETURN NONE", edges)
    halves = [row for row in rows["embedding"] if isinstance(row["vector"], bytes)]
    floats = [
        row | {"id": record("embedding", row["id"]), "vector": _float32(row["vector"])}
        for row in halves
    ]
    text = "INSERT INTO embedding $rows ON DUPLICATE KEY UPDATE vector = $input.vector RETURN NONE"
    await _run(db, text, floats)
    facts = await db.meta("embedding")
    await db.set_meta("embedding", {**facts, "canary": _float32(facts["canary"])})
    await db.set_meta("schema", VERSION_3)


def _float32(vector: bytes) -> bytes:
    return read_vector(vector).astype("<f4").tobytes()


async def _rows(db: Database, table: str) -> list[dict[str, Any]]:
    query = Query("all", f"SELECT * FROM {table}", frozenset(), writes=False)  # noqa: S608
    rows: list[dict[str, Any]] = await db.run(query)
    return rows


async def _run(db: Database, text: str, rows: object) -> None:
    await db.run(Query("own", text, frozenset({"rows"}), writes=True), rows=rows)
