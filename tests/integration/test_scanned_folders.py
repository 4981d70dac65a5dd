"""What a scan makes of folders that are emptied, moved or closed: what is gone, what seems so."""

from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass
from pathlib import Path

import pytest

from service.app import create_app
from service.drafts.stored_memory import StoredMemory
from service.ingest.counts import ScanCounts
from service.ingest.scan import Scanner, scan_request
from service.links import stored
from service.memories.changing import change_memory
from service.memories.storing import find
from service.records import Memory
from service.settings import Settings
from service.store.database import Database
from tests.stores.forbidden import forbid
from tests.stores.open_store import OpenStore, open_store

pytestmark = pytest.mark.anyio


@dataclass(frozen=True, slots=True)
class Notes:
    """A store, and where its folders lie."""

    opened: OpenStore
    place: Path

    def write(self, name: str, text: str = "A crane.") -> Path:
        """Write a note; returns its path."""
        path = self.place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {path.stem}\n\n{text}\n", encoding="utf-8")
        return path

    async def scan(self, *names: str, paths: tuple[str, ...] = ()) -> ScanCounts:
        """Scan folders of these names."""
        folders = tuple(self.place / name for name in names)
        settings = Settings(_env_file=None, data_dir=self.place / "data", sources=folders)
        scanner = Scanner(self.opened.pipeline, settings)
        return await scanner.scan(scan_request(settings, None, paths))

    async def uris(self) -> list[str]:
        """Return the names of all documents that the store has."""
        return sorted(await stored.documents(self.opened.pipeline.db, "main"))

    async def sections(self) -> dict[tuple[str, str], Memory]:
        """Return all memories by document and text."""
        every = [await find(self.opened.db, ["main"], key) for key in await self.opened.ids()]
        return {(one.source.uri or "", one.content): one for one in every}


@pytest.fixture
async def notes(tmp_path: Path) -> AsyncIterator[Notes]:
    async with open_store(tmp_path) as opened:
        yield Notes(opened, tmp_path)


@pytest.mark.parametrize("paths", [(), (".",)])
async def test_a_folder_that_lost_all_its_files_removes_nothing(
    notes: Notes, paths: tuple[str, ...]
) -> None:
    for name in ("notes/a.md", "notes/day/b.md", "office/c.md"):
        notes.write(name)
    await notes.scan("notes", "office")
    (notes.place / "notes").rename(notes.place / "disk")
    (notes.place / "notes" / "lost+found").mkdir(parents=True)
    (notes.place / "office" / "c.md").rename(notes.place / "office" / "d.md")
    counts = await notes.scan("notes", "office", paths=paths)
    [failure] = counts.failed
    assert failure.source == str(notes.place / "notes")
    assert "not mounted" in failure.detail
    assert set(await notes.uris()) >= {"a.md", "day/b.md"}
    await notes.scan("notes", "office")
    assert await notes.uris() == ["a.md", "day/b.md", "office/d.md"]


async def test_a_file_in_it_says_that_a_folder_was_emptied(notes: Notes) -> None:
    path = notes.write("notes/a.md")
    await notes.scan("notes")
    path.unlink()
    path.with_name("empty.md").touch()
    counts = await notes.scan("notes")
    assert (counts.removed, counts.failed) == (1, [])
    path.with_name("empty.md").unlink()
    assert (await notes.scan("notes")).failed == []
    assert await notes.uris() == []


async def test_of_folders_in_each_other_a_file_is_stored_once(notes: Notes) -> None:
    for name in ("notes/a.md", "notes/day/b.md"):
        notes.write(name)
    await notes.scan("notes/day")
    await notes.scan("notes", "notes/day")
    assert await notes.uris() == ["a.md", "day/b.md"]
    before = await notes.opened.ids()
    counts = await notes.scan("notes", "notes/day")
    assert (counts.files, counts.unchanged, counts.failed) == (2, 2, [])
    assert await notes.opened.ids() == before


async def test_what_is_no_folder_is_told(notes: Notes) -> None:
    notes.write("a.md")
    (notes.place / "circle").symlink_to(notes.place / "circle")
    counts = await notes.scan("a.md", "none", "circle")
    told = {Path(one.source).name: one.detail for one in counts.failed}
    assert "no folder: name the one" in told["a.md"]
    assert told["none"] == told["circle"] == "the folder does not exist."


async def test_a_start_tells_what_no_scan_will_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a.md").touch()
    (tmp_path / "notes").mkdir()
    sources = tuple(tmp_path / name for name in ("notes", "a.md", "none"))
    given = Settings(
        _env_file=None, data_dir=tmp_path / "data", sources=sources, embedding_url="http://[::1]:9"
    )
    app = create_app(given)
    async with app.router.lifespan_context(app):
        pass
    told = [line for line in caplog.messages if line.startswith("MEMORY_SOURCES: ")]
    assert [line.split(": ")[1] for line in told] == [str(one) for one in sources[1:]]


