"""What was set on sections of files that are renamed, swapped, copied, parted or joined."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from service.ingest import scan
from service.links import stored
from service.memories.changing import change_memory
from service.writing.pipeline import Pipeline
from service.writing.removing import remove_documents
from tests.integration.test_scanned_folders import Notes
from tests.stores.open_store import open_store

pytestmark = pytest.mark.anyio

OURS = "# A\n\nA crane.\n\n## One\n\nA stranger's words.\n"
OTHERS = "# B\n\nA pump.\n\n## Two\n\nA drill.\n"
SAID = "A stranger's words."


@pytest.fixture
async def notes(tmp_path: Path) -> AsyncIterator[Notes]:
    async with open_store(tmp_path) as opened:
        yield Notes(opened, tmp_path)


def lay(folder: Notes, files: Mapping[str, str]) -> None:
    """Let the folder hold these files and no others."""
    place = folder.place / "notes"
    for path in list(place.rglob("*.md")):
        path.unlink()
    for name, text in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


async def put(folder: Notes, text: str, **fields: object) -> None:
    """Set fields of all memories of a text."""
    for (_, said), memory in (await folder.sections()).items():
        if said == text:
            await change_memory(folder.opened.pipeline, memory, fields)


async def told(folder: Notes) -> dict[tuple[str, str], str]:
    """Return what is set by document and text: p for pinned, q for quarantined."""
    return {
        place: "p" * one.pinned + "q" * (one.trust_tier == "quarantined")
        for place, one in (await folder.sections()).items()
    }


async def begin(folder: Notes, files: Mapping[str, str]) -> None:
    """Scan files of which a stranger's words are quarantined, and a crane and a pump pinned."""
    lay(folder, files)
    await folder.scan("notes")
    await put(folder, SAID, trust_tier="quarantined")
    await put(folder, "A crane.", pinned=True)
    await put(folder, "A pump.", pinned=True)


