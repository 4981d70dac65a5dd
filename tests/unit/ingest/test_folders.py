"""The configured folders: what is found in them, under which name, and what is kept out."""

import os
from pathlib import Path
from typing import Any

import pytest

from service.errors import PathOutsideSources
from service.ingest.folders import Found, configured_folders, files_in, paths_inside, why_unread
from tests.stores.forbidden import forbid


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return _folder(tmp_path / "notes", "a.md", "memory/2026-02-13.md", "memory/2026-02-12.md")


def _folder(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"text of {name}", encoding="utf-8")
    return folder


def _found(*folders: Path, only: tuple[Path, ...] = ()) -> list[Found]:
    return list(files_in(configured_folders(folders), only))


def _uris(*folders: Path, only: tuple[Path, ...] = ()) -> list[str]:
    return [found.uri for found in _found(*folders, only=only)]


def _problems(*folders: Path) -> dict[str, str]:
    return {found.uri: found.problem for found in _found(*folders) if found.problem}


def test_files_come_by_name_with_their_path_as_source(notes: Path) -> None:
    assert _uris(notes) == ["a.md", "memory/2026-02-12.md", "memory/2026-02-13.md"]
    first = _found(notes)[0]
    assert first == Found("a.md", notes / "a.md", str(notes))


@pytest.mark.parametrize(
    "name", ["x.py", "x.md.bak", "md", ".hidden.md", ".git/x.md", "memory/.obsidian/deep/x.md",
             "node_modules/x.md", "memory/__pycache__/x.txt", "lost+found/x.md"],
)  # fmt: skip
def test_what_is_no_note_is_passed_over(notes: Path, name: str) -> None:
    _folder(notes, name)
    assert len(_uris(notes)) == 3


@pytest.mark.parametrize(
    ("name", "why"),
    [(".env", "hidden"), (".git", "hidden"), (".git/x.md", "hidden"), ("node_modules", "hidden"),
     ("memory/__pycache__/x.txt", "hidden"), ("x.png", "ends in none of .markdown, .md,")],
)  # fmt: skip
def test_what_is_passed_over_is_not_read_by_name_either(notes: Path, name: str, why: str) -> None:
    _folder(notes, ".env", ".git/x.md", "node_modules/x.md", "memory/__pycache__/x.txt", "x.png")
    [found] = _found(notes, only=(notes / name,))
    assert found.uri == name
    assert why in (found.problem or "")


def test_a_hidden_folder_that_is_configured_is_read(tmp_path: Path) -> None:
    folder = _folder(tmp_path / ".notes", "a.md", "b/c.md")
    assert _uris(folder, only=(folder / "b", folder)) == _uris(folder) == ["a.md", "b/c.md"]
    outer = _folder(tmp_path, "a.md")
    assert _uris(outer, folder, only=(folder / "a.md",)) == [".notes-2/a.md"]
    assert not any(found.problem for found in _found(outer, folder, only=(folder / "a.md",)))


@pytest.mark.parametrize(
    "name", ["x.MD", "x.markdown", "x.mdx", "x.txt", "노트.md", "with blank.md"]
)
def test_what_is_a_note_is_found(notes: Path, name: str) -> None:
    _folder(notes, name)
    assert name in _uris(notes)


def test_a_second_folder_has_its_name_in_front(tmp_path: Path, notes: Path) -> None:
    work = _folder(tmp_path / "work", "a.md")
    other = _folder(tmp_path / "other" / "work", "a.md")
    assert _uris(notes, work, other)[-2:] == ["work/a.md", "work-2/a.md"]


def test_adding_a_folder_renames_nothing(tmp_path: Path, notes: Path) -> None:
    work = _folder(tmp_path / "work", "a.md")
    assert _uris(notes, work)[:3] == _uris(notes)


def test_two_files_never_share_a_source(tmp_path: Path, notes: Path) -> None:
    other = _folder(tmp_path / "other" / "memory", "2026-02-13.md")
    uris = _uris(notes, other)
    assert len(set(uris)) == len(uris) == 4
    assert uris[-1] == "memory-2/2026-02-13.md"


def test_names_that_were_given_stay(tmp_path: Path, notes: Path) -> None:
    work = _folder(tmp_path / "work", "a.md")
    again = _folder(tmp_path / "again" / "work", "a.md")
    given = [
        (str(work), "work-3/a.md"),
        (str(work), "work-3/b.md"),
        (str(work), "work/c.md"),
        (str(work), "other/a.md"),
        (None, "work-2/a.md"),
        (str(tmp_path), "work-2/a.md"),
    ]
    folders = configured_folders([notes, again, work], given)
    assert [folder.prefix for folder in folders] == ["", "work/", "work-3/"]


