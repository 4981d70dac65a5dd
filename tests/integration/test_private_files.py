"""The data folder is its user's alone: as the engine makes files, and as older versions did."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import httpx
import pytest

from service.store.private_files import PrivateFiles, keep_folders_private
from tests.servers.running import REPOSITORY, free_port, running_service, service_process, wait_for
from tests.stores.template import lay_store

IS_ROOT: Final = os.name == "posix" and os.geteuid() == 0
NOBODY: Final = 65534
pytestmark = pytest.mark.skipif(os.name != "posix", reason="rights of files are those of POSIX")
AS_ANOTHER_USER: Final = pytest.mark.skipif(not IS_ROOT, reason="only root becomes another user")
WORDS: Final = "Marigold opened the northern sluice"
# Reads every file below a folder as another user; tells which could be read.
READING: Final = """
import os, sys
from pathlib import Path
os.setgroups([]); os.setgid(65534); os.setuid(65534)
for path in map(Path, sys.argv[1:]):
    try:
        path.open("rb").read(1)
        print(path)
    except OSError:
        pass
"""


@pytest.fixture
def home() -> Iterator[Path]:
    """Yield a folder that everyone may enter: those of pytest keep others out by themselves."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def _every(folder: Path) -> dict[str, int]:
    paths = [folder, *folder.rglob("*")]
    return {
        str(path.relative_to(folder)): stat.S_IMODE(path.lstat().st_mode)
        for path in paths if not path.is_symlink()
    }  # fmt: skip


def _open_to_others(folder: Path) -> dict[str, str]:
    return {name: oct(mode) for name, mode in _every(folder).items() if mode & 0o077}


