"""Reading a file: what was opened is what is read, whatever is put in its place meanwhile."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from service.errors import NotText, PathOutsideSources, SourceTooLarge
from service.ingest.reading import ReadingRules, decode, moment_of, read_file

RULES = ReadingRules(1000)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "memory").mkdir(parents=True)
    (folder / "a.md").write_text("a note", encoding="utf-8")
    (folder / "memory" / "b.md").write_text("of a day", encoding="utf-8")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "b.md").write_text("the key", encoding="utf-8")
    return folder


@contextmanager
def before_opening(monkeypatch: pytest.MonkeyPatch, deed: Callable[[], None]) -> Iterator[None]:
    """Do something when the path was looked at and nothing was opened yet."""
    resolve = Path.resolve

    def resolved(path: Path, strict: bool = False) -> Path:
        real = resolve(path, strict)
        monkeypatch.undo()
        deed()
        return real

    monkeypatch.setattr(Path, "resolve", resolved)
    yield
    monkeypatch.undo()


def test_a_text_is_read_with_its_time(notes: Path) -> None:
    (notes / "a.md").write_bytes("\ufeff# Über\r\n서버".encode())
    os.utime(notes / "a.md", (0, 1_770_973_500))
    read = read_file(notes, notes / "a.md", RULES)
    assert read.text == "\ufeff# Über\r\n서버"
    assert read.modified_at == datetime(2026, 2, 13, 9, 5, tzinfo=UTC)
    assert read_file(notes, notes / "memory" / "b.md", RULES).text == "of a day"


def test_a_file_is_taken_up_to_its_largest_size(notes: Path) -> None:
    (notes / "a.md").write_bytes(b"x" * 1001)
    assert len(read_file(notes, notes / "a.md", ReadingRules(1001)).text) == 1001
    with pytest.raises(SourceTooLarge, match="1,001 bytes"):
        read_file(notes, notes / "a.md", RULES)


def test_a_large_limit_costs_a_small_file_nothing(notes: Path) -> None:
    for most in (10**14, 10**26):
        assert read_file(notes, notes / "a.md", ReadingRules(most)).text == "a note"
    (notes / "a.md").write_bytes(b"x" * 2_500_000)
    assert len(read_file(notes, notes / "a.md", ReadingRules(10**26)).text) == 2_500_000


def test_a_link_inside_is_followed_and_one_out_is_not(tmp_path: Path, notes: Path) -> None:
    (notes / "in.md").symlink_to("memory/b.md")
    (notes / "out.md").symlink_to(tmp_path / "secret" / "b.md")
    (notes / "outer").symlink_to(tmp_path / "secret")
    assert read_file(notes, notes / "in.md", RULES).text == "of a day"
    for name in ("out.md", "outer/b.md"):
        with pytest.raises(PathOutsideSources, match="leads out"):
            read_file(notes, notes / name, RULES)


def test_a_link_put_in_a_files_place_is_not_followed(
    tmp_path: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def swap() -> None:
        (notes / "a.md").unlink()
        (notes / "a.md").symlink_to(tmp_path / "secret" / "b.md")

    with (
        before_opening(monkeypatch, swap),
        pytest.raises(NotText, match="a link"),
    ):
        read_file(notes, notes / "a.md", RULES)


def test_a_link_put_in_a_folders_place_is_not_followed(
    tmp_path: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def swap() -> None:
        (notes / "memory").rename(tmp_path / "away")
        (notes / "memory").symlink_to(tmp_path / "secret")

    with before_opening(monkeypatch, swap), pytest.raises(OSError, match="memory"):
        read_file(notes, notes / "memory" / "b.md", RULES)


def test_swapping_all_the_time_never_lets_out_what_lies_outside(
    tmp_path: Path, notes: Path
) -> None:
    is_over = threading.Event()

    def swap() -> None:
        path, spare = notes / "a.md", notes / "spare"
        while not is_over.is_set():
            spare.symlink_to(tmp_path / "secret" / "b.md")
            spare.replace(path)
            spare.write_text("a note", encoding="utf-8")
            spare.replace(path)

    swapping = threading.Thread(target=swap)
    swapping.start()
    texts, refusals = set(), 0
    try:
        for _ in range(1000):
            try:
                texts.add(read_file(notes, notes / "a.md", RULES).text)
            except (NotText, PathOutsideSources, OSError):
                refusals += 1
    finally:
        is_over.set()
        swapping.join()
    assert texts <= {"a note", ""}
    assert refusals


def test_a_file_of_several_names_is_read_only_when_asked_to(tmp_path: Path, notes: Path) -> None:
    (notes / "c.md").hardlink_to(tmp_path / "secret" / "b.md")
    with pytest.raises(PathOutsideSources, match="2 names"):
        read_file(notes, notes / "c.md", RULES)
    assert read_file(notes, notes / "c.md", ReadingRules(1000, hard_links=True)).text == "the key"


def test_a_file_that_says_it_is_empty_is_read_no_further_than_any_other() -> None:
    rules = ReadingRules(10)
    with pytest.raises(SourceTooLarge, match="largest file taken is 10"):
        read_file(Path("/proc/self").resolve(), Path("/proc/self/status"), rules)


def test_a_pipe_a_device_or_a_folder_is_no_file_to_wait_for(notes: Path) -> None:
    os.mkfifo(notes / "pipe.md")
    places = [(notes, notes / "pipe.md"), (notes, notes / "memory"), (notes, notes)]
    places += [(Path("/dev"), Path(os.devnull))]
    for folder, path in places:
        with pytest.raises(NotText, match="not a file"):
            read_file(folder, path, RULES)


def test_a_missing_file_is_the_callers_to_tell(notes: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_file(notes, notes / "gone.md", RULES)


def test_no_file_stays_open(notes: Path) -> None:
    (notes / "big.md").write_bytes(b"x" * 2000)
    open_before = len(list(Path("/proc/self/fd").iterdir()))
    for name in ("a.md", "memory/b.md", "memory/gone.md", "gone/b.md", "big.md", "memory"):
        try:
            read_file(notes, notes / name, RULES)
        except (NotText, SourceTooLarge, OSError):
            continue
    assert len(list(Path("/proc/self/fd").iterdir())) == open_before


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00", "NUL"),
        (b"text " * 10_000 + b"\x00", "NUL"),
        ("text".encode("utf-16-le"), "NUL"),
        (b"caf\xe9", "byte 0xe9 at position 3"),
        (b"\xed\xa0\x80", "byte 0xed at position 0"),
        (b"ok \xf0\x9f\x90", "position 3"),
    ],
)
def test_what_is_not_text_says_why(data: bytes, reason: str) -> None:
    with pytest.raises(NotText, match=reason):
        decode(data)


@pytest.mark.parametrize("order", ["le", "be"])
def test_utf16_with_its_mark_is_text(order: str) -> None:
    assert decode("\ufeff# Über\r\n서버 😀".encode(f"utf-16-{order}")) == "# Über\r\n서버 😀"


@pytest.mark.parametrize(
    ("data", "reason"),
    [(b"\xff\xfea\x00b", "not UTF-16: byte 0x62"), (b"\xff\xfe\x00\xd8a\x00", "Save it as UTF-8"),
     ("\ufeffa".encode("utf-32-le"), "a binary file")],
)  # fmt: skip
def test_what_is_not_utf16_says_why(data: bytes, reason: str) -> None:
    with pytest.raises(NotText, match=reason):
        decode(data)


def test_an_empty_file_is_text() -> None:
    assert decode(b"") == ""


@pytest.mark.parametrize("seconds", [-1e11, 2.6e11, 1e18, float("inf"), float("nan")])
def test_a_time_outside_of_the_calendar_is_none(seconds: float) -> None:
    assert moment_of(seconds) is None
