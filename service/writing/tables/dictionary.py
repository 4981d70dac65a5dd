"""An agent's dictionary: its version guards the transaction, its count the memories."""

from typing import Final

from service.store.database import record
from service.store.queries import Fragment, load_query
from service.writing.tables.linked_change import LinkedChange, fragment

QUERY: Final = load_query(__package__, "dictionary")


def dictionary(linked: LinkedChange) -> Fragment | None:
    """Refuse what was worked out from an older version; count what comes and goes."""
    return fragment(
        QUERY,
        dictionary=record("meta", ["dictionary", linked.agent]),
        dictionary_version=linked.dictionary_version,
        added=linked.growth,
    )
