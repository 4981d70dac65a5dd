"""Whether the disk of a store has room for more, and what a write without any left behind."""

import asyncio
from typing import Final

from service.errors import QueryFailed, ServiceError, StoreFull, StoreUnavailable
from service.store.address import StoreAddress
from service.store.disk import (
    free_bytes,
    full,
    may_be_torn,
    reason_not_to_grow,
    says_full,
    words_of_full,
)


class Room:
    """What is known of a store's disk; `full` is why the last write failed, None if it did not."""

    def __init__(self, address: StoreAddress) -> None:
        self.full: StoreFull | None = None
        # The log may end in half a record.
        self.is_torn = False
        self._address: Final = address

    def check(self, size: int = 0) -> None:
        """Raise StoreFull if there is no room for so much more, or was none for the last write."""
        if self.full is not None:
            raise self.full
        self._check_reserve(size)

    def must_reopen(self) -> bool:
        """Return whether the store must be reopened before a write; raises StoreFull.

        What is appended to half a record would be lost, so that is undone first.
        """
        self._check_reserve()
        folder = self._address.folder
        if not self.is_torn or folder is None:
            return False
        if reason := reason_not_to_grow(folder, self._address.log_bytes):
            raise full(folder, reason)
        return True

    async def failure_of(self, error: StoreFull | QueryFailed) -> ServiceError:
        """Return what a failed write means, and keep that."""
        if isinstance(error, StoreFull):
            self.full = error
            return error
        self.is_torn = self.is_torn or may_be_torn(error.detail)
        self.full = await asyncio.to_thread(self._named, error.detail)
        if self.full is None and self._address.folder is None and may_be_torn(error.detail):
            # A server that says no more may have stored it, as may requests of several writes.
            told = "Whether anything of it was stored is not known: look before you send it again."
            return StoreUnavailable(f"{error.logged}. {told}")
        return self.full or error

    def reopened(self) -> None:
        """Note that the store begins a new log."""
        self.is_torn = False

    def told(self) -> str:
        """Return how much is free."""
        folder = self._address.folder
        return f"{free_bytes(folder) / 1e6:.0f} MB free" if folder else "the database server's"

    def _check_reserve(self, size: int = 0) -> None:
        """Raise StoreFull unless what lies in the log could be written out, and so much more."""
        folder, reserve = self._address.folder, self._address.reserve_bytes
        if folder is None or not reserve or not folder.is_dir():
            return
        wanted, free = reserve + self._address.log_bytes + size, free_bytes(folder)
        if free < wanted:
            raise full(
                folder,
                f"{free / 1e6:.0f} MB are free, {wanted / 1e6:.0f} MB are wanted before more is "
                "written; MEMORY_DISK_RESERVE_MB",
            )

    def _named(self, failure: str) -> StoreFull | None:
        folder = self._address.folder
        if says_full(failure):
            return full(folder or self._address.url, words_of_full(failure))
        if folder is None or not may_be_torn(failure):
            return None
        reason = reason_not_to_grow(folder, self._address.log_bytes)
        return full(folder, reason) if reason else None
