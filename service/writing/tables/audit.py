"""The log of what was removed for good."""

import secrets
from typing import Final

from service.access.caller import caller
from service.moments import micros_of
from service.store.queries import Fragment, load_query
from service.writing.tables.linked_change import LinkedChange, fragment

QUERY: Final = load_query(__package__, "audit")


def audit(linked: LinkedChange) -> Fragment | None:
    """Note each memory that goes, where the change says why, and in whose name."""
    change, who = linked.change, caller()
    return fragment(
        QUERY,
        audit=[
            {
                "id": [micros_of(linked.now), secrets.token_hex(8)], "at": linked.now,
                "operation": change.audit, "outcome": "done", "key": who.key, "name": who.name,
                "agent": change.agent, "address": who.address, "ids": [one.id], "count": 1,
            }
            for one in change.gone
            if change.audit
        ],
    )  # fmt: skip
