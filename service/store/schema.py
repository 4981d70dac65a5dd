"""What schema.surql is made of: the definitions of every store, then indexes for one engine."""

import hashlib
from collections.abc import Mapping
from typing import Any, Final, Literal

from service.errors import StoreRefused

SCHEMA_VERSION: Final = 5
IndexOf = Literal["words", "edges", "vectors"]
# Where the parts begin that only some stores need: a server's, then the database engine's.
_FEED_MARK: Final = "-- feed:"
_INDEX_MARKS: Final[Mapping[IndexOf, str]] = {
    "words": "-- words:", "edges": "-- edges:", "vectors": "-- vectors:",
}  # fmt: skip


def is_schema(text: str) -> bool:
    """Return whether a text has all parts that a schema is made of."""
    return all(mark in text for mark in (_FEED_MARK, *_INDEX_MARKS.values()))


def definitions_of(schema: str, *, is_shared: bool) -> str:
    """Return what a store has, whatever its engine; idempotent, and it takes no variables.

    One that `is_shared` by several programs has a change feed; another loses the one that it had.
    """
    every, _, rest = schema.partition(_FEED_MARK)
    shared = rest.split(_INDEX_MARKS["words"], maxsplit=1)[0].partition("\n")[2]
    if is_shared:
        return every + shared
    return every + shared.replace(" CHANGEFEED 7d;", " DROP CHANGEFEED;")


def index_definition(schema: str, index: IndexOf, dimensions: int = 0) -> str:
    """Return the statements that define the indexes of a part, the vectors' length a literal."""
    part = schema.split(_INDEX_MARKS[index])[1].partition("\n")[2]
    return part.split("\n--")[0].replace("{dimensions}", str(int(dimensions)))


def refuse_newer(stored: Mapping[str, Any], setting: str) -> None:
    """Raise StoreRefused for a store that a newer program has written; `setting` says where."""
    if stored.get("version", 0) > SCHEMA_VERSION:
        msg = (
            f"The store has schema version {stored['version']}, this program knows "
            f"{SCHEMA_VERSION}: start the newer program, or give another {setting}."
        )
        raise StoreRefused(msg)


def schema_facts(definitions: str) -> dict[str, Any]:
    """Return what meta:schema says of a store that has these definitions, and this text of them."""
    digest = hashlib.sha256(definitions.encode()).hexdigest()
    return {"version": SCHEMA_VERSION, "digest": digest}
