"""Of a copy that broke off, or is named wrongly, no store is begun: it is left as it is."""

import os
import shutil
from pathlib import Path

import pytest

from service.errors import QueryFailed, StoreRefused
from service.store.address import StoreAddress
from service.store.database import Database
from tests.stores.template import SCHEMA, open_database

pytestmark = pytest.mark.anyio


@pytest.fixture
async def copy(tmp_path: Path) -> Path:
    """Return the folder of a store that was stopped, with a row of its own."""
    async with open_database(tmp_path) as db:
        await db.set_meta("own", {"text": "kept"})
    return tmp_path / "store"


async def _own_row(store: Path) -> dict[str, object]:
    db = Database(StoreAddress(f"surrealkv://{store}"))
    try:
        await db.open(SCHEMA)
        return await db.meta("own")
    finally:
        await db.close()


def _remove(store: Path, pattern: str) -> None:
    for place in store.glob(pattern):
        shutil.rmtree(place) if place.is_dir() else place.unlink()


def _tables(store: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in (store / "sstables").iterdir()}


@pytest.mark.parametrize("missing", ["manifest", "manifest/*"])
async def test_a_copy_without_its_manifest_is_refused_and_left(
    copy: Path, tmp_path: Path, missing: str
) -> None:
    shutil.copytree(copy / "manifest", tmp_path / "manifest")
    _remove(copy, missing)
    before = _tables(copy)
    with pytest.raises(StoreRefused, match="its manifest is missing"):
        await _own_row(copy)
    assert _tables(copy) == before
    shutil.copytree(tmp_path / "manifest", copy / "manifest", dirs_exist_ok=True)
    assert await _own_row(copy) == {"text": "kept"}


async def test_a_copy_that_is_cut_off_says_what_to_do(copy: Path) -> None:
    for file in (copy / "sstables").iterdir():
        file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(StoreRefused, match="put a whole copy in its place"):
        await _own_row(copy)


async def test_a_copy_without_its_large_values_is_told_to_be_damaged(tmp_path: Path) -> None:
    """The engine opens it: cp takes the log of values last, so that it is what is cut off."""
    async with open_database(tmp_path) as db:
        await db.set_meta("own", {"text": os.urandom(20_000).hex()})
    for file in (tmp_path / "store" / "vlog").iterdir():
        os.truncate(file, 0)
    with pytest.raises(QueryFailed, match="store is damaged and wants a whole copy") as raised:
        await _own_row(tmp_path / "store")
    assert "is damaged" in raised.value.logged


async def test_folders_without_a_file_are_an_empty_store(tmp_path: Path) -> None:
    for part in ("manifest", "sstables", "vlog", "wal"):
        (tmp_path / "store" / part).mkdir(parents=True)
    assert await _own_row(tmp_path / "store") == {}


async def test_no_store_is_begun_inside_of_another(copy: Path) -> None:
    """Who restores may name the store itself where its folder is asked for."""
    with pytest.raises(StoreRefused, match="is a store itself, and none is begun in it"):
        await _own_row(copy / "store")
    assert not (copy / "store").exists()
