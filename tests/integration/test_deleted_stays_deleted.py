"""What was deleted for good: nothing brings it back but a writer who means to, nothing keeps it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import orjson
import pytest

from service.consolidate.consolidating import Consolidation, consolidate
from service.consolidate.planning import Target
from service.consolidate.undoing import undo_run
from service.ingest.jobs import Scans
from service.memories.storing import remove
from service.settings import Settings
from service.store.vector_forms import VectorForm
from tests.stores.graph_check import frozen
from tests.stores.open_store import START, OpenStore, open_store
from tests.stores.scans import scans_of

pytestmark = pytest.mark.anyio
FORMS: tuple[VectorForm, ...] = ("array", "bytes")

# Each of its words stands in that section alone; all that names are learned from is in it.
UNIQUE = """## Zebrafinch Protocol

The Quokkaville Institute (QVI) keeps [[Xylospongium]] under #wombatsecret, as Aardwolfson said.
"""
WORDS = ("zebrafinch", "quokkaville", "xylospongium", "wombatsecret", "aardwolfson", "qvi")
NOTE = f"# Notes\n\n## First\n\nWater.\n\n{UNIQUE}\n## Last\n\nStone.\n"


async def section(world: OpenStore, words: str, agent: str = "main") -> str:
    rows = await world.ask(
        "SELECT VALUE id FROM memory WHERE agent = $who AND content CONTAINS $words",
        who=agent, words=words,
    )  # fmt: skip
    assert isinstance(rows, list)
    [key] = rows
    return str(key)


async def forget(world: OpenStore, words: str) -> None:
    await remove(world.pipeline, "main", await section(world, words))


async def contents(world: OpenStore) -> list[str]:
    rows = await world.ask("SELECT VALUE content FROM memory ORDER BY content")
    assert isinstance(rows, list)
    return sorted(rows)


async def everything(world: OpenStore) -> str:
    """Return every row of every table, as text in lower case."""
    info: Any = await world.ask("INFO FOR DB")
    rows = [await world.ask(f"SELECT * FROM {table}") for table in info["tables"]]  # noqa: S608 - its own names
    assert len(rows) > 15
    return orjson.dumps(frozen_rows(rows), default=str).decode().lower()


def frozen_rows(rows: list[Any]) -> list[Any]:
    return [[{str(k): frozen(v) for k, v in row.items()} for row in table] for table in rows]


@asynccontextmanager
async def scanning(world: OpenStore, notes: Path) -> AsyncIterator[Scans]:
    settings = Settings(_env_file=None, sources=(notes,))
    scans = scans_of(world.pipeline, settings)
    running = asyncio.create_task(scans.runner.run())
    try:
        yield scans
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


@pytest.mark.parametrize("form", FORMS)
async def test_a_deleted_section_does_not_come_back_with_its_document(
    tmp_path: Path, form: VectorForm
) -> None:
    async with open_store(tmp_path, form) as world:
        await world.read("a.md", NOTE)
        await forget(world, "Quokkaville")
        for text in (NOTE, NOTE + "\n## New\n\nAir.\n", NOTE.replace("# Notes", "# Old notes")):
            assert "Quokkaville" not in " ".join(await contents(world))
            synced = await world.read("a.md", text)
            assert any("a.md: 1 of its sections" in told for told in synced.warnings)
        assert len(await contents(world)) == 2
        assert await world.complaints() == []


@pytest.mark.parametrize("form", FORMS)
async def test_no_table_keeps_a_word_of_it(tmp_path: Path, form: VectorForm) -> None:
    async with open_store(tmp_path, form) as world:
        await world.read("memory/2026-02-13.md", NOTE)
        await world.read("memory/2026-02-14.md", NOTE.replace("Water", "Fire"))
        shown = Consolidation(Target("main", None, START.replace(year=2030)), dry_run=True)
        await consolidate(world.pipeline, shown)
        before = await everything(world)
        assert [word for word in WORDS if word not in before] == []
        assert await world.ask("SELECT VALUE id FROM plan")
        for key in await world.ids():
            await remove(world.pipeline, "main", key)
        await world.read("memory/2026-02-13.md", NOTE)
        kept = await everything(world)
        assert [word for word in WORDS if word in kept] == []
        assert await world.complaints() == []


async def test_what_no_section_was_made_of_goes_with_the_last(tmp_path: Path) -> None:
    async with open_store(tmp_path) as world:
        world.pipeline.max_sections = 2
        text = f"---\ntitle: Gnu\n---\n# Emu\n\n## One\n\n1\n\n## Two\n\n2\n\n{UNIQUE}"
        await world.read("a.md", text)
        await forget(world, "1")
        assert [
            word for word in ("gnu", "emu", *WORDS) if word not in await everything(world)
        ] == []
        await forget(world, "2")
        for _ in range(2):
            kept = await everything(world)
            assert [word for word in ("gnu", "emu", *WORDS) if word in kept] == []
            await world.read("a.md", text)


async def test_an_edit_of_the_section_is_a_new_memory(tmp_path: Path) -> None:
    async with open_store(tmp_path) as world:
        await world.read("a.md", NOTE)
        await forget(world, "Quokkaville")
        edited = NOTE.replace("keeps", "no longer keeps")
        assert (await world.read("a.md", edited)).created == 1
        assert "no longer keeps" in " ".join(await contents(world))
        assert (await world.read("a.md", NOTE)).removed == 1
        assert await world.complaints() == []


async def test_an_equal_section_of_another_document_is_another_memory(tmp_path: Path) -> None:
    async with open_store(tmp_path) as world:
        await world.read("a.md", "## Backup\n\nIt failed.\n")
        await forget(world, "failed")
        assert (
            await world.read("b.md", "## Backup\n\nIt failed.\n\n## Else\n\nFine.\n")
        ).created == 2
        await world.read("a.md", "## Backup\n\nIt failed.\n", agent="scout")
        assert len(await world.ids("scout")) == 1


@pytest.mark.parametrize("which", [0, 1])
async def test_of_two_that_say_the_same_in_a_document_the_other_one_stays(
    tmp_path: Path, which: int
) -> None:
    text = "# N\n\n## Same\n\nWords.\n\n## Other\n\nOh.\n\n## Same\n\nWords.\n"
    async with open_store(tmp_path) as world:
        await world.read("a.md", text)
        rows: Any = await world.ask(
            "SELECT id, source.line_start AS at FROM memory WHERE content = 'Words.' ORDER BY at"
        )
        await remove(world.pipeline, "main", rows[which]["id"])
        # Another section comes, and lines above move all of them.
        for new in (f"{text}\n## New\n\nAir.\n", text.replace("# N\n", "# N\n\nAir.\n")):
            assert (await world.read("a.md", new)).unchanged == 2
            assert await contents(world) == ["Air.", "Oh.", "Words."]
            kept: Any = await world.ask("SELECT VALUE text FROM ONLY document LIMIT 1")
            assert kept.count("Words.") == 1
        assert await world.complaints() == []


async def test_a_whole_document_stays_deleted_under_another_name_too(tmp_path: Path) -> None:
    async with open_store(tmp_path) as world:
        await world.read("a.md", NOTE)
        for key in await world.ids():
            await remove(world.pipeline, "main", key)
        for uri in ("a.md", "moved.md", "copies/of/moved.md"):
            synced = await world.read(uri, NOTE)
            assert (synced.created, synced.removed) == (0, 0)
        # What is known by its text is known by its name from then on.
        assert (await world.read("moved.md", f"{NOTE}\n## New\n\nAir.\n")).created == 1
        assert await contents(world) == ["Air."]
        assert await world.complaints() == []


async def test_what_went_one_after_the_other_stays_deleted_under_another_name(
    tmp_path: Path,
) -> None:
    async with open_store(tmp_path) as world:
        await world.read("a.md", NOTE)
        await forget(world, "Quokkaville")
        await forget(world, "Water")
        assert (await world.read("moved.md", NOTE)).created == 1
        assert await contents(world) == ["Stone.", "Stone."]
        assert await world.complaints() == []


async def test_a_scan_restores_nothing_whatever_becomes_of_the_file(tmp_path: Path) -> None:
    async with open_store(tmp_path) as world, scanning(world, tmp_path / "notes") as runner:
        path = tmp_path / "notes" / "a.md"
        path.parent.mkdir()
        path.write_text(NOTE, encoding="utf-8")
        assert (await runner.run_and_wait(None)).created == 3
        await forget(world, "Quokkaville")
        again = await runner.run_and_wait(None)
        # Nothing is read anew for it: the sealed hash is known.
        assert (again.created, again.unchanged, again.warnings) == (0, 2, [])
        path.rename(path.with_name("b.md"))
        assert (await runner.run_and_wait(None)).created == 2
        path.with_name("b.md").unlink()
        path.with_name("other.md").touch()  # a folder that lost all its files removes nothing
        assert (await runner.run_and_wait(None)).removed == 2
        path.write_text(NOTE, encoding="utf-8")
        assert (await runner.run_and_wait(None)).created == 2
        assert "Quokkaville" not in " ".join(await contents(world))
        assert await world.complaints() == []


async def test_what_is_deleted_while_its_document_is_embedded_stays_deleted(
    tmp_path: Path,
) -> None:
    async with open_store(tmp_path) as world:
        await world.read("a.md", NOTE)
        embed = world.vectors.embed_some

        async def slowly(texts: Any, patience: Any) -> Any:
            world.vectors.embed_some = embed  # type: ignore[method-assign]
            await forget(world, "Quokkaville")
            await forget(world, "Water")
            return await embed(texts, patience)

        world.vectors.embed_some = slowly  # type: ignore[method-assign]
        # Tags of the whole document: each section comes as another version.
        await world.read("a.md", f"---\ntags: [new]\n---\n{NOTE}\n## New\n\nAir.\n")
        assert await contents(world) == ["Air.", "Stone."]
        text = await world.ask("SELECT VALUE text FROM document")
        assert "Quokkaville" not in str(text)
        assert await world.complaints() == []


async def test_undoing_a_consolidation_restores_no_source_that_was_deleted(tmp_path: Path) -> None:
    async with open_store(tmp_path) as world:
        log = "## 09:00 Osprey\n\nThe Osprey-2 came.\n\n## 10:00 Osprey\n\nThe Osprey-2 went off.\n"
        await world.read("memory/2026-02-13.md", log)
        asked = Consolidation(Target("main", None, START.replace(year=2030)), dry_run=False)
        run = (await consolidate(world.pipeline, asked)).run
        await remove(world.pipeline, "main", await _source(world, "came"))
        assert "came" not in " ".join(await contents(world))
        if run and "summary" in str(await world.ask("SELECT VALUE kind FROM memory")):
            await undo_run(world.pipeline, "main", run, pin=False)
        await world.read("memory/2026-02-13.md", log)
        assert await contents(world) == ["The Osprey-2 went off."]
        assert await world.complaints() == []


async def _source(world: OpenStore, word: str) -> str:
    rows = await world.ask(
        "SELECT VALUE id FROM memory WHERE source_kind = 'document' AND content CONTAINS $word",
        word=word,
    )
    assert isinstance(rows, list)
    return str(rows[0])


async def test_a_writer_who_means_to_may_push_it_again(tmp_path: Path) -> None:
    async with open_store(tmp_path) as world:
        [key] = await world.push("The code is 4711.")
        await remove(world.pipeline, "main", key)
        assert await world.push("The code is 4711.") == [key]
        await world.read("a.md", "The code is 4711.\n")
        await remove(world.pipeline, "main", await _source(world, "4711"))
        assert await world.ids() == [key]
        assert await world.complaints() == []


async def test_a_tombstone_holds_hashes_that_only_this_store_can_make(tmp_path: Path) -> None:
    found = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        async with open_store(tmp_path / name) as world:
            await world.read("a.md", "## Code\n\n4711\n")
            await forget(world, "4711")
            rows: Any = await world.ask("SELECT * FROM tombstone")
            assert [sorted(row) for row in rows] == [["agent", "at", "id"]] * 2
            found.append({row["id"][1] for row in rows})
    assert not found[0] & found[1]
