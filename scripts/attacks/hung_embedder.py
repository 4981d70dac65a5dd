"""Finding 8: an embedding server that hangs, or sends a byte now and then."""

from concurrent.futures import ThreadPoolExecutor

from scripts.attacks.arena import Answered, Arena, Target
from scripts.attacks.embedder import Mood, embedder
from scripts.attacks.figures import Figure, count, seconds

# The issue's, and a second for the service's own work.
_SEARCH, _WRITE, _TWO_WRITES = 6.0, 11.0, 21.0


def attack(arena: Arena) -> list[Figure]:
    """Search and write while the embedder hangs, then while it drips."""
    moods: tuple[Mood, ...] = ("hung", "dripping")
    return [figure for mood in moods for figure in _in_mood(arena, mood)]


def _in_mood(arena: Arena, mood: Mood) -> list[Figure]:
    with embedder() as outer, arena.target(MEMORY_EMBEDDING_URL=outer.url) as target:
        target.post("/memories", text="the needle lies in the hay")
        outer.mood = mood
        found = target.post("/search", query="where is the needle?")
        with ThreadPoolExecutor(4) as pool:
            stored = pool.submit(target.post, "/memories", text="the thread is red", agent="bob")
            documents = [pool.submit(_ingest, target, n) for n in range(2)]
            write, *pushed = [stored.result(), *(one.result() for one in documents)]
    receipt = found.body["receipt"] if found.status == 200 else {}
    unsaid = int(not receipt.get("missing_signals"))
    last = max(pushed, key=lambda one: one.seconds)
    lost = sum(one.status not in {200, 201} for one in (write, *pushed))
    name = f"embedder {mood}"
    return [
        seconds(8, f"{name}: a search", found.seconds, _SEARCH, is_cut=found.is_cut),
        count(8, f"{name}: searches that do not say what is missing", unsaid),
        seconds(8, f"{name}: a write", write.seconds, _WRITE, is_cut=write.is_cut),
        seconds(8, f"{name}: the last of two /ingest", last.seconds, _TWO_WRITES,
                is_cut=last.is_cut),
        count(8, f"{name}: writes not stored", lost),
    ]  # fmt: skip


def _ingest(target: Target, number: int) -> Answered:
    return target.post("/ingest", source=f"n{number}.md", text=f"# Note {number}\n\nnew words\n")
