"""Making and ending one connection to SurrealDB, and naming why there is none."""

import asyncio
import logging
from typing import Any, Final

from service.errors import StoreRefused
from service.store.address import StoreAddress
from service.store.allocator import give_back
from service.store.driver import AsyncSurreal, NotAllowedError, SurrealError
from service.store.failures import failure_to_connect
from service.store.private_files import keep_folders_private
from service.threads import to_its_end

log = logging.getLogger(__name__)

# Times the usual wait: an embedded store that was killed reads its log again.
OPENING_PATIENCE: Final = 20.0
# Merging so much leaves as much in RAM.
_MUCH_MERGED_BYTES: Final = 32_000_000
# A merge can make the next one due, of the levels below; then there is none.
_MOST_OPENINGS: Final = 4


async def connect(address: StoreAddress) -> Any:
    """Return a client of the store, signed in; raises CannotStart or StoreUnavailable.

    A log that a full disk or a lost machine cut off in the middle of a record is read up to there
    each time: what is appended would be lost with the next kill, although it was acknowledged
    (core 3.2.4). So a store with a log is opened, closed, which writes the log out, and opened.
    So is one whose tables the engine has merged while it opened: what it read for that it keeps in
    RAM for good, 1.5 GB for 100,000 memories, and a store that is opened once more takes 65 MB.
    """
    address.refuse_to_begin()
    address.make_folder()
    for _ in range(_MOST_OPENINGS - 1):
        had_log, tables = address.log_bytes > 0, address.tables()
        client = await _connect(address)
        merged = sum(size for name, size in tables.items() if name not in address.tables())
        if not had_log and merged < _MUCH_MERGED_BYTES:
            return client
        await disconnect(client)
    return await _connect(address)


async def _connect(address: StoreAddress) -> Any:
    folder = address.folder
    # An embedded store that was killed reads its log again: no reason to give up.
    patience = OPENING_PATIENCE if folder else 1.0
    client: Any = None
    try:
        async with asyncio.timeout(address.timeout_seconds * patience):
            client = AsyncSurreal(address.url)
            await client.connect()
            if folder is None and address.user:
                await client.signin({"username": address.user, "password": address.password or ""})
            await client.use(address.namespace, address.name)
    except NotAllowedError as error:
        msg = (
            "The database refused the user: check MEMORY_DATABASE_USER and "
            "MEMORY_DATABASE_PASSWORD."
        )
        raise StoreRefused(msg) from error
    except (SurrealError, OSError, TimeoutError, RuntimeError) as error:
        # What is half open holds the store's lock.
        if client is not None:
            await disconnect(client)
        raise failure_to_connect(address, error) from error
    if folder:
        keep_folders_private(folder)
    return client


async def disconnect(client: Any) -> None:
    """Close a client, and give back what it held in RAM; one that is broken already is let go.

    Who is broken off meanwhile waits for its end: the driver would take that for the end of a task
    of its own, and nobody would hear of it.
    """
    try:
        await to_its_end(client.close())
    except (SurrealError, OSError, RuntimeError) as error:
        log.debug("closing the database connection: %s", error)
    await give_back()