def test_what_the_first_folder_gets_under_anothers_name_is_told(
    tmp_path: Path, notes: Path
) -> None:
    work = _folder(tmp_path / "work", "a.md")
    _folder(notes, "work/a.md", "workshop/b.md")
    folders = configured_folders([notes, work], [(str(work), "work/a.md")])
    found = [(found.uri, found.folder, bool(found.problem)) for found in files_in(folders)]
    assert found[3:] == [
        ("work/a.md", str(notes), True), ("workshop/b.md", str(notes), False),
        ("work/a.md", str(work), False),
    ]  # fmt: skip


def test_a_folder_given_twice_is_one(notes: Path) -> None:
    assert _uris(notes, notes / "memory" / "..") == _uris(notes)


@pytest.mark.parametrize(
    ("order", "names"),
    [((".", "memory"), ["a.md", "memory/x.md", "memory/deep/y.md"]),
     (("memory", "."), ["x.md", "deep/y.md", "notes/a.md"]),
     (("memory/deep", ".", "memory"), ["y.md", "notes/a.md", "notes/memory/x.md"])],
)  # fmt: skip
def test_of_folders_in_each_other_the_first_has_what_lies_in_both(
    tmp_path: Path, order: tuple[str, ...], names: list[str]
) -> None:
    notes = _folder(tmp_path / "notes", "a.md", "memory/x.md", "memory/deep/y.md")
    assert _uris(*(notes / one for one in order)) == names
    only = notes / "memory" / "x.md"
    assert len(_uris(*(notes / one for one in order), only=(only, only))) == 1


def test_a_folder_inside_keeps_the_names_that_it_gave(notes: Path) -> None:
    given = [(str(notes / "memory"), "memory/2026-02-13.md")]
    found = list(files_in(configured_folders([notes, notes / "memory"], given)))
    assert [one.uri for one in found] == ["a.md", "memory/2026-02-12.md", "memory/2026-02-13.md"]
    assert not any(one.problem for one in found)


def test_a_link_out_of_the_folder_is_told_and_not_followed(tmp_path: Path, notes: Path) -> None:
    secret = _folder(tmp_path / "secret", "key.md")
    (notes / "link.md").symlink_to(secret / "key.md")
    (notes / "linked").symlink_to(secret)
    assert list(_problems(notes)) == ["link.md", "linked"]
    assert all("out of its folder" in problem for problem in _problems(notes).values())
    assert not [uri for uri in _uris(notes) if uri.startswith("linked/")]


def test_a_link_inside_the_folder_is_a_file(notes: Path) -> None:
    (notes / "link.md").symlink_to("memory/2026-02-13.md")
    assert "link.md" in _uris(notes)
    assert _problems(notes) == {}


def test_a_visible_link_to_a_hidden_note_is_that_note(notes: Path) -> None:
    hidden = _folder(notes / ".git" / "annex", "o.md")
    (notes / "link.md").symlink_to(".git/annex/o.md")
    (notes / "again").symlink_to(hidden)
    assert [uri for uri in _uris(notes) if uri.startswith(("link", "again"))] == ["link.md"]
    assert _problems(notes) == {}


def test_a_link_to_a_folder_inside_or_to_other_files_is_passed_over(
    tmp_path: Path, notes: Path
) -> None:
    (notes / "again").symlink_to("memory")
    (notes / "circle").symlink_to("circle")
    (notes / "picture").symlink_to(_folder(tmp_path / "away", "p.png") / "p.png")
    assert len(_found(notes)) == 3
    assert _problems(notes) == {}


def test_a_link_to_another_configured_folder_is_passed_over(tmp_path: Path, notes: Path) -> None:
    other = _folder(tmp_path / "other", "inner/o.md")
    (notes / "linked").symlink_to(other)
    (notes / "inner").symlink_to(other / "inner")
    assert _problems(notes, other) == {}
    assert [uri for uri in _uris(notes, other) if "o.md" in uri] == ["other/inner/o.md"]
    assert list(_problems(notes)) == ["inner", "linked"]


def test_links_that_lead_nowhere_or_round_are_told(notes: Path) -> None:
    (notes / "gone.md").symlink_to("nothing.md")
    (notes / "round.md").symlink_to("round.md")
    assert set(_problems(notes)) == {"gone.md", "round.md"}
    assert len(_uris(notes)) == 5


def test_a_name_that_is_not_utf8_is_told(notes: Path) -> None:
    Path(os.fsdecode(os.fsencode(notes) + b"/caf\xe9.md")).write_text("x")
    assert _problems(notes) == {"caf?.md": "its name is not UTF-8. Rename the file."}


def test_only_some_places(notes: Path) -> None:
    assert _uris(notes, only=(notes / "a.md",)) == ["a.md"]
    assert len(_uris(notes, only=(notes / "memory",))) == 2


def test_a_file_named_twice_comes_once(notes: Path) -> None:
    only = (notes / "memory", notes / "memory" / "2026-02-13.md", notes)
    assert sorted(_uris(notes, only=only)) == _uris(notes)


