"""Turning a store into one of schema version 4: memories say nothing of where they come from."""

from typing import Final

from service.store.database import Database

VERSION_4: Final = {"version": 4}
_FIELDS: Final = """
REMOVE FIELD origin ON memory; REMOVE FIELD client ON memory; REMOVE FIELD key ON memory;
REMOVE FIELD origin ON document; REMOVE FIELD client ON document; REMOVE FIELD key ON document;
UPDATE memory UNSET origin, client, key RETURN NONE;
UPDATE document UNSET origin, client, key RETURN NONE;
"""


async def make_version_4(db: Database) -> None:
    """Rewrite a store as version 4 had left it."""
    await db.apply(_FIELDS)
    await db.set_meta("schema", VERSION_4)
