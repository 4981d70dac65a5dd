"""Turns are an agent's: an embedder that hangs for one of them holds up no other."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from service.consolidate.consolidating import consolidate
from service.consolidate.planning import Wish
from service.ingest.jobs import JobRunner
from service.ingest.scan import ScanCounts
from service.settings import Settings
from service.writing.embed_later import keep_embedding
from service.writing.turns import Turns
from tests.servers.outer_embeddings import Answer, OuterEmbeddings
from tests.stores.open_store import START, OpenStore, open_store

# What hangs takes far longer than everything that must not wait for it.
_PATIENCE_SECONDS = 10.0


class HangingFor:
    """A fake at the outer edge: answers at once, but for texts with one word only when let go."""

    def __init__(self, outer: OuterEmbeddings, word: str) -> None:
        self.is_asked, self.let_go = threading.Event(), threading.Event()
        embeddings = outer.embeddings

        def answer(texts: list[str]) -> Answer:
            if word in " ".join(texts):
                self.is_asked.set()
                self.let_go.wait(60)
            return embeddings(texts)

        outer.embeddings = answer  # type: ignore[method-assign, assignment]

    async def until_asked(self) -> None:
        """Wait until somebody hangs."""
        assert await asyncio.to_thread(self.is_asked.wait, _PATIENCE_SECONDS)


@asynccontextmanager
async def hanging(folder: Path) -> AsyncIterator[tuple[OpenStore, HangingFor]]:
    async with open_store(folder) as opened:
        embedder = HangingFor(opened.embeddings, "molasses")
        try:
            yield opened, embedder
        finally:
            embedder.let_go.set()


async def test_a_reading_and_a_push_wait_for_no_other_agent(tmp_path: Path) -> None:
    async with hanging(tmp_path) as (opened, embedder):
        slow = asyncio.create_task(opened.read("slow.md", "# Molasses\n\nmolasses", "slow"))
        await embedder.until_asked()
        async with asyncio.timeout(_PATIENCE_SECONDS):
            assert (await opened.read("quick.md", "# Quick\n\nquick", "quick")).created == 1
            await opened.push("quick as well", agent="quick")
        assert not slow.done()
        embedder.let_go.set()
        assert (await slow).created == 1
        assert await opened.complaints() == []


async def test_a_scan_waits_for_no_other_agent(tmp_path: Path) -> None:
    for name in ("slow", "quick"):
        (tmp_path / name).mkdir()
        text = f"# {name}\n\n{'molasses' if name == 'slow' else 'water'}\n"
        (tmp_path / name / "note.md").write_text(text, encoding="utf-8")
    async with hanging(tmp_path) as (opened, embedder):
        settings = Settings(_env_file=None, sources=(tmp_path / "slow", tmp_path / "quick"))
        runner = JobRunner(opened.db, opened.pipeline, settings)
        running = asyncio.create_task(runner.run())
        try:
            slow = asyncio.create_task(_scan(runner, "slow", tmp_path / "slow"))
            await embedder.until_asked()
            async with asyncio.timeout(_PATIENCE_SECONDS):
                assert (await _scan(runner, "quick", tmp_path / "quick")).created == 1
            assert not slow.done()
            embedder.let_go.set()
            assert (await slow).created == 1
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


async def test_a_consolidation_waits_for_no_other_agent(tmp_path: Path) -> None:
    async with hanging(tmp_path) as (opened, embedder):
        for agent, word in (("slow", "molasses"), ("quick", "water")):
            embedder.let_go.set()
            texts = [f"The {word} pump of {agent} runs since hour {n}." for n in range(4)]
            await opened.push(*texts, agent=agent, kind="daily_log", tags=("pump",))
        embedder.let_go.clear()
        embedder.is_asked.clear()
        slow = asyncio.create_task(_consolidate(opened, "slow"))
        await embedder.until_asked()
        async with asyncio.timeout(_PATIENCE_SECONDS):
            assert await _consolidate(opened, "quick") == 4
        assert not slow.done()
        embedder.let_go.set()
        assert await slow == 4


async def test_vectors_that_wait_wait_for_no_other_agent(tmp_path: Path) -> None:
    async with hanging(tmp_path) as (opened, embedder):
        await opened.push("molasses", agent="slow")  # type: ignore[arg-type]
        for key in await opened.ids("slow"):
            await opened.ask(
                "UPDATE type::record('memory', $key) SET is_embedded = false; "
                "DELETE type::record('embedding', $key)", key=key,
            )  # fmt: skip


async def _scan(runner: JobRunner, agent: str, folder: Path) -> ScanCounts:
    return await runner.run_and_wait(agent, (str(folder),))


async def _consolidate(opened: OpenStore, agent: str) -> int:
    return 0


def test_a_lock_lives_as_long_as_somebody_needs_it() -> None:
    turns = Turns()
    lock = turns.of("a")
    assert turns.of("a") is lock
    assert turns.of("b") is not lock
    del lock
    assert len(turns._locks) == 0
