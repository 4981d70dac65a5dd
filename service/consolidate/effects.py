"""What a consolidation, or its undoing, writes besides memories; pure."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from service.store.database import record


@dataclass(frozen=True, slots=True)
class Joining:
    """Memories that go into a summary beside those that stay in it.

    `states` has the content hash of each when the summary was made.
    """

    summary: str
    memories: tuple[str, ...]
    staying: tuple[str, ...]
    states: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Derived:
    """A summary and one of its sources, with the lines of the summary (from 1) that it gave."""

    summary: str
    source: str
    lines: tuple[int, ...]
    content_hash: str
    run: str


@dataclass(frozen=True, slots=True)
class Effects:
    """What is archived, what comes back, and the derived_from edges to write and to drop.

    `released` come back out of the archive, pinned if `is_pinning`; `left` are the edges (summary,
    source) that go.
    """

    joining: tuple[Joining, ...] = ()
    derived: tuple[Derived, ...] = ()
    released: tuple[str, ...] = ()
    left: tuple[tuple[str, str], ...] = ()
    is_pinning: bool = False

    def joined(self, other: "Effects") -> "Effects":
        """Return both together."""
        return Effects(
            self.joining + other.joining, self.derived + other.derived,
            self.released + other.released, self.left + other.left,
            self.is_pinning or other.is_pinning,
        )  # fmt: skip


NO_EFFECTS: Final = Effects()


def effect_params(effects: Effects, now: datetime) -> dict[str, Any]:
    """Return the bound variables of write.surql that carry this out."""
    return {
        "joining": [
            {
                "summary": record("memory", one.summary), "archived_at": now,
                "memories": [record("memory", key) for key in one.memories],
                "staying": [record("memory", key) for key in one.staying],
                "states": [[record("memory", key), state] for key, state in one.states],
            }
            for one in effects.joining
        ],
        "derived": [
            {
                "id": record("derived_from", [one.summary, one.source]),
                "in": record("memory", one.summary), "out": record("memory", one.source),
                "lines": list(one.lines), "content_hash": one.content_hash, "run": one.run,
            }
            for one in effects.derived
        ],
        "left": [record("derived_from", list(edge)) for edge in effects.left],
        "released": [record("memory", key) for key in effects.released],
        "is_pinning": effects.is_pinning,
    }  # fmt: skip