async def test_a_part_of_a_folder_may_be_emptied(notes: Notes) -> None:
    notes.write("notes/a.md")
    path = notes.write("notes/day/c.md")
    await notes.scan("notes")
    path.unlink()
    counts = await notes.scan("notes", paths=("day",))
    assert (counts.removed, counts.failed) == (1, [])
    assert await notes.uris() == ["a.md"]


async def test_files_of_a_folder_that_was_moved_are_forgotten_when_they_go(notes: Notes) -> None:
    for name in ("notes/a.md", "notes/b.md"):
        notes.write(name)
    await notes.scan("notes")
    before = await notes.opened.ids()
    moved = (notes.place / "notes").rename(notes.place / "moved")
    counts = await notes.scan("moved")
    assert (counts.unchanged, counts.updated, counts.removed, counts.embedded) == (2, 0, 0, 0)
    assert await notes.opened.ids() == before
    (moved / "b.md").unlink()
    assert (await notes.scan("moved")).removed == 1
    assert await notes.uris() == ["a.md"]


async def test_a_warning_names_the_file_that_it_is_about(notes: Notes) -> None:
    for name in ("a.md", "b.md"):
        (notes.place / "notes").mkdir(exist_ok=True)
        (notes.place / "notes" / name).write_text("---\ntags: [\n---\nA crane.\n```\n")
    told = (await notes.scan("notes")).warnings
    assert [warning[:6] for warning in told] == ["a.md: ", "a.md: ", "b.md: ", "b.md: "]
    assert "b.md: line 5: the code fence is never closed" in told


