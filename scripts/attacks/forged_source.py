"""Finding 16: a writer claims to be the service itself; ids of different memories are equal."""

from scripts.attacks.arena import Arena, Target
from scripts.attacks.figures import Figure, count

_CLAIMED = ("consolidation", "document")


def attack(arena: Arena) -> list[Figure]:
    """Post memories with the service's own kinds of source, and with separators in fields."""
    with arena.target() as target:
        taken = [kind for kind in _CLAIMED if _is_taken(target, kind)]
        pairs = [
            ({"title": "t\x1fx", "text": "y"}, {"title": "t", "text": "x\x1fy"}),
            ({"scope": "a\x1fb", "text": "z"}, {"scope": "a", "session": "b\x1f", "text": "z"}),
        ]
        same = sum(_overwrites(target, *pair) for pair in pairs)
    return [
        count(16, "the service's own source kinds that a writer may claim", len(taken),
              note=", ".join(taken)),
        count(16, "memories that overwrite another by \\x1f", same, note=f"{len(pairs)} pairs"),
    ]  # fmt: skip


def _is_taken(target: Target, kind: str) -> bool:
    told = target.post("/memories", text=f"claims {kind}", source_kind=kind, source_ref="r")
    return told.status == 201


def _overwrites(target: Target, one: dict[str, str], other: dict[str, str]) -> bool:
    moment = "2026-03-01T10:00:00Z"
    told = [target.post("/memories", **fields, occurred_at=moment) for fields in (one, other)]
    ids = [answer.body["id"] for answer in told if answer.status == 201]
    return len(ids) == 2 and ids[0] == ids[1]
