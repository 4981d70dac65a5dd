"""Finding 17: neighbours and concepts tell of memories that are quarantined or archived."""

from scripts.attacks.arena import Arena, Target
from scripts.attacks.figures import Figure, count

_HIDDEN = "marmalade"


def attack(arena: Arena) -> list[Figure]:
    """Chain a hidden memory between two seen ones, and read these and the concepts."""
    with arena.target() as target:
        quarantined = _chain(target, "q", trust_tier="quarantined")
        archived = _chain(target, "a")
        target.ask("PATCH", f"/memories/{archived[1]}", json={"archived": True})
        chains = {"quarantined": quarantined, "archived": archived}
        shown = {name: _shown(target, [ids[0], ids[2]]) for name, ids in chains.items()}
        target.post("/memories", text="known to nobody", concepts=["Secretconcept"],
                    trust_tier="quarantined")  # fmt: skip
        concepts = str(target.ask("GET", "/concepts").body).casefold()
    return [
        *(count(17, f"neighbours that show the text of {name} memories", seen)
          for name, seen in shown.items()),
        count(17, "concepts of quarantined memories alone in /concepts",
              int("secretconcept" in concepts)),
    ]  # fmt: skip


def _chain(target: Target, session: str, **of_middle: str) -> list[str]:
    ids = []
    for minute, word in enumerate(("first", _HIDDEN, "third")):
        fields = of_middle if word == _HIDDEN else {}
        told = target.post(
            "/memories", text=f"{word} of {session}", session=session,
            occurred_at=f"2026-03-01T10:0{minute}:00Z", **fields,
        )  # fmt: skip
        ids.append(told.body["id"])
    return ids


def _shown(target: Target, ids: list[str]) -> int:
    return sum(_HIDDEN in str(target.ask("GET", f"/memories/{key}").body) for key in ids)
