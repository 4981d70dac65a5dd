"""Which records this process has written: what whoever keeps a copy of them must take in.

Of a row that stands in the store as it was given the writer tells the row itself; others are to be
read. What was told is forgotten where the same record is written again, and where it waits long.
"""

import time
from collections import deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Final
from weakref import WeakSet

from service.store.driver import RecordID
from service.store.queries import Query

# A table, and a key within it that can stand in a set: lists are tuples.
RecordKey = tuple[str, Any]

# The values of a row as the store would give it.
Row = Mapping[str, Any]

# What goes with a memory, under its key.
_OF_MEMORY: Final = ("embedding", "references", "follows")
_MAY_NAME: Final = (RecordID, dict, list)
_NO_ROWS: Final[Mapping[RecordKey, Row]] = {}
# Of so many rows are the values kept for a reader that is not there yet: some 20 MB.
_MOST_ROWS: Final = 10_000
# Of so many records that were written last the keys are kept, some 2 MB.
_MOST_TOUCHED: Final = 10_000
# After so many seconds a write that was given up is looked at again: it may happen yet, for as
# long as the database goes on with it.
_LOOKS_AFTER: Final = (0.25, 1.0, 4.0, 15.0, 60.0, 300.0)


class Reader:
    """What was written since somebody read it last."""

    def __init__(self, written: "WrittenRecords") -> None:
        self._written = written
        self._waiting: dict[RecordKey, Row | None] = {}
        self._taken: dict[RecordKey, Row | None] = {}

    def awaits(self, key: RecordKey) -> bool:
        """Return whether a record was written that is not read by now."""
        return key in self._waiting or key in self._taken

    def waiting(self, table: str) -> list[Row | None]:
        """Return what is told of the records of a table that are not read by now.

        None for a row that must be read.
        """
        every = chain(self._taken.items(), self._waiting.items())
        return [row for (name, _), row in every if name == table]

    def take(self) -> dict[RecordKey, Row | None]:
        """Return the records that were written, and begin anew; say `done` once they are read.

        None for a row that must be read.
        """
        self._written.look_again()
        self._taken, self._waiting = self._waiting, {}
        return self._taken

    def done(self, failed: Iterable[RecordKey]) -> None:
        """Forget what was taken, but for what could not be read: that is told again."""
        self._taken = {}
        self.add(failed)

    def add(self, keys: Iterable[RecordKey], rows: Mapping[RecordKey, Row] = _NO_ROWS) -> None:
        """Have records looked at once more: they were written, or could not be read."""
        told = rows if len(self._waiting) < _MOST_ROWS else _NO_ROWS
        # Told are new memories: one that waits already was deleted before, and nobody has seen it.
        again = [key for table, key in rows if table == "memory" and self.awaits((table, key))]
        self._waiting.update(((table, key), None) for key in again for table in _OF_MEMORY)
        self._waiting.update((key, told.get(key)) for key in keys)


@dataclass(eq=False)
class Watch:
    """How often one table was written since somebody looks."""

    table: str
    writes: int = 0


class Touched:
    """The records of one table that were written last; `count` is how many since somebody looks."""

    def __init__(self, table: str) -> None:
        self.table = table
        self.count = 0
        self._keys: deque[Any] = deque(maxlen=_MOST_TOUCHED)

    def add(self, keys: Iterable[RecordKey]) -> None:
        """Note a write of these records, of whatever table."""
        mine = [key for table, key in keys if table == self.table]
        self.count += len(mine)
        self._keys.extend(mine)

    def since(self, count: int) -> set[Any] | None:
        """Return the keys that were written since there were so many; None where too many were."""
        new = self.count - count
        return None if new > len(self._keys) else set(islice(reversed(self._keys), new))


class WrittenRecords:
    """Tells its readers what is written; no clock and no order, for what counts is how it is now.

    A reader hears of writes for as long as somebody holds it.
    """

    def __init__(self) -> None:
        self._readers: WeakSet[Reader] = WeakSet()
        self._watches: WeakSet[Watch] = WeakSet()
        self._touched: WeakSet[Touched] = WeakSet()
        # (moment of time.monotonic, records) of writes whose end nobody knows.
        self._doubtful: list[tuple[float, frozenset[RecordKey]]] = []

    def reader(self) -> Reader:
        """Return a reader of everything that is written from now on."""
        reader = Reader(self)
        self._readers.add(reader)
        return reader

    def watch(self, table: str) -> Watch:
        """Return a watch over a table; while `has_doubts` it may miss a write."""
        watch = Watch(table)
        self._watches.add(watch)
        return watch

    def touched(self, table: str) -> Touched:
        """Return the records of one table that are written from now on, as `watch` does."""
        touched = Touched(table)
        self._touched.add(touched)
        return touched

    def records_in(self, params: Mapping[str, Any]) -> frozenset[RecordKey]:
        """Return the records that the values of a writing query name; every write names them."""
        # One by one: what is called `id` does not make a row of all.
        return frozenset(
            key
            for value in params.values()
            if isinstance(value, _MAY_NAME)
            for key in _named(value)
        )

    def told_by(
        self, query: Query, params: Mapping[str, Any]
    ) -> tuple[frozenset[RecordKey], Mapping[RecordKey, Row]]:
        """Return the records that a writing query names, and the rows of its `whole` variables.

        The row of a record that another variable names as well is left out: it may be changed yet.
        """
        if not query.whole or not self._readers:
            return self.records_in(params), _NO_ROWS
        named = self.records_in({n: value for n, value in params.items() if n not in query.whole})
        rows = {_key(row["id"]): row for name in query.whole for row in params[name]}
        told = {key: row for key, row in rows.items() if key not in named}
        return named | rows.keys(), told

    @property
    def has_doubts(self) -> bool:
        """Whether a write was given up lately that may happen yet."""
        self.look_again()
        return bool(self._doubtful)

    def add(self, keys: Collection[RecordKey], rows: Mapping[RecordKey, Row] = _NO_ROWS) -> None:
        """Tell the readers of a write."""
        for reader in self._readers:
            reader.add(keys, rows)
        for watch in self._watches:
            watch.writes += any(table == watch.table for table, _ in keys)
        for touched in self._touched:
            touched.add(keys)

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


def _key(record: RecordID) -> RecordKey:
    key = record.id
    return record.table_name, tuple(key) if isinstance(key, list) else key


def _named(value: Any) -> Iterable[RecordKey]:
    """Yield the records that a value names; strings and numbers, most of a row, are passed by.

    A row with an id names that alone: what it refers to is not written by it.
    """
    if isinstance(value, dict) and isinstance(value.get("id"), RecordID):
        value = value["id"]
    if isinstance(value, RecordID):
        yield _key(value)
        return
    for part in value.values() if isinstance(value, dict) else value:
        if isinstance(part, _MAY_NAME):
            yield from _named(part)
        elif isinstance(part, float) and isinstance(value, list):
            return  # the numbers of a vector name nothing
