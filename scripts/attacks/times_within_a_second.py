"""Finding 3: times within one second sort wrongly."""

from scripts.attacks.arena import Arena, Target
from scripts.attacks.figures import Figure, count

_SECOND = "2026-03-01T10:00:0"
_TIMES = (f"{_SECOND}0Z", f"{_SECOND}0.500Z", f"{_SECOND}1Z")
_BATCH = 130


def attack(arena: Arena) -> list[Figure]:
    """Chain three posts around half a second, page through them, and chain undated batches."""
    with arena.target() as target:
        figures = _three(target)
    with arena.target() as target:
        batches = arena.sized(25)
        broken = sum(_broken_links(target, f"batch-{number}") for number in range(batches))
        what = f"missing or wrong `follows` in batches of {_BATCH} undated memories"
        figures.append(count(3, what, broken, note=f"of {batches * _BATCH:,}"))
    return figures


def _three(target: Target) -> list[Figure]:
    ids = [
        target.post("/memories", text=f"moment {n} of the test", session="s", occurred_at=time)
        .body["id"]
        for n, time in enumerate(_TIMES)
    ]  # fmt: skip
    middle = target.ask("GET", f"/memories/{ids[1]}").body
    around = [middle["before"], middle["after"]]
    listed = [one["id"] for one in target.ask("GET", "/memories").body["memories"]]
    paged = _paged(target)
    places = sum(a != b for a, b in zip(listed, reversed(ids), strict=False))
    return [
        count(3, "neighbours missing of the post in the middle", sum(not one for one in around)),
        count(3, "places of the list that are not newest first", places),
        count(3, "memories that paging with limit 1 never returns", len(set(ids) - set(paged))),
    ]


def _paged(target: Target) -> list[str]:
    found: list[str] = []
    cursor: str | None = None
    for _ in range(10):
        params = {"limit": "1", **({"cursor": cursor} if cursor else {})}
        page = target.ask("GET", "/memories", params=params).body
        found += [one["id"] for one in page["memories"]]
        cursor = page.get("next_cursor")
        if cursor is None:
            break
    return found


def _broken_links(target: Target, session: str) -> int:
    memories = [{"text": f"{session} event {n}", "session": session} for n in range(_BATCH)]
    ids = target.post("/memories/batch", memories=memories).body["ids"]
    broken = 0
    for before, key, after in zip([None, *ids], ids, [*ids[1:], None], strict=False):
        told = target.ask("GET", f"/memories/{key}").body
        seen = [one["id"] for side in ("before", "after") for one in told[side][:1]]
        broken += seen != [one for one in (before, after) if one]
    return broken
