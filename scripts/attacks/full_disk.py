"""Finding 15: a full disk, and what an embedder's or a database's refusal gives away."""

import resource
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from scripts.attacks.arena import Arena
from scripts.attacks.embedder import Mood, embedder
from scripts.attacks.figures import Figure, count, status

_KEY: Final = "sk-attack-4711-secret"
_OF_URL: Final = "hunter2-in-the-url"
# It tries a database that does not answer for half a minute, then says so and ends.
_STARTING_SECONDS: Final = 90
_NOT_READY: Final = (503, 503)


def attack(arena: Arena) -> list[Figure]:
    """Let no file of the store grow; make embeddings fail; put a password into the address."""
    figures = _full(arena)
    for refusal in (401, 429, 500):
        figures += _bad_embeddings(arena, str(refusal), "refusing", refusal)
    figures += _bad_embeddings(arena, "NaN", "not_a_number", 0)
    return [*figures, _password(arena)]


def _full(arena: Arena) -> list[Figure]:
    with arena.target() as target:
        target.post("/memories", text="stored before the disk was full")
        files = [path for path in target.folder.rglob("*") if path.is_file()]
        size = max(path.stat().st_size for path in files)
        resource.prlimit(target.watched.process.pid, resource.RLIMIT_FSIZE, (size, size))
        answers = [target.post("/memories", text=f"{n} " + "words " * 800) for n in range(40)]
        failed = [one for one in answers if one.status != 201]
        ready = target.ask("GET", "/health/ready")
    said = sum("disk" in str(one.body) or "space" in str(one.body) for one in failed)
    return [
        count(15, "disk full: writes answered by 500", sum(a.status == 500 for a in failed),
              note=f"{len(failed)} of {len(answers)} writes failed"),
        count(15, "disk full: failures that do not name the disk", len(failed) - said),
        status(15, "disk full: `ready`", ready.status, _NOT_READY),
    ]  # fmt: skip


def _bad_embeddings(arena: Arena, name: str, mood: Mood, refusal: int) -> list[Figure]:
    settings = {"MEMORY_EMBEDDING_API_KEY": _KEY}
    with embedder() as outer, arena.target(MEMORY_EMBEDDING_URL=outer.url, **settings) as target:
        target.post("/memories", text="stored while all was well")
        outer.mood, outer.refusal = mood, refusal
        told = target.post("/memories", text=f"stored while {name}")
        found = target.post("/search", query=f"which one was stored while {name}?")
        time.sleep(2)  # the work in the background asks too, and logs
        ready = target.ask("GET", "/health/ready")
        leaked = [
            where
            for where, text in (
                ("answers", f"{told.body} {found.body} {ready.body}"), ("log", target.log_text())
            )
            if _KEY in text
        ]  # fmt: skip
    return [
        status(15, f"embeddings answer {name}: `ready`", ready.status, _NOT_READY),
        count(15, f"embeddings answer {name}: places that show the API key", len(leaked),
              note=", ".join(leaked)),
        count(15, f"embeddings answer {name}: writes lost", int(told.status != 201)),
    ]  # fmt: skip


def _password(arena: Arena) -> Figure:
    with TemporaryDirectory() as place:
        log = Path(place, "log")
        settings = {
            "MEMORY_DATABASE_URL": f"ws://root:{_OF_URL}@127.0.0.1:9/rpc",
            "MEMORY_LOG_LEVEL": "info",
        }
        process, _ = arena.spawn(Path(place), log, settings)
        try:
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=_STARTING_SECONDS)
        finally:
            process.kill()
            process.wait()
        printed = log.read_text(encoding="utf-8", errors="replace").count(_OF_URL)
    return count(15, "times that a password in a ws:// URL is printed", printed)
