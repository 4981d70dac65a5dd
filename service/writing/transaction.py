"""One change to the store as one transaction: all of it or nothing."""

from typing import Any, Final

from service.drafts.named import length_of
from service.store.database import Database
from service.store.queries import Query, transaction
from service.threads import read_texts
from service.writing.tables.abbreviation import abbreviation
from service.writing.tables.archive import archive
from service.writing.tables.audit import audit
from service.writing.tables.candidate import candidate
from service.writing.tables.concept import concept
from service.writing.tables.dictionary import dictionary
from service.writing.tables.document import document
from service.writing.tables.embedding import embedding
from service.writing.tables.follows import follows
from service.writing.tables.is_a import is_a
from service.writing.tables.linked_change import LinkedChange, TableWriter
from service.writing.tables.memory import memory
from service.writing.tables.orphan import orphan
from service.writing.tables.references import references
from service.writing.tables.related_to import related_to
from service.writing.tables.relinking import relinking
from service.writing.tables.tombstone import tombstone
from service.writing.tables.unembedded import unembedded
from service.writing.tables.unlinked import unlinked

# In this order: the guard first, what edges lead from and to before the edges, orphans after them.
# What waits early: an insert that meets a row is taken back, for the time of all written so far.
TABLES: Final[tuple[TableWriter, ...]] = (
    dictionary, unembedded, memory, embedding, concept, references, related_to, is_a, orphan,
    follows, candidate, abbreviation, document, tombstone, archive, audit, relinking, unlinked,
)  # fmt: skip


async def write(db: Database, linked: LinkedChange) -> None:
    """Write what every table has of a change, then what other rooms add to it, or nothing.

    It is in the store then, and not yet taken in. Raises what Database.write raises; StaleRead when
    another writer came in between.
    """
    # The words of a thousand sections take a second.
    length = length_of((*linked.change.drafts, *linked.change.gone))
    query, params = await read_texts(length, _transaction, linked)
    await db.write(query, params)


def _transaction(linked: LinkedChange) -> tuple[Query, dict[str, Any]]:
    fragments = [one for table in TABLES if (one := table(linked)) is not None]
    return transaction("write", [*fragments, *linked.change.fragments])
