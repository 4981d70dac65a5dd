"""A process that is killed between two transactions, as far as its store can tell."""

from service.errors import StoreUnavailable
from service.store.database import Database
from service.writing import transaction
from service.writing.tables.linked_change import LinkedChange


class Killed:
    """In the place of `transaction.write`: after `left` more transactions none is written.

    `refused` counts those that were not.
    """

    def __init__(self, left: int = 0) -> None:
        self.left = left
        self.refused = 0

    async def __call__(self, db: Database, linked: LinkedChange) -> None:
        """Write, or raise StoreUnavailable."""
        if self.left <= 0:
            self.refused += 1
            raise StoreUnavailable("killed")
        self.left -= 1
        await transaction.write(db, linked)
