"""The audit as it is written: from RAM, within a second, so that no request waits for it.

A process that is killed loses what came in the last second, but for deletions: those are lines of
their own in the transaction that deletes (service/writing/tables/audit.py).
"""

import asyncio
import logging
import time
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from service.access.audit import Entry, Waiting
from service.errors import ServiceError, Unavailable
from service.plurals import how_many
from service.store.database import Database
from service.store.queries import load_query

log = logging.getLogger(__name__)

ADD_AUDIT: Final = load_query(__package__, "add_audit")
FORGET_AUDIT: Final = load_query(__package__, "forget_audit")

Mode = Literal["writes", "all", "off"]
_WRITTEN_SECONDS: Final = 1.0
_FORGOTTEN_SECONDS: Final = 3600.0
_MOST_ROWS: Final = 1000


class AuditLog:
    """What is recorded by `mode`, kept for `days`; nothing but time takes a line away."""

    def __init__(self, db: Database, mode: Mode, days: int) -> None:
        self.mode: Final = mode
        self._db = db
        self._days = days
        self._waiting = Waiting()
        self._lost = 0
        self._told = 0
        self._forgotten_at: float | None = None

    @property
    def dropped(self) -> int:
        """How many requests are in no line: the store was away for too long."""
        return self._waiting.dropped + self._lost

    def add(self, entry: Entry) -> None:
        """Have a line written; returns at once."""
        self._waiting.add(entry)

    async def keep_writing(self) -> None:
        """Write what waits every second, and let go of what is too old; for ever."""
        while True:
            await asyncio.sleep(_WRITTEN_SECONDS)
            await self.write()
            await self._forget()

    async def close(self) -> None:
        """Write all that waits, counts of the minute that has not ended too."""
        await self.write(is_last=True)

    async def write(self, *, is_last: bool = False) -> None:
        """Write what waits; of a store that is away it is tried again later."""
        while entries := self._waiting.take(_MOST_ROWS, is_last=is_last):
            try:
                await self._db.run(ADD_AUDIT, rows=[entry.row() for entry in entries])
            except Unavailable:
                self._waiting.give_back(entries)
                break
            except asyncio.CancelledError:
                # The service ends, and writes at its end what waits.
                self._waiting.give_back(entries)
                raise
            except ServiceError as error:
                self._lost += sum(entry.count for entry in entries)
                log.error("%s of the audit: %s", len(entries), error.logged)  # noqa: TRY400
        if self.dropped > self._told:
            missing = how_many(self.dropped - self._told, "request is", "requests are")
            log.warning("%s in no line of the audit", missing)
            self._told = self.dropped

    async def _forget(self) -> None:
        now = time.monotonic()
        if self._forgotten_at is not None and now - self._forgotten_at < _FORGOTTEN_SECONDS:
            return
        self._forgotten_at = now
        before = datetime.now(UTC) - timedelta(days=self._days)
        try:
            await self._db.run_in_parts(FORGET_AUDIT, before=before)
        except ServiceError as error:
            log.warning("old lines of the audit stay for now: %s", error.logged)
