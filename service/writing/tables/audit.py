"""The log of what was removed for good."""

from typing import Final

from service.store.queries import Fragment, load_query
from service.writing.tables.linked_change import LinkedChange, fragment

QUERY: Final = load_query(__package__, "audit")


def audit(linked: LinkedChange) -> Fragment | None:
    """Note each memory that goes, where the change says why."""
    change = linked.change
    return fragment(
        QUERY,
        audit=[
            {"action": change.audit, "agent": change.agent, "subject": one.id, "at": linked.now}
            for one in change.gone
            if change.audit
        ],
    )
