"""Turns are an agent's: an embedder that hangs for one of them holds up no other."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from service.consolidate.consolidating import Consolidation, consolidate
from service.consolidate.planning import Target
from service.settings import Settings
from service.writing.embed_later import keep_embedding
from service.writing.turns import Turns
from tests.servers.outer_embeddings import OuterEmbeddings
from tests.stores.open_store import START, OpenStore, open_store
from tests.stores.scans import scans_of

pytestmark = pytest.mark.anyio

# What hangs takes far longer than everything that must not wait for it.
_PATIENCE_SECONDS = 10.0


@asynccontextmanager
async def hanging(folder: Path) -> AsyncIterator[tuple[OpenStore, OuterEmbeddings]]:
    """Open a store whose embedder hangs for texts about molasses."""
    async with open_store(folder) as opened:
        opened.embeddings.hangs_on = "molasses"
        try:
            yield opened, opened.embeddings
        finally:
            opened.embeddings.let_go.set()


async def until_hanging(embedder: OuterEmbeddings) -> None:
    assert await asyncio.to_thread(embedder.is_hanging.wait, _PATIENCE_SECONDS)


async def until_embedded(opened: OpenStore, agent: str) -> None:
    """Wait until no memory of an agent is without a vector."""
    async with asyncio.timeout(_PATIENCE_SECONDS):
        while await without_vector(opened, agent):  # noqa: ASYNC110 - nobody tells of it
            await asyncio.sleep(0.02)


async def without_vector(opened: OpenStore, agent: str) -> int:
    text = "SELECT VALUE id FROM memory WHERE agent = $who AND is_embedded = false"
    rows = await opened.ask(text, who=agent)
    assert isinstance(rows, list)
    return len(rows)


async def test_a_reading_and_a_push_wait_for_no_other_agent(tmp_path: Path) -> None:
    async with hanging(tmp_path) as (opened, embedder):
        slow = asyncio.create_task(opened.read("slow.md", "# Molasses\n\nmolasses", "slow"))
        await until_hanging(embedder)
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
        scans = {
            name: scans_of(
                opened.pipeline,
                Settings(_env_file=None, agent=name, sources=(tmp_path / name,)),
            )
            for name in ("slow", "quick")
        }  # fmt: skip
        running = [asyncio.create_task(one.runner.run(inherits=False)) for one in scans.values()]
        try:
            slow = asyncio.create_task(scans["slow"].run_and_wait(None))
            await until_hanging(embedder)
            async with asyncio.timeout(_PATIENCE_SECONDS):
                assert (await scans["quick"].run_and_wait(None)).created == 1
            assert not slow.done()
            embedder.let_go.set()
            assert (await slow).created == 1
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)


async def test_a_consolidation_waits_for_no_other_agent(tmp_path: Path) -> None:
    async with hanging(tmp_path) as (opened, embedder):
        for agent, word in (("slow", "molasses"), ("quick", "water")):
            embedder.let_go.set()
            texts = [f"The {word} pump of {agent} runs since hour {n}." for n in range(4)]
            await opened.push(*texts, agent=agent, kind="daily_log")
        embedder.let_go.clear()
        embedder.is_hanging.clear()
        slow = asyncio.create_task(_consolidate(opened, "slow"))
        await until_hanging(embedder)
        async with asyncio.timeout(_PATIENCE_SECONDS):
            assert await _consolidate(opened, "quick") == 4
        assert not slow.done()
        embedder.let_go.set()
        assert await slow == 4


async def test_vectors_that_wait_wait_for_no_other_agent(tmp_path: Path) -> None:
    async with hanging(tmp_path) as (opened, embedder):
        opened.embeddings.refused_words = "mo"
        embedder.let_go.set()
        await opened.push("molasses", agent="slow")
        await opened.push("momentum", agent="quick")
        opened.embeddings.refused_words = None
        embedder.let_go.clear()
        embedder.is_hanging.clear()
        keeping = asyncio.create_task(keep_embedding(opened.pipeline))
        try:
            await until_hanging(embedder)
            await until_embedded(opened, "quick")
            assert await without_vector(opened, "slow") == 1
            # What comes meanwhile is embedded as well.
            opened.embeddings.refused_words = "monument"
            await opened.push("monument", agent="quick")
            opened.embeddings.refused_words = None
            await until_embedded(opened, "quick")
            embedder.let_go.set()
            await until_embedded(opened, "slow")
        finally:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)


async def _consolidate(opened: OpenStore, agent: str) -> int:
    target = Target(agent, None, START + timedelta(days=30))
    done = await consolidate(opened.pipeline, Consolidation(target, dry_run=False))
    return done.counts.memories


def test_a_lock_lives_as_long_as_somebody_needs_it() -> None:
    turns = Turns()
    lock = turns.of("a")
    assert turns.of("a") is lock
    assert turns.of("b") is not lock
    del lock
    assert len(turns._locks) == 0
