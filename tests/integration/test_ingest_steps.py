"""Single steps of the ingest that once went wrong or must never cost more than they have to."""

import asyncio
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from service.drafts.drafts import DocumentText
from service.memories.changing import change_memory
from service.memories.screening import Pushed
from service.memories.storing import find, remove, store
from service.store.database import Database, record
from service.store.queries import Query
from service.writing.pipeline import Pipeline, read_ahead, sync_documents
from service.writing.removing import remove_documents
from tests.stores.open_store import START, OpenStore, open_store

pytestmark = pytest.mark.anyio

THREE = (
    "# Log\n\n## Alpha\n\nFirst words.\n\n## Beta\n\nSecond words.\n\n## Gamma\n\nThird words.\n"
)


async def chain(opened: OpenStore) -> list[tuple[str, str]]:
    """Return the titles at both ends of each `follows` edge: later, earlier."""
    rows = await opened.ask(
        "SELECT type::record('memory', record::id(id)).title AS later, "
        "earlier.map(|$one| type::record('memory', $one).title) AS earlier FROM follows"
    )
    assert isinstance(rows, list)
    return sorted((row["later"], earlier) for row in rows for earlier in row["earlier"])


async def test_unchanged_sections_are_not_embedded_again(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        first = await opened.read("log.md", THREE)
        assert (first.created, first.embedded) == (3, 3)
        opened.embeddings.requests.clear()
        again = await opened.read("log.md", THREE)
        assert (again.created, again.updated, again.unchanged, again.embedded) == (0, 0, 3, 0)
        edited = await opened.read("log.md", THREE.replace("Second", "Other"))
        assert (edited.updated, edited.unchanged, edited.embedded) == (1, 2, 1)
        assert opened.embeddings.embedded_texts() == ["Log › Beta\nOther words."]
        assert await opened.complaints() == []


async def test_moved_lines_keep_their_vectors(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        await opened.read("log.md", THREE)
        before = await opened.ask("SELECT id, vector FROM embedding ORDER BY id")
        opened.embeddings.requests.clear()
        moved = await opened.read("log.md", THREE.replace("## Alpha", "\n\n\n## Alpha"))
        assert (moved.updated, moved.unchanged) == (0, 3)
        lines = await opened.ask("SELECT VALUE source.line_start FROM memory ORDER BY position")
        assert lines == [6, 10, 14]
        assert opened.embeddings.requests == []
        assert await opened.ask("SELECT id, vector FROM embedding ORDER BY id") == before


async def test_moved_lines_keep_their_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[dict[str, Any]] = []
    write = Database.write

    async def noting(db: Database, query: Query, params: dict[str, Any]) -> Any:
        written.append(params)
        return await write(db, query, params)

    text = THREE.replace("Second", "The Blue Harbour (BH) and second")
    async with open_store(tmp_path) as opened:
        await opened.read("log.md", text)
        monkeypatch.setattr(Database, "write", noting)
        edited = text.replace("## Alpha", "\n\n\n## Alpha").replace("Third", "Other Lakeside")
        await opened.read("log.md", edited)
        [params] = [one for one in written if one.get("changed_memories")]
        told = {name: len(value) for name, value in params.items() if isinstance(value, list)}
        # Two stand elsewhere alone. What the third said counts no more.
        assert (told["changed_memories"], told["cleared_candidates"]) == (3, 1)
        assert told["cleared_abbreviations"] == 1
        assert await opened.complaints() == []


async def test_a_section_added_at_the_end_follows_the_others(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        await opened.read("log.md", THREE)
        await opened.read("log.md", THREE + "\n## Delta\n\nFourth words.\n")
        assert await chain(opened) == [("Beta", "Alpha"), ("Delta", "Gamma"), ("Gamma", "Beta")]
        await opened.read("log.md", THREE.replace("## Beta\n\nSecond words.\n\n", ""))
        assert await chain(opened) == [("Gamma", "Alpha")]


async def test_a_log_between_two_others_takes_its_place(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        for day, title in ((12, "Twelfth"), (14, "Fourteenth"), (13, "Thirteenth")):
            await opened.read(f"memory/2026-02-{day}.md", f"## 09:00 {title}\n\nWords.\n")
        wanted = [("09:00 Fourteenth", "09:00 Thirteenth"), ("09:00 Thirteenth", "09:00 Twelfth")]
        assert await chain(opened) == wanted
        await remove_documents(opened.pipeline, "main", ["memory/2026-02-13.md"])
        assert await chain(opened) == [("09:00 Fourteenth", "09:00 Twelfth")]


async def test_memories_of_one_moment_are_chained_the_same_way_by_all(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        for number in range(6):
            await opened.push(f"Words number {number} of one moment.", session="s")
        late = Pushed("Words of later.", session="s", occurred_at=START + timedelta(hours=1))
        early = Pushed("Words of before.", session="s", occurred_at=START - timedelta(hours=1))
        await store(opened.pipeline, [late])
        await store(opened.pipeline, [early])
        assert await opened.complaints() == []


async def test_of_one_moment_what_was_told_first_comes_first(tmp_path: Path) -> None:
    """Clients whose clocks tell whole seconds send turn after turn, or batch after batch."""
    async with open_store(tmp_path) as opened:
        ids: list[str] = []
        for sent in (["zero", "one", "two"], ["three"], ["four"], ["five", "six"]):
            pushed = [
                Pushed(f"Turn {word}.", session="s", occurred_at=START, source_ref=word)
                for word in sent
            ]
            ids += (await store(opened.pipeline, pushed))[0]
        again = Pushed("Turn one, said better.", session="s", occurred_at=START, source_ref="one")
        await store(opened.pipeline, [again])
        steps = [record("follows", key) for key in ids]
        before = await opened.ask("SELECT VALUE earlier FROM $steps", steps=steps)
        assert before == [[], *([key] for key in ids[:-1])]
        assert await opened.complaints() == []


async def test_a_title_that_comes_late_links_the_notes_that_mention_it(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        texts = ("The httpserver is slow.", "See HTTPServer.", "An http server is another thing.")
        ids = await opened.push(*texts)
        await opened.read("servers.md", "## HTTPServer\n\nAll about it.\n")
        titled = sorted(set(await opened.ids()) - set(ids))
        assert await opened.memories_of("httpserver") == sorted([*ids[:2], *titled])


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("it was in src app.py again", "src/app.py"),
        ("GPUs/CPUs are what it needs", "GPU"),
        ("since v2 3 1 it is gone", "v2.3.1"),
        ("the snake case name of it", "snake_case_name"),
        ("a vitamin-b for it", "Vitamin B"),
        ("RTX카드 is here", "RTX카드"),
    ],
)
async def test_a_late_name_is_found_however_it_was_written(
    tmp_path: Path, text: str, title: str
) -> None:
    async with open_store(tmp_path) as opened:
        [key] = await opened.push(text)
        await opened.read("names.md", f"## {title}\n\nAll about it.\n")
        assert key in str(await opened.ask("SELECT VALUE id FROM references"))
        assert await opened.complaints() == []


async def test_a_proper_noun_links_notes_that_write_it_small(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        small = await opened.push("they met on blue harbour street")
        await opened.push("He lives in Blue Harbour now.", "She left Blue Harbour.")
        assert set(small) < set(await opened.memories_of("blue_harbour"))
        assert await opened.complaints() == []


async def test_a_longer_name_takes_its_place_from_a_shorter(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        await opened.read("york.md", "## New York\n\nThe town.\n")
        [note] = await opened.push("Seen in the New York Times today.")
        assert note in await opened.memories_of("new_york")
        await opened.read("times.md", "## New York Times\n\nThe paper.\n")
        assert note not in await opened.memories_of("new_york")
        assert note in await opened.memories_of("new_york_times")


@pytest.mark.parametrize("how", ["text", "trust_tier", "delete"])
async def test_of_a_longer_name_that_goes_a_quarantined_memory_says_the_shorter(
    tmp_path: Path, how: str
) -> None:
    async with open_store(tmp_path) as opened:
        await opened.push("A tag.", tags=("rush",))
        first, second = await opened.push("I saw The Rush Hour again", "In The Rush Hour once")
        memory = await find(opened.db, ["main"], first)
        if how == "delete":
            await remove(opened.pipeline, "main", first)
        else:
            told = {"text": "Nothing.", "trust_tier": "quarantined"}[how]
            await change_memory(opened.pipeline, memory, {how: told})
        memory = await find(opened.db, ["main"], second)
        await change_memory(opened.pipeline, memory, {"trust_tier": "quarantined"})
        assert await opened.memories_of("rush_hour") == []
        assert second in await opened.memories_of("rush")
        assert await opened.complaints() == []


async def test_equal_memories_at_the_same_time_are_stored_once(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        pushed = Pushed("Rush plays in New York.", tags=("rush", "new-york"), occurred_at=START)
        done = await asyncio.gather(*[store(opened.pipeline, [pushed]) for _ in range(5)])
        assert len({ids[0] for ids, _ in done}) == 1
        assert [synced.actions[0] for _, synced in done].count("created") == 1
        assert await opened.complaints() == []


async def test_changes_and_deletions_at_the_same_time_leave_a_sound_store(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        ids = await opened.push(*[f"Rush and GPU number {n}." for n in range(6)], session="s")
        memories = [await find(opened.db, ["main"], key) for key in ids]
        moves = [
            change_memory(
                opened.pipeline, memory, {"occurred_at": START + timedelta(minutes=n % 3)}
            )
            for n, memory in enumerate(memories * 2)
        ]
        drops = [remove(opened.pipeline, "main", key) for key in (*ids[:3], *ids[:3])]
        await asyncio.gather(*moves, *drops, return_exceptions=True)
        assert await opened.complaints() == []


async def test_two_versions_of_a_document_never_mix(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        versions = [THREE, THREE.replace("Beta", "Delta"), "# Log\n\n## Epsilon\n\nWords.\n"]
        await asyncio.gather(*[opened.read("log.md", text) for text in versions * 2])
        titles = await opened.ask("SELECT VALUE title FROM memory ORDER BY position")
        stored = await opened.ask("SELECT VALUE text FROM document")
        assert isinstance(stored, list)
        assert titles == re.findall("## (.*)", stored[0])
        assert await opened.complaints() == []


async def test_a_deleted_section_is_counted_off_its_document(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        await opened.read("log.md", THREE)
        await remove(opened.pipeline, "main", (await opened.ids())[0])
        assert await opened.ask("SELECT VALUE sections FROM document") == [2]
        again = await opened.read("log.md", THREE)
        assert (again.created, again.unchanged) == (0, 2)
        assert "1 of its sections were deleted for good" in again.warnings[0]
        assert await opened.complaints() == []


async def test_a_changed_section_is_what_the_document_says_after_the_next_reading(
    tmp_path: Path,
) -> None:
    async with open_store(tmp_path) as opened:
        await opened.read("log.md", THREE)
        memory = await find(opened.db, ["main"], (await opened.ids())[0])
        await change_memory(opened.pipeline, memory, {"title": "Renamed Hall", "importance": 0.9})
        await opened.read("log.md", THREE)
        now = await find(opened.db, ["main"], memory.id)
        assert (now.title, now.importance) == (memory.title, 0.9)
        assert await opened.memories_of("renamed_hall") == []
        assert await opened.complaints() == []


async def test_one_agent_is_nothing_to_another(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        document = DocumentText("log.md", THREE, "scout", modified_at=START)
        await sync_documents(opened.pipeline, [document, replace(document, uri="b.md")])
        await opened.read("log.md", THREE)
        assert not set(await opened.ids()) & set(await opened.ids("scout"))
        await remove_documents(opened.pipeline, "scout", ["log.md", "b.md"])
        assert len(await opened.ids()) == 3
        assert await opened.ids("scout") == []
        assert await opened.complaints() == []


async def test_the_checker_sees_what_is_broken(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        await opened.read("log.md", THREE)
        await opened.push("Alpha and Beta, together with Gamma.")
        assert await opened.complaints() == []
        for statement in (
            "UPDATE concept:['main', 'alpha'] SET memories = 7",
            "UPDATE related_to SET weight += 1",
            "DELETE (SELECT VALUE id FROM references LIMIT 1)",
            "DELETE (SELECT VALUE id FROM follows LIMIT 1)",
            "UPDATE document SET sections = 1",
            "UPDATE memory SET is_embedded = false",
            "UPDATE meta SET memories = 1 WHERE memories IS NOT NONE",
            "CREATE candidate:['main', 'nobody'] SET name = 'Nobody', memory = memory:gone",
            """CREATE concept:['main', 'x'] SET agent = 'main', name = 'x', aliases = [],
            kind = 'tag', memories = 0, is_declared = false, is_cased = false""",
        ):
            count = len(await opened.complaints())
            await opened.ask(statement)
            assert len(await opened.complaints()) > count, statement


async def test_a_dictionary_is_read_before_the_first_write(tmp_path: Path) -> None:
    async with open_store(tmp_path) as opened:
        await opened.push("All about it.", title="Blue Harbour")
    async with open_store(tmp_path) as opened:
        await read_ahead(opened.pipeline, ["main", "nobody", "main"])
        mine, others = map(opened.pipeline.dictionaries.get, ("main", "nobody"))
        assert mine is not None
        assert others is not None
        assert "blue_harbour" in mine
        assert "blue_harbour" not in others
        [key] = await opened.push("We met at Blue Harbour.")
        assert key in await opened.memories_of("blue_harbour")


async def test_a_writer_that_another_overtook_reads_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(tmp_path) as opened:
        other = Pipeline(opened.db, opened.vectors, opened.engine)
        write, overtaken = opened.db.write, list[str]()

        async def overtaking(query: Query, params: dict[str, Any]) -> Any:
            if query.name == "write" and not overtaken:
                overtaken.append(query.name)
                await store(other, [Pushed("The Blue Harbour froze.", occurred_at=START)])
            return await write(query, params)

        monkeypatch.setattr(opened.db, "write", overtaking)
        await opened.push("The Blue Harbour thawed.")
        assert overtaken
        assert len(await opened.ids()) == 2
        assert await opened.memories_of("blue_harbour") == await opened.ids()
        assert await opened.complaints() == []