def test_relative_and_whole_paths_lead_inside(tmp_path: Path, notes: Path) -> None:
    work = _folder(tmp_path / "work", "b.md")
    folders = configured_folders([notes, work])
    asked = ["a.md", str(notes / "memory"), "b.md", "memory/../a.md", "."]
    assert paths_inside(folders, asked) == [
        notes / "a.md", notes / "memory", work / "b.md", notes / "a.md", notes,
    ]  # fmt: skip


def test_a_name_that_answers_tell_leads_inside(tmp_path: Path, notes: Path) -> None:
    vault = _folder(tmp_path / "vault", "b.md")
    folders = configured_folders([notes, vault])
    _folder(notes / "vault", "b.md")
    [name] = [found.uri for found in files_in(folders) if found.path == vault / "b.md"]
    assert name == "vault/b.md"
    asked = [name, "vault", "vault/", "vaulted.md", "vault/../a.md"]
    (notes / "vaulted.md").write_text("x")
    assert paths_inside(folders, asked) == [
        vault / "b.md", vault, vault, notes / "vaulted.md", notes / "a.md",
    ]  # fmt: skip
    with pytest.raises(PathOutsideSources):
        paths_inside(folders, ["vault/../../notes-2"])


@pytest.mark.parametrize(
    "path",
    ["../secret/key.md", "..", "/etc/passwd", "memory/../../secret", "nothing.md", "~/x.md",
     "~nobody-here/x", "link.md", "linked/key.md", "round.md", "a\x00b", "x" * 5_000, "a.md/b",
     "../notes-2/a.md"],
)  # fmt: skip
def test_a_way_out_is_refused(tmp_path: Path, notes: Path, path: str) -> None:
    secret = _folder(tmp_path / "secret", "key.md")
    _folder(tmp_path / "notes-2", "a.md")
    (notes / "link.md").symlink_to(secret / "key.md")
    (notes / "linked").symlink_to(secret)
    (notes / "round.md").symlink_to("round.md")
    with pytest.raises(PathOutsideSources, match="MEMORY_SOURCES"):
        paths_inside(configured_folders([notes]), ["a.md", path])


def test_a_path_that_is_not_there_is_told_to_look_at_its_spelling(notes: Path) -> None:
    with pytest.raises(PathOutsideSources, match=r"names nothing in .* spelling"):
        paths_inside(configured_folders([notes]), [str(notes / "memroy")])


@pytest.mark.parametrize("name", ["a\nb.md", "a\x1b[2Jb.md", "tab\there.md"])
def test_a_name_with_a_control_character_is_told(notes: Path, name: str) -> None:
    _folder(notes, name)
    assert _problems(notes) == {name: "its name holds a control character. Rename the file."}


def test_a_folder_that_cannot_be_looked_into_is_told(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _folder(notes, "z.md")
    forbid(monkeypatch, "memory")
    assert _uris(notes) == ["a.md", "z.md", "memory"]
    assert _problems(notes) == {"memory": "cannot be looked into: Permission denied."}
    [folder] = configured_folders([notes])
    assert why_unread(folder) is None
    forbid(monkeypatch, notes)
    assert _problems(notes) == {str(notes): "cannot be looked into: Permission denied."}
    assert why_unread(folder) == "cannot be looked into: Permission denied."


def test_folders_in_each_other_are_read_as_far_as_a_name_goes(notes: Path) -> None:
    deepest, made = notes, []
    for _ in range(1_200):
        deepest /= "d"
        deepest.mkdir()
        made.append(deepest)
    (made[200] / "deep.md").touch()
    try:
        assert len(_uris(notes)) == 5
        [problem] = _problems(notes).values()
        assert "more than 500 characters" in problem
    finally:
        (made[200] / "deep.md").unlink()
        for folder in reversed(made):
            folder.rmdir()


def test_a_path_that_no_name_may_be_as_long_as_is_told(notes: Path) -> None:
    folder = "x" * 240 + "/" + "y" * 240 + "/"
    _folder(notes, f"{folder}{'z' * 15}.md", f"{folder}{'z' * 16}.md")
    assert [len(uri) for uri in _problems(notes)] == [501]
    assert len(_uris(notes)) == 5


def test_a_folder_that_becomes_a_link_is_not_entered(
    tmp_path: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = _folder(tmp_path / "secret", "key.md")
    real = os.open

    def swapped(path: str, *rest: Any, **more: Any) -> int:
        if path == "memory":
            (notes / "memory").rename(tmp_path / "away")
            (notes / "memory").symlink_to(secret)
        return real(path, *rest, **more)

    monkeypatch.setattr(os, "open", swapped)
    assert _uris(notes) == ["a.md"]
    assert (tmp_path / "away").exists()
