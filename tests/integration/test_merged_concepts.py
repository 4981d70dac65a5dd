"""Concepts that are one thing become one, on both engines; and each merge can be undone."""

from pathlib import Path
from typing import Any

import pytest

from service.concepts import merging
from service.concepts.merging import merge_concepts, part_concepts, variants_of
from service.concepts.route import get_concept, get_concepts
from service.errors import ConceptNotFound, InvalidRequest, StoreUnavailable
from service.index.evidence import Question
from service.links import merges
from service.links.change import Change
from service.links.merges import Merged
from service.memories.storing import remove
from service.names.variants import Variants
from service.records import Filters
from service.store.database import Database, record
from service.store.queries import Query
from service.store.vector_forms import VectorForm
from service.writing import pipeline as sync
from service.writing import transaction
from service.writing.pipeline import Pipeline, Synced
from service.writing.removing import remove_documents
from service.writing.tables.linked_change import LinkedChange
from tests.stores.killed import Killed
from tests.stores.open_store import OpenStore, open_store
from tests.stores.resident_index import resident_engine

pytestmark = pytest.mark.anyio

NOTES = {
    "one": "An [[embedding server]] beside [[GraphMemory]].",
    "two": "Both [[embedding servers]] are up, says GraphMemory.",
    "three": "More embedding servers, on Osprey-2. #kettle",
    "four": "The [[graph memory]] grows. #kettle",
}
SERVER = Merged("embedding_server", "embedding server", "link", False, "embedding_servers", "r1")
MEMORY = Merged("graph_memory", "graph memory", "link", False, "graphmemory", "r1")
# As it is when nobody sets it.
MOST_RELINKED = merges.MOST_RELINKED
FORMS: tuple[VectorForm, ...] = ("array", "bytes")


