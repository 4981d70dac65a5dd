"""A name that comes up when many memories hold it already is linked to all of them, in time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from service.concepts.merging import merge_concepts, part_concepts
from service.errors import StoreUnavailable
from service.links import links, stored
from service.memories.storing import remove
from service.names.variants import Variants
from service.store.database import Database
from service.store.vector_forms import VectorForm
from service.writing import link_later, transaction, turns
from service.writing import pipeline as sync
from service.writing.link_later import UNLINKED, keep_linking, link_rest
from service.writing.tables.linked_change import LinkedChange
from tests.stores.killed import Killed
from tests.stores.open_store import OpenStore, open_store

pytestmark = pytest.mark.anyio

FORMS: tuple[VectorForm, ...] = ("array", "bytes")
# So few are looked for at first and linked in one transaction, and found in one look later on.
FIRST, AT_ONCE, IN_A_LOOK = 10, 3, 7
OLDER = 2 * FIRST + 5
DECLARED = '[[concept]]\nname = "Test"\naliases = ["trial"]\n'


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "_MOST_MENTIONING", FIRST)
    monkeypatch.setattr(links, "MOST_RELINKED", AT_ONCE)
    monkeypatch.setattr(link_later, "MOST_RELINKED", AT_ONCE)
    monkeypatch.setattr(link_later, "_MOST_FOUND", IN_A_LOOK)


async def older(opened: OpenStore, word: str = "test", **fields: Any) -> set[str]:
    """Store memories that hold a word which no concept has yet, and some that do not."""
    await opened.push(*(f"number {n} of something else" for n in range(4)))
    return {*await opened.push(*(f"number {n} of a {word}" for n in range(OLDER)), **fields)}


async def waiting(opened: OpenStore) -> list[Any]:
    rows: list[Any] = await opened.db.run(UNLINKED)
    return rows


async def counted(opened: OpenStore, slug: str) -> int | None:
    """Return what a concept tells of its memories; None where there is no such concept."""
    found = await stored.concept_counts(opened.db, "main", [slug])
    return found[slug][0] if slug in found else None


async def is_linked_to(opened: OpenStore, slug: str, keys: set[str]) -> None:
    """Check that a concept has just these memories, and that nothing is wrong or left."""
    assert await opened.memories_of(slug) == sorted(keys)
    assert await counted(opened, slug) == len(keys)
    assert await opened.complaints() == []
    assert await waiting(opened) == []


@asynccontextmanager
async def linking(opened: OpenStore) -> AsyncIterator[None]:
    """Link behind the answers, as the service does."""
    task = asyncio.create_task(keep_linking(opened.pipeline))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def until_linked(opened: OpenStore) -> None:
    async with asyncio.timeout(30):
        while await waiting(opened):  # noqa: ASYNC110 - nobody tells of it
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("form", FORMS)
async def test_a_new_name_is_linked_to_all_that_mentions_it_in_small_transactions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: VectorForm
) -> None:
    sizes: list[int] = []
    write = transaction.write

    async def counting(db: Database, linked: LinkedChange) -> None:
        sizes.append(len(linked.links.references.added))
        await write(db, linked)

    async with open_store(tmp_path, form) as opened:
        keys = await older(opened)
        monkeypatch.setattr(sync, "write", counting)
        [new] = await opened.push("something new", tags=("test",))
        assert len(await opened.memories_of("test")) == AT_ONCE + 1
        assert opened.pipeline.has_unlinked.is_set()
        await link_rest(opened.pipeline)
        assert max(sizes) == AT_ONCE + 1
        await is_linked_to(opened, "test", {*keys, new})


@pytest.mark.parametrize("form", FORMS)
async def test_a_name_that_was_linked_to_all_at_once_is_not_looked_for_again(
    tmp_path: Path, form: VectorForm
) -> None:
    """A batch may bring many names of which one stands everywhere."""
    async with open_store(tmp_path, form) as opened:
        await older(opened)
        await opened.push("something new", tags=("test", "kettle"))
        [row] = await waiting(opened)
        assert (row["names"], row["slugs"]) == (["test"], ["test"])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "texts", [["See [[blue harbour]]."], ["We saw Blue Harbour there.", "So Blue Harbour grew."]]
)
async def test_however_it_comes_to_be_known(
    tmp_path: Path, form: VectorForm, texts: list[str]
) -> None:
    async with open_store(tmp_path, form) as opened, linking(opened):
        keys = await older(opened, "blue harbour")
        # Both words, but no name.
        await opened.push(*(f"harbour {n} is blue" for n in range(FIRST)))
        for number, text in enumerate(texts):
            assert await opened.memories_of("blue_harbour") == []
            await opened.read(f"{number}.md", f"{text}\n")
        await until_linked(opened)
        linked = {*await opened.memories_of("blue_harbour")}
        assert keys < linked
        assert len(linked - keys) == len(texts)
        await is_linked_to(opened, "blue_harbour", linked)


@pytest.mark.parametrize("form", FORMS)
async def test_killed_at_any_place_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: VectorForm
) -> None:
    writing = Killed()
    async with open_store(tmp_path, form) as opened:
        keys = await older(opened)
        [new] = await opened.push("something new", tags=("test",))
    monkeypatch.setattr(sync, "write", writing)
    before = AT_ONCE + 1
    for lives in (1, 0, 2, 3, 1):
        async with open_store(tmp_path, form) as opened:
            writing.left = lives
            with pytest.raises(StoreUnavailable):
                await link_rest(opened.pipeline)
            now = len(await opened.memories_of("test"))
            assert before <= now <= before + AT_ONCE * lives
            assert await counted(opened, "test") == now
            before = now
    writing.left = 1000
    async with open_store(tmp_path, form) as opened:
        await link_rest(opened.pipeline)
        await is_linked_to(opened, "test", {*keys, new})


async def test_a_store_that_is_away_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, fails = transaction.write, [True]

    async def failing(db: Database, linked: LinkedChange) -> None:
        if linked.change.relink and fails:
            fails.clear()
            raise StoreUnavailable("away")
        await write(db, linked)

    monkeypatch.setattr(turns, "_REST_SECONDS", 0.01)
    async with open_store(tmp_path, "bytes") as opened, linking(opened):
        keys = await older(opened)
        monkeypatch.setattr(sync, "write", failing)
        [new] = await opened.push("something new", tags=("test",))
        await until_linked(opened)
        assert fails == []
        await is_linked_to(opened, "test", {*keys, new})


@pytest.mark.parametrize("form", FORMS)
async def test_what_is_written_or_goes_amid_is_as_if_it_had_been_so_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: VectorForm
) -> None:
    commit, amid = sync.commit, list[set[str]]()

    async def busy(*told: Any) -> Any:
        if len(amid) < 4:
            linked = {*await opened.memories_of("test")}
            for gone in (min(keys & linked), max(keys - linked)):
                await remove(opened.pipeline, "main", gone)
                keys.discard(gone)
            amid.append({*await opened.push(f"one more test, {len(amid)}")})
        return await commit(*told)

    monkeypatch.setattr(link_later, "commit", busy)
    async with open_store(tmp_path, form) as opened:
        keys = await older(opened)
        [new] = await opened.push("something new", tags=("test",))
        await link_rest(opened.pipeline)
        assert len(amid) == 4
        await is_linked_to(opened, "test", keys.union({new}, *amid))


async def test_a_concept_stays_while_memories_may_yet_be_linked_to_it(tmp_path: Path) -> None:
    async with open_store(tmp_path, "bytes") as opened:
        keys = await older(opened)
        await opened.push("something new", tags=("test",))
        linked = {*await opened.memories_of("test")}
        for key in linked:
            await remove(opened.pipeline, "main", key)
        assert await counted(opened, "test") == 0
        await link_rest(opened.pipeline)
        await is_linked_to(opened, "test", keys - linked)


async def test_one_that_nobody_mentions_in_the_end_goes(tmp_path: Path) -> None:
    async with open_store(tmp_path, "bytes") as opened:
        keys = await older(opened)
        [new] = await opened.push("something new", tags=("test",))
        for key in {*keys, new}:
            await remove(opened.pipeline, "main", key)
        assert await counted(opened, "test") == 0
        await link_rest(opened.pipeline)
        assert await counted(opened, "test") is None
        assert await opened.complaints() == []
        assert await waiting(opened) == []


async def test_merged_and_parted_amid_it_is_the_others_and_its_own_again(tmp_path: Path) -> None:
    async with open_store(tmp_path, "bytes") as opened:
        keys = await older(opened)
        trials = await opened.push("a first one", "a second one", tags=("trial",))
        [new] = await opened.push("something new", tags=("test",))
        await merge_concepts(opened.pipeline, "main", [Variants("trial", ("test",))], "r1")
        await link_rest(opened.pipeline)
        await is_linked_to(opened, "trial", {*keys, *trials, new})
        assert await counted(opened, "test") is None
        await part_concepts(opened.pipeline, "main", run="r1")
        await link_rest(opened.pipeline)
        await is_linked_to(opened, "test", {*keys, new})


@pytest.mark.parametrize("form", FORMS)
async def test_what_the_user_declares_is_linked_to_all_that_says_it(
    tmp_path: Path, form: VectorForm
) -> None:
    async with open_store(tmp_path, form) as opened:
        keys = await older(opened) | await older(opened, "trial")
        await opened.declare(DECLARED)
        # Said again amid it, and with one more alias: nothing is lost of the first.
        await opened.declare(DECLARED.replace('"trial"', '"trial", "something else"'))
        await link_rest(opened.pipeline)
        found = {*await opened.memories_of("test")}
        assert keys < found
        assert len(found) == len(keys) + 4
        await is_linked_to(opened, "test", found)
        await opened.declare("")
        await link_rest(opened.pipeline)
        assert await opened.complaints() == []


async def test_what_is_undeclared_amid_goes_where_it_belongs(tmp_path: Path) -> None:
    async with open_store(tmp_path, "bytes") as opened:
        await older(opened)
        await opened.declare(DECLARED)
        await opened.declare("")
        await link_rest(opened.pipeline)
        assert await opened.complaints() == []
        assert await waiting(opened) == []


async def test_quarantined_memories_are_linked_without_being_counted(tmp_path: Path) -> None:
    async with open_store(tmp_path, "bytes") as opened:
        silent = await older(opened, trust_tier="quarantined")
        [new] = await opened.push("something new", tags=("test",))
        await link_rest(opened.pipeline)
        assert {*await opened.memories_of("test")} == {*silent, new}
        assert await counted(opened, "test") == 1
        assert await opened.complaints() == []


async def test_two_agents_names_do_not_wait_for_each_other(tmp_path: Path) -> None:
    async with open_store(tmp_path, "bytes") as opened:
        keys = await older(opened, agent="one") | await older(opened)
        news = await opened.push("new", tags=("test",), agent="one")
        news += await opened.push("new", tags=("test",))
        assert len(await waiting(opened)) == 2
        await link_rest(opened.pipeline)
        found = {*await opened.memories_of("test"), *await opened.memories_of("test", "one")}
        assert found == {*keys, *news}
        assert await opened.complaints() == []
