"""Documents as they were last read, and how many memories each has."""

from collections import Counter
from dataclasses import asdict
from typing import Final

from service.links.change import Change, DocumentRow
from service.store.database import record
from service.store.queries import Fragment, load_query
from service.writing.tables.linked_change import LinkedChange, fragment

QUERY: Final = load_query(__package__, "document")


def document(linked: LinkedChange) -> Fragment | None:
    """Write, cut and remove documents; one that loses memories by another way counts fewer."""
    agent, change = linked.agent, linked.change
    return fragment(
        QUERY,
        documents=[
            {
                "id": record("document", [agent, d.uri]), "agent": agent, "uri": d.uri,
                "folder": d.folder, "text": d.text, "text_hash": d.text_hash,
                "sections": d.sections, "updated_at": linked.now, "withheld": _withheld(d),
                **asdict(d.sender),
            }
            for d in change.documents
        ],
        cut_documents=[
            {
                "id": record("document", [agent, d.uri]), "text": d.text,
                "text_hash": d.text_hash, "withheld": _withheld(d),
            }
            for d in change.cut_documents
        ],
        gone_documents=[record("document", [agent, uri]) for uri in change.gone_documents],
        shrunken=[
            {"id": record("document", [agent, uri]), "by": by}
            for uri, by in sorted(_shrunken(change).items())
        ],
    )  # fmt: skip


def _withheld(document: DocumentRow) -> list[list[int]] | None:
    return [list(lines) for lines in document.withheld] or None


def _shrunken(change: Change) -> Counter[str]:
    """Return how many sections leave documents that stay and are not written themselves."""
    written = {document.uri for document in change.documents} | set(change.gone_documents)
    gone = (memory.uri for memory in change.gone)
    return Counter(uri for uri in gone if uri and uri not in written)
