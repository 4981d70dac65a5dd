"""Votes on sections of files that are renamed, swapped, copied, parted or joined."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from service.access.caller import LOCAL, Caller
from service.index.resident.engine import ResidentEngine
from service.ingest import scan
from service.memories.changing import change_memory
from service.memories.voting import vote
from service.records import Memory
from service.store.database import Database
from service.writing import pipeline, transaction
from service.writing.pipeline import Pipeline
from service.writing.removing import remove_documents
from service.writing.tables.linked_change import LinkedChange
from tests.integration.test_killed_between_files import LEFT, break_off, rows
from tests.integration.test_moved_sections import OTHERS, OURS, SAID, SAME, lay
from tests.integration.test_scanned_folders import Notes
from tests.stores.open_store import open_store
from tests.stores.resident_index import told

pytestmark = pytest.mark.anyio

ONE, TWO = Caller("one"), Caller("two")
Counts = tuple[int, int]
Counted = dict[tuple[str, str], Counts]


@pytest.fixture
async def notes(tmp_path: Path) -> AsyncIterator[Notes]:
    async with open_store(tmp_path, form="bytes") as opened:
        yield Notes(opened, tmp_path)


async def say(folder: Notes, who: Caller, text: str, helpful: bool | None) -> None:
    """Vote on all memories of a text."""
    for (_, said), memory in (await folder.sections()).items():
        if said == text:
            await vote(folder.opened.db, who, "main", memory.id, helpful=helpful)


def _counts(memory: Memory) -> Counts:
    return memory.helpful, memory.unhelpful


async def counted(folder: Notes) -> Counted:
    """Return how many votes are on each section that has any; the index in RAM has the same."""
    sections, engine = await folder.sections(), folder.opened.engine
    assert isinstance(engine, ResidentEngine)
    held = told(await engine.residency.index_of("main"))["votes"]
    found = {one.id: _counts(one) for one in sections.values() if any(_counts(one))}
    assert held == found
    return {place: found[one.id] for place, one in sections.items() if one.id in found}


async def begin(folder: Notes, files: Mapping[str, str]) -> None:
    """Scan files; then two keys say that a crane helped, and one that a pump did not."""
    lay(folder, files)
    await folder.scan("notes")
    await say(folder, ONE, "A crane.", True)
    await say(folder, TWO, "A crane.", True)
    await say(folder, TWO, "A pump.", False)


CRANE, PUMP = (2, 0), (0, 1)
# The files after, and which votes are on their sections then.
CHANGES: Mapping[str, tuple[Mapping[str, str], Counted]] = {
    "a file has another name": (
        {"c.md": OURS, "b.md": OTHERS}, {("c.md", "A crane."): CRANE, ("b.md", "A pump."): PUMP},
    ),
    "two files swap their names": (
        {"a.md": OTHERS, "b.md": OURS}, {("b.md", "A crane."): CRANE, ("a.md", "A pump."): PUMP},
    ),
    "one takes the other's place": ({"b.md": OURS}, {("b.md", "A crane."): CRANE}),
    "a section goes to another file": (
        {"a.md": f"# A\n\n## One\n\n{SAID}\n", "b.md": OTHERS + "\n# A\n\nA crane.\n"},
        {("b.md", "A crane."): CRANE, ("b.md", "A pump."): PUMP},
    ),
    "it is copied": (
        {"a.md": OURS, "b.md": OTHERS, "copy.md": OURS},
        {("a.md", "A crane."): CRANE, ("b.md", "A pump."): PUMP},
    ),
    "its last heading changes": (
        {"a.md": OURS.replace("# A\n", "# C\n"), "b.md": OTHERS},
        {("a.md", "A crane."): CRANE, ("b.md", "A pump."): PUMP},
    ),
    "it says something else": (
        {"a.md": OURS.replace("crane", "saw"), "b.md": OTHERS},
        {("a.md", "A saw."): CRANE, ("b.md", "A pump."): PUMP},
    ),
    "it goes": (
        {"a.md": f"# A\n\n## One\n\n{SAID}\n", "b.md": OTHERS}, {("b.md", "A pump."): PUMP},
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGES)
async def test_votes_go_where_the_words_go(notes: Notes, what: str) -> None:
    await begin(notes, {"a.md": OURS, "b.md": OTHERS})
    after, expected = CHANGES[what]
    lay(notes, after)
    assert (await notes.scan("notes")).failed == []
    assert await counted(notes) == expected
    assert await notes.opened.complaints() == []


@pytest.mark.parametrize("both", [True, False])
async def test_of_files_with_the_same_headings_the_words_tell(notes: Notes, both: bool) -> None:
    lay(notes, {"a.md": SAME[0], "b.md": SAME[1]})
    await notes.scan("notes")
    await say(notes, ONE, "A drill.", True)
    if both:
        await say(notes, TWO, SAID, False)
    lay(notes, {"a.md": SAME[1], "b.md": SAME[0]})
    await notes.scan("notes")
    others = {("b.md", SAID): (0, 1)} if both else {}
    assert await counted(notes) == {("a.md", "A drill."): (1, 0), **others}


async def test_what_was_said_stays_each_keys_own(notes: Notes) -> None:
    await begin(notes, {"a.md": OURS})
    lay(notes, {"c.md": OURS.replace("# A\n", "# A\n\n")})
    await notes.scan("notes")
    await say(notes, ONE, "A crane.", False)
    assert await counted(notes) == {("c.md", "A crane."): (1, 1)}
    await say(notes, TWO, "A crane.", None)
    assert await counted(notes) == {("c.md", "A crane."): (0, 1)}


async def test_a_vote_while_a_scan_runs_comes_along(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    await begin(notes, {"a.md": OURS})
    lay(notes, {"c.md": OURS})

    async def late(pipe: Pipeline, agent: str, uris: list[str]) -> int:
        sections = await notes.sections()
        old, new = (sections[name, "A crane."] for name in ("a.md", "c.md"))
        await vote(notes.opened.db, LOCAL, "main", old.id, helpful=False)
        # What a key said of the one that stays holds.
        await vote(notes.opened.db, TWO, "main", new.id, helpful=False)
        return await remove_documents(pipe, agent, uris)

    monkeypatch.setattr(scan, "remove_documents", late)
    await notes.scan("notes")
    assert await counted(notes) == {("c.md", "A crane."): (1, 2)}


async def test_a_vote_just_before_the_transaction_comes_along(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    await begin(notes, {"a.md": OURS})
    lay(notes, {"a.md": OURS.replace("# A\n", "# C\n")})

    async def late(db: Database, linked: LinkedChange) -> None:
        old = (await notes.sections())["a.md", "A crane."]
        await vote(db, LOCAL, "main", old.id, helpful=False)
        await transaction.write(db, linked)

    monkeypatch.setattr(pipeline, "write", late)
    await notes.scan("notes")
    assert await counted(notes) == {("a.md", "A crane."): (2, 1)}


async def test_a_copy_that_outlives_the_file_takes_the_votes(notes: Notes) -> None:
    await begin(notes, {"a.md": OURS})
    lay(notes, {"a.md": OURS, "sub/c.md": OURS})
    await notes.scan("notes")
    assert await counted(notes) == {("a.md", "A crane."): CRANE}
    copy = (await notes.sections())["sub/c.md", "A crane."]
    await vote(notes.opened.db, ONE, "main", copy.id, helpful=False)
    lay(notes, {"sub/c.md": OURS})
    await notes.scan("notes")
    # Of one key the vote on what stays holds.
    assert await counted(notes) == {("sub/c.md", "A crane."): (1, 1)}


async def test_votes_on_a_copy_keep_no_pin_from_it(notes: Notes) -> None:
    lay(notes, {"a.md": OURS, "c.md": OURS})
    await notes.scan("notes")
    await say(notes, ONE, "A crane.", True)
    old = (await notes.sections())["a.md", "A crane."]
    await change_memory(notes.opened.pipeline, old, {"pinned": True})
    lay(notes, {"c.md": OURS})
    await notes.scan("notes")
    assert (await notes.sections())["c.md", "A crane."].pinned
    assert await counted(notes) == {("c.md", "A crane."): (1, 0)}


async def test_a_copy_takes_no_votes_from_words_that_were_quarantined_alone(notes: Notes) -> None:
    lay(notes, {"a.md": OURS, "c.md": OURS})
    await notes.scan("notes")
    old = (await notes.sections())["a.md", SAID]
    await vote(notes.opened.db, ONE, "main", old.id, helpful=True)
    await change_memory(notes.opened.pipeline, old, {"trust_tier": "quarantined"})
    lay(notes, {"a.md": OURS.replace(SAID, "Other words."), "c.md": OURS})
    await notes.scan("notes")
    assert (await notes.sections())["c.md", SAID].trust_tier == "quarantined"
    # A section keeps its votes with its id.
    assert await counted(notes) == {("a.md", "Other words."): (1, 0)}


async def test_sections_go_from_one_group_of_files_to_the_next(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "_GROUP_FILES", 1)
    await begin(notes, {"a.md": OURS, "b.md": OTHERS})
    lay(notes, {"a.md": OTHERS, "b.md": OURS})
    await notes.scan("notes")
    assert await counted(notes) == {("b.md", "A crane."): CRANE, ("a.md", "A pump."): PUMP}


async def move_and_break_off(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vote on a section, move it to another file, and scan as far as its old one."""
    await begin(notes, {"a.md": OURS})
    lay(notes, {"a.md": LEFT, "c.md": OURS})
    await break_off(notes, monkeypatch)


async def test_votes_are_kept_until_a_scan_comes_to_its_end(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    await move_and_break_off(notes, monkeypatch)
    assert await counted(notes) == {}
    [row] = await rows(notes)
    assert row["kept"]["votes"] == [["one", True], ["two", True]]
    await notes.scan("notes")
    assert await counted(notes) == {("c.md", "A crane."): CRANE}
    assert await rows(notes) == []


async def test_words_that_come_back_have_their_votes(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    await move_and_break_off(notes, monkeypatch)
    lay(notes, {"a.md": OURS})
    await notes.scan("notes")
    assert await counted(notes) == {("a.md", "A crane."): CRANE}