SAME = ("# N\n\nA stranger's words.\n", "# N\n\nA drill.\n")
# The files after, and what is set then of their sections; what is not told is set on none.
CHANGES: Mapping[str, tuple[Mapping[str, str], Mapping[tuple[str, str], str]]] = {
    "two files swap their names": (
        {"a.md": OTHERS, "b.md": OURS},
        {("b.md", SAID): "q", ("b.md", "A crane."): "p", ("a.md", "A pump."): "p"},
    ),
    "one takes the other's place": (
        {"b.md": OURS}, {("b.md", SAID): "q", ("b.md", "A crane."): "p"},
    ),
    "a section goes to another file": (
        {"a.md": "# A\n\nA crane.\n", "b.md": OTHERS + "\n# A\n\n## One\n\n" + SAID},
        {("b.md", SAID): "q", ("a.md", "A crane."): "p", ("b.md", "A pump."): "p"},
    ),
    "with the name its title changes": (
        {"c.md": OURS.replace("# A\n", "# C\n"), "b.md": OTHERS},
        {("c.md", SAID): "q", ("b.md", "A pump."): "p"},
    ),
    "with the name its scope changes": (
        {"c.md": "---\nscope: work\n---\n" + OURS, "b.md": OTHERS},
        {("c.md", SAID): "q", ("b.md", "A pump."): "p"},
    ),
    "it is copied": (
        {"a.md": OURS, "b.md": OTHERS, "copy.md": OURS},
        {
            ("a.md", SAID): "q", ("copy.md", SAID): "q", ("a.md", "A crane."): "p",
            ("b.md", "A pump."): "p",
        },
    ),
    "its last heading changes": (
        {"a.md": OURS.replace("One", "Uno"), "b.md": OTHERS},
        {("a.md", SAID): "q", ("a.md", "A crane."): "p", ("b.md", "A pump."): "p"},
    ),
    "its heading goes": (
        {"a.md": OURS.replace("## One\n\n", ""), "b.md": OTHERS},
        {("a.md", f"A crane.\n\n{SAID}"): "pq", ("b.md", "A pump."): "p"},
    ),
    "sections swap their texts": (
        {"a.md": f"# A\n\n{SAID}\n\n## One\n\nA crane.\n", "b.md": OTHERS},
        {("a.md", SAID): "pq", ("a.md", "A crane."): "q", ("b.md", "A pump."): "p"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGES)
async def test_what_was_set_goes_where_the_words_go(notes: Notes, what: str) -> None:
    await begin(notes, {"a.md": OURS, "b.md": OTHERS})
    after, expected = CHANGES[what]
    lay(notes, after)
    assert (await notes.scan("notes")).failed == []
    assert {place: one for place, one in (await told(notes)).items() if one} == expected
    assert await notes.opened.complaints() == []


async def test_of_files_with_the_same_headings_the_words_tell(notes: Notes) -> None:
    lay(notes, {"a.md": SAME[0], "b.md": SAME[1]})
    await notes.scan("notes")
    await put(notes, SAID, trust_tier="quarantined")
    await put(notes, "A drill.", pinned=True)
    lay(notes, {"a.md": SAME[1], "b.md": SAME[0]})
    await notes.scan("notes")
    assert await told(notes) == {("a.md", "A drill."): "p", ("b.md", SAID): "q"}


async def test_a_quarantined_section_that_is_parted_stays_so(notes: Notes) -> None:
    lay(notes, {"a.md": f"# A\n\nA drill.\n\n{SAID}\n"})
    await notes.scan("notes")
    await put(notes, f"A drill.\n\n{SAID}", trust_tier="quarantined")
    lay(notes, {"a.md": f"# A\n\nA drill.\n\n## Two\n\n{SAID}\n\n## Three\n\nA hammer.\n"})
    await notes.scan("notes")
    said = {"A drill.": "q", SAID: "q", "A hammer.": ""}
    assert await told(notes) == {("a.md", text): one for text, one in said.items()}


async def test_what_a_section_says_already_is_no_quarantined_ones(notes: Notes) -> None:
    words = "Seen on Monday."
    lay(notes, {"a.md": f"# A\n\n## One\n\n{words}\n\n{SAID}\n\n## Two\n\n{words}\n\nA pump.\n"})
    await notes.scan("notes")
    await put(notes, f"{words}\n\n{SAID}", trust_tier="quarantined")
    lay(notes, {"a.md": f"# A\n\n## One\n\n{SAID}\n\n## Two\n\n{words}\n\nA new pump.\n"})
    await notes.scan("notes")
    assert await told(notes) == {("a.md", SAID): "q", ("a.md", f"{words}\n\nA new pump."): ""}


@pytest.mark.parametrize("also", ["", "\n\nA new line."])
async def test_words_that_stay_quarantined_taint_no_section_that_repeats_them(
    notes: Notes, also: str
) -> None:
    lay(notes, {"a.md": f"# A\n\n## One\n\nStatus: open\n\n{SAID}\n\n## Two\n\nA pump.\n"})
    await notes.scan("notes")
    await put(notes, f"Status: open\n\n{SAID}", trust_tier="quarantined")
    own = f"Status: open\n\n{SAID}{also}"
    repeated = ["A pump.\n\nStatus: open", f"A saw.\n\n{SAID}"]
    text = f"# A\n\n## One\n\n{own}\n\n## Two\n\n{repeated[0]}\n\n## Three\n\n{repeated[1]}\n"
    lay(notes, {"a.md": text})
    await notes.scan("notes")
    said = {own: "q", **dict.fromkeys(repeated, "")}
    assert await told(notes) == {("a.md", words): one for words, one in said.items()}


async def test_a_long_quarantined_paragraph_that_is_cut_elsewhere_stays_so(notes: Notes) -> None:
    words = " ".join(f"Sentence {n} tells of cranes and pumps and drills." for n in range(120))
    lay(notes, {"a.md": f"# A\n\n{words}\n"})
    await notes.scan("notes")
    for _, text in await notes.sections():
        await put(notes, text, trust_tier="quarantined")
    before = len(await notes.sections())
    lay(notes, {"a.md": f"# A\n\n{'A start that moves all the rest along. ' * 20}{words}\n"})
    await notes.scan("notes")
    assert len(await notes.sections()) > before
    assert set((await told(notes)).values()) == {"q"}


@pytest.mark.parametrize("is_set_before", [True, False])
async def test_a_scan_that_ends_before_the_old_file_goes_loses_nothing(
    notes: Notes,
    monkeypatch: pytest.MonkeyPatch,
    is_set_before: bool,
) -> None:
    lay(notes, {"a.md": OURS})
    await notes.scan("notes")
    fields = {"trust_tier": "quarantined", "importance": 0.9}
    if is_set_before:
        await put(notes, SAID, **fields)
    lay(notes, {"c.md": OURS})

    async def killed(*_: object) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(scan, "remove_documents", killed)
        with pytest.raises(KeyboardInterrupt):
            await notes.scan("notes")
    if not is_set_before:
        old = (await notes.sections())["a.md", SAID]
        await change_memory(notes.opened.pipeline, old, fields)
    await notes.scan("notes")
    new = (await notes.sections())["c.md", SAID]
    assert await notes.uris() == ["c.md"]
    assert new.trust_tier == "quarantined"
    assert new.importance == 0.9


async def test_what_is_set_while_a_scan_runs_comes_along(
    notes: Notes,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await begin(notes, {"a.md": OURS})
    lay(notes, {"c.md": OURS})

    async def late(pipeline: Pipeline, agent: str, uris: list[str]) -> int:
        old = (await notes.sections())["a.md", "A crane."]
        await change_memory(pipeline, old, {"trust_tier": "quarantined"})
        return await remove_documents(pipeline, agent, uris)

    monkeypatch.setattr(scan, "remove_documents", late)
    await notes.scan("notes")
    assert await told(notes) == {("c.md", "A crane."): "pq", ("c.md", SAID): "q"}


async def test_a_copy_that_outlives_the_file_takes_what_was_set(notes: Notes) -> None:
    await begin(notes, {"a.md": OURS})
    lay(notes, {"a.md": OURS, "b.md": OTHERS, "sub/c.md": OURS})
    await notes.scan("notes", paths=("sub",))
    assert (await told(notes))["sub/c.md", "A crane."] == ""
    lay(notes, {"b.md": OTHERS, "sub/c.md": OURS})
    await notes.scan("notes")
    assert {place: one for place, one in (await told(notes)).items() if one} == {
        ("sub/c.md", "A crane."): "p", ("sub/c.md", SAID): "q",
    }  # fmt: skip


async def test_what_was_set_on_the_copy_itself_stays(notes: Notes) -> None:
    lay(notes, {"a.md": OURS, "c.md": OURS})
    await notes.scan("notes")
    sections = await notes.sections()
    pipeline = notes.opened.pipeline
    await change_memory(pipeline, sections["a.md", SAID], {"trust_tier": "quarantined"})
    await change_memory(pipeline, sections["c.md", SAID], {"importance": 0.9})
    lay(notes, {"c.md": OURS})
    await notes.scan("notes")
    left = (await notes.sections())["c.md", SAID]
    assert (left.importance, left.trust_tier) == (0.9, "quarantined")


async def test_what_was_set_on_a_copy_stays_though_its_file_changes(notes: Notes) -> None:
    lay(notes, {"a.md": OURS, "c.md": OURS})
    await notes.scan("notes")
    sections, pipeline = await notes.sections(), notes.opened.pipeline
    await change_memory(pipeline, sections["a.md", SAID], {"importance": 0.1})
    await change_memory(pipeline, sections["c.md", SAID], {"importance": 0.9})
    # Its lines are others now, so that it is written again.
    lay(notes, {"c.md": f"# Start\n\nA saw.\n\n{OURS}"})
    await notes.scan("notes")
    assert (await notes.sections())["c.md", SAID].importance == 0.9


async def test_a_section_that_stays_takes_nothing_of_one_that_goes(notes: Notes) -> None:
    said = "A crane."
    lay(notes, {"a.md": f"# A\n\n## One\n\n{said}\n\n## Two\n\nA pump.\n"})
    await notes.scan("notes")
    await put(notes, said, pinned=True)
    lay(notes, {"a.md": f"# A\n\n## One\n\n{said}\n\n## Two\n\n{said}\n"})
    await notes.scan("notes")
    lay(notes, {"a.md": f"# A\n\nA saw.\n\n## Two\n\n{said}\n"})
    await notes.scan("notes")
    assert await told(notes) == {("a.md", said): "", ("a.md", "A saw."): ""}


async def test_sections_go_from_one_group_of_files_to_the_next(
    notes: Notes,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scan, "_GROUP_FILES", 1)
    await begin(notes, {"a.md": OURS, "b.md": OTHERS})
    lay(notes, {"a.md": OTHERS, "b.md": OURS})
    await notes.scan("notes")
    assert {place: one for place, one in (await told(notes)).items() if one} == {
        ("b.md", SAID): "q", ("b.md", "A crane."): "p", ("a.md", "A pump."): "p",
    }  # fmt: skip


async def test_of_sections_that_say_the_same_the_last_heading_tells(notes: Notes) -> None:
    text = f"# A\n\n## One\n\n{SAID}\n\n## Two\n\n{SAID}\n"
    lay(notes, {"a.md": text})
    await notes.scan("notes")
    for heading, fields in (("One", {"pinned": True}), ("Two", {"importance": 0.9})):
        [key] = await _below(notes, heading)
        memory = (await stored.memories_by_id(notes.opened.db, [key]))[key]
        await change_memory(notes.opened.pipeline, memory, fields)
    lay(notes, {"a.md": text.replace("# A\n", "# C\n", 1)})
    await notes.scan("notes")
    [one], [two] = await _below(notes, "One"), await _below(notes, "Two")
    found = await stored.memories_by_id(notes.opened.db, [one, two])
    assert (found[one].pinned, found[one].importance) == (True, 0.5)
    assert (found[two].pinned, found[two].importance) == (False, 0.9)


async def _below(notes: Notes, heading: str) -> list[str]:
    """Return the ids of the sections below a last heading."""
    found = await stored.memories_by_id(notes.opened.db, await notes.opened.ids())
    return [key for key, one in found.items() if [*one.heading_path[-1:]] == [heading]]
