"""An empty store to copy: to define all its tables takes ten times as long."""

import asyncio
import atexit
import shutil
import tempfile
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

from service.settings import REPOSITORY
from service.store.address import StoreAddress
from service.store.database import Database

SCHEMA = (REPOSITORY / "schema.surql").read_text(encoding="utf-8")


def lay_store(folder: Path) -> None:
    """Put an empty store with all its definitions into `folder`, unless something is there."""
    if not folder.exists():
        shutil.copytree(_template(), folder)


@asynccontextmanager
async def open_database(folder: Path) -> AsyncIterator[Database]:
    """Open an empty store in `folder` as queries see it, with no service around it."""
    lay_store(folder / "store")
    db = Database(StoreAddress(f"surrealkv://{folder / 'store'}"))
    await db.open(SCHEMA)
    try:
        yield db
    finally:
        await db.close()


@cache
def _template() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="graph-memory-template-"))
    atexit.register(shutil.rmtree, folder)
    # In a thread: whoever asks may be inside of an event loop.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, _build(folder / "store")).result()
    return folder / "store"


async def _build(folder: Path) -> None:
    db = Database(StoreAddress(f"surrealkv://{folder}"))
    await db.open(SCHEMA)
    await db.close()
