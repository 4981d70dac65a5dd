"""Which records this process has written: what whoever keeps a copy of them must read again."""

import time
from collections.abc import Iterable, Mapping
from typing import Any, Final
from weakref import WeakSet

from service.store.driver import RecordID

# A table, and a key within it that can stand in a set: lists are tuples.
RecordKey = tuple[str, Any]

_MAY_NAME: Final = (RecordID, dict, list)
# After so many seconds a write that was given up is looked at again: it may happen yet, for as
# long as the database goes on with it.
_LOOKS_AFTER: Final = (0.25, 1.0, 4.0, 15.0, 60.0, 300.0)


class Reader:
    """What was written since somebody read it last."""

    def __init__(self, written: "WrittenRecords") -> None:
        self._written = written
        self._waiting: set[RecordKey] = set()
        self._taken: set[RecordKey] = set()

    def awaits(self, key: RecordKey) -> bool:
        """Return whether a record was written that is not read by now."""
        return key in self._waiting or key in self._taken

    def take(self) -> set[RecordKey]:
        """Return the records that were written, and begin anew; say `done` once they are read."""
        self._written.look_again()
        self._taken, self._waiting = self._waiting, set()
        return self._taken

    def done(self, failed: Iterable[RecordKey]) -> None:
        """Forget what was taken, but for what could not be read: that is told again."""
        self._taken = set()
        self.add(failed)

    def add(self, keys: Iterable[RecordKey]) -> None:
        """Have records read once more: they were written, or could not be read."""
        self._waiting.update(keys)


class WrittenRecords:
    """Tells its readers what is written; no clock and no order, for what counts is how it is now.

    A reader hears of writes for as long as somebody holds it.
    """

    def __init__(self) -> None:
        self._readers: WeakSet[Reader] = WeakSet()
        # (moment of time.monotonic, records) of writes whose end nobody knows.
        self._doubtful: list[tuple[float, frozenset[RecordKey]]] = []

    def reader(self) -> Reader:
        """Return a reader of everything that is written from now on."""
        reader = Reader(self)
        self._readers.add(reader)
        return reader

    def records_in(self, params: Mapping[str, Any]) -> frozenset[RecordKey]:
        """Return the records that the values of a writing query name; every write names them."""
        return frozenset(_named(dict(params)))

    @property
    def has_doubts(self) -> bool:
        """Whether a write was given up lately that may happen yet."""
        self.look_again()
        return bool(self._doubtful)

    def add(self, keys: frozenset[RecordKey]) -> None:
        """Tell the readers of a write."""
        for reader in self._readers:
            reader.add(keys)

    def doubt(self, keys: frozenset[RecordKey]) -> None:
        """Tell the readers of a write that was given up, now and again for some minutes."""
        if keys:
            now = time.monotonic()
            self._doubtful += [(now + seconds, keys) for seconds in _LOOKS_AFTER]
            self.add(keys)

    def look_again(self) -> None:
        """Tell of the doubtful writes whose time it is."""
        now = time.monotonic()
        due = [keys for moment, keys in self._doubtful if moment <= now]
        self._doubtful = [one for one in self._doubtful if one[0] > now]
        for keys in due:
            self.add(keys)


def _named(value: Any) -> Iterable[RecordKey]:
    """Yield the records that a value names; strings and numbers, most of a row, are passed by."""
    if isinstance(value, RecordID):
        key = value.id
        yield value.table_name, tuple(key) if isinstance(key, list) else key
        return
    for part in value.values() if isinstance(value, dict) else value:
        if isinstance(part, _MAY_NAME):
            yield from _named(part)
        elif isinstance(part, float) and isinstance(value, list):
            return  # the numbers of a vector name nothing
