"""Finding 11: what was deleted for good is still there, or comes back."""

from scripts.attacks.arena import Arena, Target
from scripts.attacks.figures import Figure, count

_HIDDEN = "marmalade"
_NOTE = f"# Note\n\n## Kept\n\nthe kettle is blue\n\n## Deleted\n\n{_HIDDEN} is the secret\n"


def attack(arena: Arena) -> list[Figure]:
    """Delete one section of a document, read the document, send it again; then edit it."""
    with arena.target() as target:
        target.post("/ingest", source="note.md", text=_NOTE)
        for hit in _hits(target):
            target.ask("DELETE", f"/memories/{hit}")
        shown = target.ask("GET", "/documents", params={"path": "note.md"})
        target.post("/ingest", source="note.md", text=_NOTE)
        back = len(_hits(target))
        target.post("/ingest", source="note.md", text=_NOTE + "\n## New\n\nanother line\n")
        after_growth = len(_hits(target))
        kept = _count(target, "kettle")
        target.post("/ingest", source="note.md", text=_NOTE.replace("secret", "jam of the house"))
        edited = _count(target, "jam")
    return [
        count(11, "GET /documents serves the deleted section", int(_HIDDEN in str(shown.body))),
        count(11, "memories back after sending the document again", back),
        count(11, "memories back after sending it with a section more", after_growth),
        count(11, "kept sections lost", int(not kept)),
        count(11, "edits of the deleted section not stored", int(not edited)),
    ]


def _hits(target: Target) -> list[str]:
    found = target.post("/search", query=_HIDDEN, weights={"vector": 0, "text": 1, "graph": 0})
    return [one["id"] for one in found.body["results"] if _HIDDEN in one["content"]]


def _count(target: Target, word: str) -> int:
    found = target.post("/search", query=word, weights={"vector": 0, "text": 1, "graph": 0})
    return sum(word in one["content"] for one in found.body["results"])
