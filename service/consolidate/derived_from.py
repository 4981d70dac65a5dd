"""The edges from summaries to their sources, and what becomes of the sources with them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from service.consolidate.reading import KINDS
from service.consolidate.summary.originals import Original
from service.store.database import record
from service.store.queries import Fragment, load_query

DERIVED_FROM: Final = load_query(__package__, "derived_from")


@dataclass(frozen=True, slots=True)
class Joining:
    """Memories that go into a summary beside those that stay in it.

    `states` has what each was when the summary was made: see `state_of`.
    """

    summary: str
    memories: tuple[str, ...]
    staying: tuple[str, ...]
    states: tuple[tuple[Any, ...], ...]


def state_of(original: Original) -> tuple[Any, ...]:
    """Return a source's id, text, wall and what else a summary takes from it, to be compared."""
    wall = (original.scope or "", original.trust_tier, original.sensitivity)
    labels = (original.origin, original.title, original.importance, list(original.tags))
    return (original.id, original.content_hash, *wall, *labels)


@dataclass(frozen=True, slots=True)
class Derived:
    """A summary and one of its sources, with the lines of the summary (from 1) that it gave."""

    summary: str
    source: str
    lines: tuple[int, ...]
    content_hash: str
    run: str


def derived_from(
    *,
    joining: Iterable[Joining] = (),
    derived: Iterable[Derived] = (),
    released: Iterable[str] = (),
    left: Iterable[tuple[str, str]] = (),
    pin: bool = False,
) -> Fragment:
    """Return what writes and drops edges, archives what joins a summary, and frees what leaves.

    `released` memories come back out of the archive, pinned if `pin`; `left` are the edges
    (summary, source) that go.
    """
    now = datetime.now(UTC)
    params = {
        "left": [record("derived_from", list(edge)) for edge in left],
        "released": [{"id": record("memory", key), "pin": pin} for key in released],
        "joining": [
            {
                "summary": record("memory", one.summary), "archived_at": now,
                "memories": [record("memory", key) for key in one.memories],
                "staying": [record("memory", key) for key in one.staying],
                "states": [[record("memory", key), *state] for key, *state in one.states],
                "kinds": list(KINDS),
            }
            for one in joining
        ],
        "derived": [
            {
                "id": record("derived_from", [one.summary, one.source]),
                "in": record("memory", one.summary), "out": record("memory", one.source),
                "lines": list(one.lines), "content_hash": one.content_hash, "run": one.run,
            }
            for one in derived
        ],
    }  # fmt: skip
    return Fragment(DERIVED_FROM, params)