def _opened(folder: Path) -> None:
    """Leave a folder as older versions did."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def _readable_by_another(*paths: Path) -> set[str]:
    arguments = [sys.executable, "-c", READING, *map(str, paths)]
    told = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout
    return set(told.splitlines())


def _warnings(data_dir: Path, store: Path | None = None) -> list[str]:
    files = PrivateFiles()
    files.keep(data_dir, store)
    return files.warnings


def test_every_file_stays_private_through_writes_a_kill_and_a_restart(
    home: Path, embedding_url: str
) -> None:
    data, port = home / "made" / "data", free_port()
    environment = {
        "MEMORY_DATA_DIR": str(data), "MEMORY_PORT": str(port), "PYTHONPATH": str(REPOSITORY),
        "MEMORY_EMBEDDING_URL": embedding_url,
    }  # fmt: skip
    url, seen = f"http://127.0.0.1:{port}", set[str]()
    for ending in (signal.SIGTERM, signal.SIGKILL, signal.SIGTERM):
        with service_process(**environment) as process:
            wait_for(f"{url}/health/ready", lambda process=process: process.poll() is None)
            texts = [{"text": f"{WORDS} at gate {ending} {n}"} for n in range(600)]
            body = {"memories": texts}
            assert httpx.post(f"{url}/memories/batch", json=body, timeout=120).status_code == 200
            assert _open_to_others(data) == {}
            assert httpx.get(f"{url}/health/ready").json()["warnings"] == []
            process.send_signal(ending)
            process.wait(timeout=60)
        assert _open_to_others(data) == {}
        seen |= _every(data).keys()
    assert {name.split("/")[0] for name in seen} == {".", "store", "snapshots"}
    # A snapshot was there, and a log of the engine.
    assert any(name.startswith("snapshots/") for name in seen)
    assert any(name.startswith("store/wal/") for name in seen)


@AS_ANOTHER_USER
def test_another_user_of_the_machine_reads_nothing(home: Path, embedding_url: str) -> None:
    data = home / "data"
    with running_service(data_dir=data, embedding_url=embedding_url) as service:
        assert service.client.post("/memories", json={"text": WORDS}).status_code == 201
    files = [path for path in data.rglob("*") if path.is_file()]
    assert any(WORDS.encode() in path.read_bytes() for path in files)
    control = home / "everyone"
    control.write_text(WORDS)
    assert _readable_by_another(control) == {str(control)}
    assert _readable_by_another(*files) == set()
    # Each file by itself: with the folders open again, as somebody may do by hand.
    assert _warnings(data, data / "store") == []
    for folder in (data, *(path for path in data.rglob("*") if path.is_dir())):
        folder.chmod(0o755)
    assert _readable_by_another(*files) == set()


@AS_ANOTHER_USER
def test_what_an_older_version_left_open_is_closed_to_another_user(home: Path) -> None:
    data = home / "data"
    lay_store(data / "store")
    _opened(data)
    files = [path for path in data.rglob("*") if path.is_file()]
    assert _readable_by_another(*files) == set(map(str, files))
    assert _warnings(data, data / "store") == []
    assert _readable_by_another(*files) == set()


def test_what_an_older_version_left_is_mended(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    data = home / "data"
    lay_store(data / "store")
    (data / "snapshots").mkdir()
    (data / "snapshots" / "one.index").write_text(WORDS)
    _opened(data)
    assert _warnings(data, data / "store") == []
    assert "could be read by other users; now only by this one" in caplog.text
    assert _open_to_others(data) == {}


def test_a_store_elsewhere_is_mended_as_well(home: Path) -> None:
    store = home / "elsewhere"
    lay_store(store)
    _opened(store)
    assert _warnings(home / "no such folder", store) == []
    assert _open_to_others(store) == {}
    assert not (home / "no such folder").exists()


def test_a_store_among_other_things_leaves_them_their_rights(home: Path) -> None:
    site = home / "site"
    lay_store(site)
    (site / "pages").mkdir()
    (site / "pages" / "index.html").write_text("Welcome")
    _opened(site)
    [warning] = _warnings(home / "no such folder", site)
    assert "holds other files too" in warning
    others = {"pages", "pages/index.html"}
    assert _open_to_others(site).keys() == {".", "LOCK", *others}
    # A folder may be private, and one in it on purpose not.
    site.chmod(0o700)
    (site / "wal").chmod(0o750)
    keep_folders_private(site)
    assert _open_to_others(site).keys() == {"LOCK", *others}


def test_no_link_leads_out_of_the_folder(home: Path) -> None:
    data, outside = home / "data", home / "outside"
    lay_store(data / "store")
    outside.mkdir()
    for name in ("file", "twice"):
        (outside / name).write_text(WORDS)
    (data / "store" / "a file").symlink_to(outside / "file")
    (data / "store" / "a folder").symlink_to(outside)
    (data / "store" / "the same file").hardlink_to(outside / "twice")
    (data / "snapshots").symlink_to(outside)
    _opened_before = _every(outside)
    assert _warnings(data, data / "store") == [
        f"{data / 'snapshots'} is a link: nothing behind it was looked at."
    ]
    assert _every(outside) == _opened_before
    assert _open_to_others(data) == {"store/the same file": oct(_every(outside)["twice"])}


def test_a_folder_that_holds_other_things_keeps_its_rights_and_is_told(home: Path) -> None:
    (home / "letters").write_text("Dear all")
    lay_store(home / "store")
    _opened(home)
    [warning] = _warnings(home, home / "store")
    assert "holds other files too" in warning
    assert _open_to_others(home).keys() == {".", "letters"}


def test_a_folder_that_is_shared_with_a_group_is_told_and_left(home: Path) -> None:
    data = home / "data"
    lay_store(data / "store")
    _opened(data)
    data.chmod(0o2770)
    before = _every(data)
    [warning] = _warnings(data, data / "store")
    assert "is shared with a group" in warning
    assert _every(data) == before


def test_a_parent_that_others_may_write_is_told(home: Path) -> None:
    (home / "data").mkdir(mode=0o700)
    assert _warnings(home / "data") == []
    home.chmod(0o777)
    [warning] = _warnings(home / "data")
    assert warning == f"{home}, above data, can be written by other users: chmod go-w it."
    home.chmod(0o1777)
    assert _warnings(home / "data") == []


def test_what_is_told_stands_in_the_warnings_of_ready(home: Path, embedding_url: str) -> None:
    home.chmod(0o777)
    with running_service(data_dir=home / "data", embedding_url=embedding_url) as service:
        assert service.client.get("/health/ready").json()["warnings"] == [
            f"{home}, above data, can be written by other users: chmod go-w it."
        ]


@AS_ANOTHER_USER
def test_a_folder_of_another_user_is_told_and_left(home: Path) -> None:
    data = home / "data"
    data.mkdir()
    os.chown(data, NOBODY, NOBODY)
    [warning] = _warnings(data)
    assert warning.startswith(f"{data} can be reached by other users and belongs to another user")
    assert _every(data) == {".": 0o755}


@AS_ANOTHER_USER
def test_a_part_of_another_user_is_told_and_left(home: Path) -> None:
    """Snapshots hold every text, and what is deleted cannot be taken out of them."""
    data = home / "data"
    (data / "snapshots").mkdir(mode=0o755, parents=True)
    data.chmod(0o700)
    os.chown(data / "snapshots", NOBODY, NOBODY)
    [warning] = _warnings(data)
    assert warning.startswith(f"{data / 'snapshots'} belongs to another user")
    assert _every(data)["snapshots"] == 0o755
