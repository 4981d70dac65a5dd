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
    """Write and drop edges (later, earlier), in the rows of both ends."""
    change = linked.change
    new = {draft.id for draft in change.drafts} - change.replaced.keys()
    leaving = {memory.id for memory in change.gone}
    earlier, later = _by_ends(linked.follows)
    gone_earlier, gone_later = _by_ends(linked.gone_follows)
    touched = earlier.keys() | later.keys() | gone_earlier.keys() | gone_later.keys()
    kept = sorted(touched - leaving)
    return fragment(
        QUERY,
        follows=[
            {
                "id": record("follows", key), "earlier": earlier.get(key, []),
                "later": later.get(key, []),
            }
            for key in kept
            if key in new
        ],
        changed_follows=[
            {
                "id": record("follows", key), "earlier": earlier.get(key, []),
                "later": later.get(key, []), "gone_earlier": gone_earlier.get(key, []),
                "gone_later": gone_later.get(key, []),
            }
            for key in kept
            if key not in new
        ],
    )  # fmt: skip


def _by_ends(edges: Iterable[Edge]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return what comes before each memory, and what comes after it."""
    earlier: dict[str, list[str]] = defaultdict(list)
    later: dict[str, list[str]] = defaultdict(list)
    for after, before in sorted(edges):
        earlier[after].append(before)
        later[before].append(after)
    return dict(earlier), dict(later)