async def test_below_a_folder_that_is_closed_nothing_is_removed(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a/b/c.md", "gone.md", "top.md"):
        notes.write(f"notes/{name}")
    await notes.scan("notes")
    (notes.place / "notes" / "gone.md").unlink()
    notes.write("notes/top.md", "A newer crane.")
    forbid(monkeypatch, "a")
    counts = await notes.scan("notes")
    [failure] = counts.failed
    assert (failure.source, failure.detail) == ("a", "cannot be looked into: Permission denied.")
    assert (counts.updated, counts.removed, counts.done) == (1, 1, counts.files)
    assert await notes.uris() == ["a/b/c.md", "top.md"]


async def test_a_folder_whose_place_a_link_takes_is_told_and_keeps_its_notes(notes: Notes) -> None:
    for name in ("a/b/c.md", "top.md"):
        notes.write(f"notes/{name}")
    await notes.scan("notes")
    (notes.place / "notes" / "a").rename(notes.place / "away")
    (notes.place / "notes" / "a").symlink_to(notes.place / "away")
    counts = await notes.scan("notes")
    [failure] = counts.failed
    assert failure.source == "a"
    assert failure.detail == "a link that leads out of its folder; it is not followed."
    assert counts.removed == 0
    assert await notes.uris() == ["a/b/c.md", "top.md"]
    (notes.place / "notes" / "a").unlink()
    assert (await notes.scan("notes")).removed == 1


async def test_a_configured_folder_that_is_closed_is_told_once(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = notes.write("mine/notes/a.md").parent
    await notes.scan("mine/notes")
    for closed in (folder, folder.parent):
        forbid(monkeypatch, closed)
        [failure] = (await notes.scan("mine/notes")).failed
        assert failure.source == str(folder)
        assert failure.detail == "cannot be looked into: Permission denied."
        monkeypatch.undo()
    assert await notes.uris() == ["a.md"]


async def test_a_second_folder_keeps_its_name_whatever_the_first_holds(notes: Notes) -> None:
    notes.write("notes/a.md")
    notes.write("office/b.md", "An owl.")
    await notes.scan("notes", "office")
    notes.write("notes/office/b.md", "A rook.")
    counts = await notes.scan("notes", "office")
    [failure] = counts.failed
    assert failure.source == "office/b.md"
    assert "another configured folder" in failure.detail
    assert (counts.created, counts.updated, counts.removed) == (0, 0, 0)
    (notes.place / "office").rename(notes.place / "away")
    assert (await notes.scan("notes", "office")).updated == 0
    assert await notes.opened.ask("SELECT VALUE text FROM document WHERE uri = 'office/b.md'") == [
        "# b\n\nAn owl.\n"
    ]


async def test_a_numbered_name_stays_while_the_first_folder_is_away(notes: Notes) -> None:
    notes.write("notes/office/b.md", "A rook.")
    notes.write("office/b.md", "An owl.")
    await notes.scan("notes", "office")
    (notes.place / "notes").rename(notes.place / "away")
    for _ in range(2):
        counts = await notes.scan("notes", "office")
        assert (counts.created, counts.updated, counts.removed) == (0, 0, 0)
    assert await notes.uris() == ["office-2/b.md", "office/b.md"]


async def test_a_subfolder_that_becomes_a_folder_keeps_its_names(notes: Notes) -> None:
    notes.write("notes/a.md")
    notes.write("notes/office/b.md")
    await notes.scan("notes")
    before = await notes.opened.ids()
    (notes.place / "notes" / "office").rename(notes.place / "office")
    assert (await notes.scan("notes", "office")).removed == 0
    assert await notes.uris() == ["a.md", "office/b.md"]
    assert await notes.opened.ids() == before


async def test_two_files_whose_names_differ_in_a_secret_alone_do_not_take_each_others_place(
    notes: Notes,
) -> None:
    secrets = [f"AKIA{letter * 6}BCDEFGHIJK" for letter in "QR"]
    for secret in secrets:
        notes.write(f"notes/of {secret}.md", f"Says {secret[4]}.")
    for paths in ((), (), (f"of {secrets[1]}.md",)):
        counts = await notes.scan("notes", paths=paths)
        assert ["of another file" in one.detail for one in counts.failed] == [True]
        assert (counts.updated, counts.removed) == (0, 0)
        texts = await notes.opened.ask("SELECT VALUE content FROM memory")
        assert texts == ["Says Q."]
    (notes.place / "notes" / f"of {secrets[0]}.md").unlink()
    assert (await notes.scan("notes")).failed == []
    assert await notes.opened.ask("SELECT VALUE content FROM memory") == ["Says R."]


async def test_what_was_set_on_a_section_outlives_the_name_of_its_file(notes: Notes) -> None:
    path = notes.write("notes/a.md", "A crane.\n\n## Two\n\nA pump.\n\n## Three\n\nA hammer.")
    notes.write("notes/b.md", "A drill.")
    plain = notes.write("notes/plain.md")
    plain.write_text("No heading, so its title is its name.\n", encoding="utf-8")
    await notes.scan("notes")
    for (_, text), memory in (await notes.sections()).items():
        fields = {"trust_tier": "quarantined"} if text == "A pump." else {"pinned": True}
        await change_memory(notes.opened.pipeline, memory, fields)
    path.rename(path.with_name("new.md"))
    plain.rename(notes.place / "notes" / "renamed.md")
    path.with_name("new.md").write_text(
        "# a\n\nA crane.\n\n## Two\n\nA pump.\n\n## Other\n\nA hammer.\n", encoding="utf-8"
    )
    notes.write("notes/copy.md", "A drill.")
    counts = await notes.scan("notes")
    assert (counts.created, counts.removed, counts.failed) == (5, 4, [])
    told = {place: (one.pinned, one.trust_tier) for place, one in (await notes.sections()).items()}
    assert told == {
        ("new.md", "A crane."): (True, "trusted"),
        ("new.md", "A pump."): (False, "quarantined"),
        # Under another heading it is another section.
        ("new.md", "A hammer."): (False, "trusted"),
        ("renamed.md", "No heading, so its title is its name."): (True, "trusted"),
        ("b.md", "A drill."): (True, "trusted"),
        # What stays where it was gives nothing away.
        ("copy.md", "A drill."): (False, "trusted"),
    }
    assert await notes.opened.complaints() == []


async def test_what_was_set_does_not_come_along_into_another_scope(notes: Notes) -> None:
    path = notes.write("notes/a.md")
    notes.write("notes/b.md")
    await notes.scan("notes")
    [memory] = [one for (uri, _), one in (await notes.sections()).items() if uri == "a.md"]
    await change_memory(notes.opened.pipeline, memory, {"pinned": True})
    path.unlink()
    text = "---\nscope: work\n---\n# a\n\nA crane.\n"
    path.with_name("new.md").write_text(text, encoding="utf-8")
    await notes.scan("notes")
    told = {uri: (one.scope, one.pinned) for (uri, _), one in (await notes.sections()).items()}
    assert told == {"b.md": (None, False), "new.md": ("work", False)}


async def test_what_goes_is_read_once_however_many_files_are_renamed(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [notes.write(f"notes/{n}.md", f"Crane {n}.") for n in range(6)]
    await notes.scan("notes")
    for memory in (await notes.sections()).values():
        await change_memory(notes.opened.pipeline, memory, {"pinned": True})
    asked: list[list[str]] = []
    read = stored.memories_by_id

    async def counted(db: Database, keys: Collection[str]) -> dict[str, StoredMemory]:
        asked.append(list(keys))
        return await read(db, keys)

    monkeypatch.setattr(stored, "memories_by_id", counted)
    ids = set(await notes.opened.ids())
    for path in paths:
        path.rename(path.with_name(f"new-{path.name}"))
    (notes.place / "notes" / "stays.md").write_text("Here.\n", encoding="utf-8")
    await notes.scan("notes")
    of_old = [keys for keys in asked if ids & set(keys)]
    # What is set, once; then what is removed, compared in its turn.
    assert len(of_old) <= 2
    assert all(one.pinned for (_, text), one in (await notes.sections()).items() if "Cr" in text)
