"""The steps in time, from a memory to the one before it."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from service.links.change import Edge
from service.store.database import record
from service.store.queries import Fragment, load_query
from service.writing.tables.linked_change import LinkedChange, fragment

QUERY: Final = load_query(__package__, "follows")


def follows(linked: LinkedChange) -> Fragment | None:
    """Write and drop edges (later, earlier)."""
    change = linked.change
    new = {draft.key for draft in change.drafts} - change.replaced.keys()
    added, gone = _by_later(linked.follows), _by_later(linked.gone_follows)
    return fragment(
        QUERY,
        follows=[
            {"id": record("follows", key), "earlier": added[key]}
            for key in sorted(added)
            if key in new
        ],
        changed_follows=[
            {"id": record("follows", key), "added": added.get(key, []), "gone": gone.get(key, [])}
            for key in sorted(added.keys() | gone.keys())
            if key not in new
        ],
    )


def _by_later(edges: Iterable[Edge]) -> dict[str, list[str]]:
    earlier: dict[str, list[str]] = defaultdict(list)
    for later, before in sorted(edges):
        earlier[later].append(before)
    return dict(earlier)