@pytest.fixture(autouse=True, params=[256, 1], ids=["at once", "one by one"])
def _transactions(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Link all memories anew in one transaction, or each in one of its own: it is the same."""
    monkeypatch.setattr(merges, "MOST_RELINKED", request.param)


async def read_notes(opened: OpenStore) -> None:
    for name, text in NOTES.items():
        await opened.read(f"{name}.md", f"{text}\n")


async def merge(opened: OpenStore, run: str = "r1") -> list[Merged]:
    """Merge all that is the same."""
    groups = await variants_of(opened.db, "main")
    return await merge_concepts(opened.pipeline, "main", groups, run)


async def graph(opened: OpenStore) -> dict[str, Any]:
    """Return concepts, references and ties, but for what was merged and parted."""
    tables = {
        "concept": "id, name, aliases, kind, memories, is_cased, is_declared",
        "references": "id",
        "related_to": "id, weight, is_declared",
        "is_a": "id",
        "abbreviation": "id, slug",
        "candidate": "id",
    }
    return {
        table: await opened.ask(f"SELECT {columns} FROM {table} ORDER BY id")  # noqa: S608 - names above
        for table, columns in tables.items()
    }


async def slugs(opened: OpenStore) -> set[str]:
    """Return the slugs of all concepts."""
    rows = await opened.ask("SELECT VALUE id FROM concept")
    assert isinstance(rows, list)
    return {row[1] for row in rows}


async def detail(opened: OpenStore, slug: str) -> Any:
    """Ask what GET /concepts/{id} asks."""
    return await get_concept(opened.pipeline, slug, "main")


@pytest.mark.parametrize("form", FORMS)
async def test_two_spellings_become_one_concept_and_two_again(
    tmp_path: Path, form: VectorForm
) -> None:
    async with open_store(tmp_path, form) as opened:
        await read_notes(opened)
        before = await graph(opened)
        assert await merge(opened) == [SERVER, MEMORY]
        assert await opened.complaints() == []
        assert not {"embedding_server", "graph_memory"} & await slugs(opened)
        assert len(await opened.memories_of("embedding_servers")) == 3
        assert len(await opened.memories_of("graphmemory")) == 3
        assert await part_concepts(opened.pipeline, "main", run="r1") == [SERVER, MEMORY]
        assert await opened.complaints() == []
        assert await graph(opened) == before
        assert await variants_of(opened.db, "main") == []


async def test_to_merge_again_changes_nothing(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        await read_notes(opened)
        groups = await variants_of(opened.db, "main")
        await merge_concepts(opened.pipeline, "main", groups, "r1")
        merged = await graph(opened)
        assert await variants_of(opened.db, "main") == []
        assert await merge_concepts(opened.pipeline, "main", groups, "r2") == []
        assert await part_concepts(opened.pipeline, "main", run="r2") == []
        assert await graph(opened) == merged


async def test_later_texts_reference_the_one_concept_after_a_restart_too(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        await read_notes(opened)
        await merge(opened)
        [key] = await opened.push("the graph memory has an embedding server")
        opened.pipeline.dictionaries.clear()
        [again] = await opened.push("one embedding server for any graph memory")
        for slug in ("embedding_servers", "graphmemory"):
            assert {key, again} <= set(await opened.memories_of(slug))
        await part_concepts(opened.pipeline, "main", concept="embedding_server")
        assert {key, again} <= set(await opened.memories_of("embedding_server"))
        assert {key, again} <= set(await opened.memories_of("graphmemory"))
        assert await opened.complaints() == []


async def test_one_concept_is_parted_and_the_others_stay(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        await read_notes(opened)
        await merge(opened)
        assert await part_concepts(opened.pipeline, "main", concept="graphmemory") == [MEMORY]
        assert await part_concepts(opened.pipeline, "main", concept="graphmemory") == []
        assert await part_concepts(opened.pipeline, "main", run="r1", concept="no such") == []
        assert "embedding_server" not in await slugs(opened)
        with pytest.raises(InvalidRequest, match="Say which run"):
            await part_concepts(opened.pipeline, "main")


async def test_what_nobody_mentions_any_more_does_not_come_back(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        await read_notes(opened)
        await merge(opened)
        await opened.read("four.md", "Nothing.\n")
        assert MEMORY in await part_concepts(opened.pipeline, "main", run="r1")
        assert "graph_memory" not in await slugs(opened)
        assert await opened.complaints() == []


async def test_abbreviations_go_where_their_names_go(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        texts = (
            "The Open Front End (OFE) is new.",
            "It is an Open FrontEnd (OFE).",
            "See the [[open frontend]].",
            "See the open frontend, an [[open front end]].",
            "OFE is slow.",
        )
        for number, text in enumerate(texts):
            await opened.read(f"{number}.md", f"{text}\n")
        ids = await opened.ids()
        before = await graph(opened)
        assert await merge(opened) != []
        found = await detail(opened, "open_front_end")
        assert (found.id, found.aliases) == ("open_frontend", ["OFE", "Open Front End"])
        assert await opened.memories_of("open_frontend") == ids
        assert await opened.complaints() == []
        await part_concepts(opened.pipeline, "main", run="r1")
        assert await opened.complaints() == []
        assert await graph(opened) == before


CARD = '[[concept]]\nname = "Embedding box"\naliases = ["embedding server"]\n'


async def test_what_is_declared_later_takes_a_merged_spelling_over(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        await read_notes(opened)
        await merge(opened)
        await opened.declare(CARD)
        assert len(await opened.memories_of("embedding_box")) == 1
        assert await opened.complaints() == []
        assert await part_concepts(opened.pipeline, "main", run="r1") == [MEMORY]
        await opened.declare("")
        assert await opened.complaints() == []
        opened.pipeline.dictionaries.clear()
        assert len(await opened.memories_of("embedding_server")) == 1
        assert await opened.complaints() == []


async def test_the_variant_of_a_declared_alias_goes_to_its_owner(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        await read_notes(opened)
        await merge(opened, "r1")
        await opened.declare(CARD)
        assert [(old.slug, old.into) for old in await merge(opened, "r2")] == [
            ("embedding_servers", "embedding_box")
        ]
        assert len(await opened.memories_of("embedding_box")) == 3
        assert await opened.complaints() == []
        await part_concepts(opened.pipeline, "main", run="r2")
        assert len(await opened.memories_of("embedding_servers")) == 2
        assert await opened.complaints() == []


async def test_merges_of_merges_are_undone_step_by_step(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        for name, text in {"a": "a [[file system]]", "b": "[[file systems]]"}.items():
            await opened.read(f"{name}.md", f"{text}\n")
        await merge(opened, "r1")
        first = await graph(opened)
        await opened.read("c.md", "one [[filesystem]]\n")
        await opened.read("d.md", "one [[filesystem]]\n")
        await opened.read("e.md", "the [[filesystem]]\n")
        [old] = await merge(opened, "r2")
        assert (old.slug, old.into) == ("file_system", "filesystem")
        assert (await detail(opened, "file_systems")).id == "filesystem"
        await part_concepts(opened.pipeline, "main", run="r2")
        assert (await detail(opened, "file_systems")).id == "file_system"
        await remove_documents(opened.pipeline, "main", ["c.md", "d.md", "e.md"])
        assert await graph(opened) == first
        await part_concepts(opened.pipeline, "main", run="r1")
        assert await slugs(opened) >= {"file_system", "file_systems"}
        assert await variants_of(opened.db, "main") == []
        assert await opened.complaints() == []


async def test_a_write_that_fails_leaves_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def failing(*_: object) -> None:
        raise StoreUnavailable("away")

    async with open_store(tmp_path) as opened:
        await read_notes(opened)
        before = await graph(opened)
        with monkeypatch.context() as patched:
            patched.setattr(sync, "write", failing)
            with pytest.raises(StoreUnavailable):
                await merge(opened)
        assert await graph(opened) == before
        [key] = await opened.push("the graph memory")
        assert key in await opened.memories_of("graph_memory")
        assert len(await merge(opened)) == 2
        assert await opened.complaints() == []


async def test_a_merge_of_many_memories_is_many_small_writes_and_goes_on_after_any(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merges, "MOST_RELINKED", MOST_RELINKED)
    relinked: list[int] = []
    write = transaction.write

    async def failing_once(db: Database, linked: LinkedChange) -> None:
        relinked.append(len(linked.change.regrouped.relink))
        if len(relinked) == 2:
            raise StoreUnavailable("away")
        await write(db, linked)

    async with open_store(tmp_path, form="bytes") as opened:
        count = 2 * MOST_RELINKED + 40
        for spelling in ("embedding server", "embedding servers"):
            await opened.read(f"{spelling}.md", f"The [[{spelling}]].\n")
            await opened.push(*(f"note {n} of [[{spelling}]]" for n in range(count - 1)))
        monkeypatch.setattr(sync, "write", failing_once)
        with pytest.raises(StoreUnavailable):
            await merge(opened)
        assert await merge(opened) == [], "what was begun goes on"
        # The second of them failed. The last one says that it is finished.
        assert relinked == [MOST_RELINKED, MOST_RELINKED, MOST_RELINKED, 40, 0]
        left = await slugs(opened) & {"embedding_server", "embedding_servers"}
        assert [len(await opened.memories_of(slug)) for slug in left] == [2 * count]
        assert await opened.complaints() == []


@pytest.mark.parametrize("form", FORMS)
async def test_a_chain_of_merges_that_is_killed_amid_comes_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: VectorForm
) -> None:
    """What was merged into a concept goes on with it, though that one stands there for a while."""
    monkeypatch.setattr(merges, "MOST_RELINKED", 1)
    async with open_store(tmp_path, form) as opened:
        await opened.read("a.md", "a [[file system]]\n")
        await opened.read("b.md", "b [[file systems]]\n")
        await merge(opened, "r1")
        for name in "cdefg":
            await opened.read(f"{name}.md", f"{name} [[filesystem]]\n")
        with monkeypatch.context() as patched:
            patched.setattr(sync, "write", Killed(left=1))
            with pytest.raises(StoreUnavailable):
                await merge(opened, "r2")
    async with open_store(tmp_path, form) as opened:
        assert await merge(opened, "r3") == [], "it goes on, and nothing else is to be merged"
        assert await opened.complaints() == []
        assert len(await opened.memories_of("filesystem")) == 7


@pytest.mark.parametrize("is_parted", [False, True])
async def test_a_concept_without_memories_stays_while_others_may_yet_be_linked_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_parted: bool
) -> None:
    monkeypatch.setattr(merges, "MOST_RELINKED", 1)
    commit, is_amid = sync.commit, [True]
    slug = "file_systems" if is_parted else "file_system"

    async def deleting(pipeline: Pipeline, change: Change) -> Synced:
        done = await commit(pipeline, change)
        if is_amid:
            is_amid.clear()
            for key in sorted({*await opened.memories_of(slug), *tagged}):
                await remove(opened.pipeline, "main", key)
        return done

    async with open_store(tmp_path) as opened:
        await opened.push("number one", "number two", tags=("file system",))
        await opened.push(*(f"plain {n}: the file systems are up" for n in range(4)))
        tagged = await opened.push("seven", tags=("file systems",))
        both = [Variants("file_system", ("file_systems",))]
        if is_parted:
            await merge_concepts(opened.pipeline, "main", both, "r1")
        monkeypatch.setattr(merging, "commit", deleting)
        if is_parted:
            await part_concepts(opened.pipeline, "main", run="r1")
        else:
            await merge_concepts(opened.pipeline, "main", both, "r1")
        linked = {key for one in await slugs(opened) for key in await opened.memories_of(one)}
        assert linked == {*await opened.ids()}
        assert await opened.complaints() == []


async def test_a_circle_that_an_older_version_left_is_parted(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        await read_notes(opened)
        await merge(opened)
        into_itself = {**SERVER.row(), "slug": "embedding_servers", "into": "embedding_server"}
        circle = [{**SERVER.row(), "into": "embedding_servers"}, into_itself]
        key = record("concept", ["main", "embedding_servers"])
        update = Query("own", "UPDATE $id SET merged = $merged", frozenset({"id", "merged"}), True)
        await opened.db.run(update, id=key, merged=circle)
        opened.pipeline.dictionaries.clear()
        parted = await part_concepts(opened.pipeline, "main", run="r1")
        assert "embedding_server" in {one.slug for one in parted}


async def test_a_concept_of_an_older_store_goes_to_the_one_that_has_it_as_an_alias(
    tmp_path: Path,
) -> None:
    async with open_store(tmp_path) as opened:
        [key] = await opened.push("an embedding server")
        await opened.declare(CARD)
        rows = {
            "id": record("concept", ["main", "embedding_server"]),
            "agent": "main",
            "memories": 1,
            "name": "embedding server",
            "aliases": [],
            "kind": "tag",
            "is_declared": False,
            "is_cased": False,
        }
        text = "INSERT INTO concept $rows"
        await opened.db.run(Query("old", text, frozenset({"rows"}), writes=True), rows=rows)
        take = """DELETE references;
            INSERT INTO references { id: $key, concepts: [["main", "embedding_server"]] };
            UPDATE concept:["main", "embedding_box"] SET memories = 0;"""
        await opened.db.run(Query("old", take, frozenset({"key"}), writes=True), key=key)
        assert await variants_of(opened.db, "main") == [
            Variants("embedding_box", ("embedding_server",))
        ]
        assert len(await merge(opened)) == 1
        assert await opened.memories_of("embedding_box") == [key]
        assert await opened.complaints() == []


async def test_concepts_tell_what_was_merged_into_them(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        await read_notes(opened)
        await merge(opened)
        found = await detail(opened, "graph_memory")
        assert (found.id, found.name, found.aliases) == (
            "graphmemory",
            "GraphMemory",
            ["graph memory"],
        )
        assert [(old.id, old.name, old.run) for old in found.merged] == [
            ("graph_memory", "graph memory", "r1")
        ]
        page = await get_concepts(opened.db, None, "main", q="graphm", limit=5, cursor=None)
        assert [concept.aliases for concept in page.concepts] == [["graph memory"]]
        with pytest.raises(ConceptNotFound):
            await get_concept(opened.pipeline, "graph_memory", "other")


@pytest.mark.parametrize("form", FORMS)
async def test_a_question_names_a_subject_by_either_spelling(
    tmp_path: Path, form: VectorForm
) -> None:
    async with open_store(tmp_path, form) as opened:
        for number, title in enumerate(("Embedding server", "Embedding servers", "Kettles")):
            await opened.push(f"Words number {number} on it.", title=title)
        keys = await opened.ids()
        titles = await opened.ask("SELECT VALUE title FROM memory ORDER BY id")
        assert isinstance(titles, list)

        async def named(text: str) -> set[str]:
            question = Question.read(text, None)
            found = await opened.engine.collect_evidence(question, Filters(("main",)), keys, 0)
            is_named = found.values["is_named"]
            return {titles[keys.index(k)] for k, n in zip(found.keys, is_named, strict=True) if n}

        assert await named("an embedding server?") == {"Embedding server"}
        await merge(opened)
        assert await named("an embedding server?") == {"Embedding server", "Embedding servers"}
        async with resident_engine(opened.db) as fresh:
            found = await fresh.collect_evidence(
                Question.read("embedding servers?", None), Filters(("main",)), keys, 0
            )
            assert found.values["is_named"].sum() == 2
        assert await named("embedding servers?") == {"Embedding server", "Embedding servers"}
        await part_concepts(opened.pipeline, "main", run="r1")
        assert await named("embedding servers?") == {"Embedding servers"}


@pytest.mark.parametrize("form", FORMS)
async def test_a_path_leads_to_the_subject_by_either_spelling(
    tmp_path: Path, form: VectorForm
) -> None:
    async with open_store(tmp_path, form) as opened:
        [titled] = await opened.push("All about it.", title="Embedding servers")
        ids = await opened.push(*(f"Number {n} has an embedding server." for n in range(4)))
        await opened.push("Words.", title="Embedding server")
        caps = {"main": 100}
        before = await opened.engine.linked(["main"], ids[:1], caps)
        assert titled not in before.keys
        await merge(opened)
        links = await opened.engine.linked(["main"], ids[:1], caps)
        [(concept, beside)] = links.by_start()[ids[0]]
        assert (concept.id, concept.memories) == (("main", "embedding_server"), 6)
        assert titled in beside
