"""What a table answered, at hand until somebody writes it: most is asked again and again."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar
from weakref import WeakKeyDictionary

from service.store.database import Database
from service.store.written_records import Watch

Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(slots=True)
class _Answers:
    """What was read of one table, as long as nobody writes it."""

    watch: Watch
    by_key: dict[Any, Any] = field(default_factory=dict)
    writes: int = 0


_ANSWERS: Final[WeakKeyDictionary[Database, dict[str, _Answers]]] = WeakKeyDictionary()
_MOST_ANSWERS: Final = 10_000


async def remembered(
    db: Database,
    table: str,
    keys: Sequence[Key],
    read: Callable[[Sequence[Key]], Awaitable[Mapping[Key, Value]]],
) -> Mapping[Key, Value]:
    """Return what `read` gives for each of the keys, asked once until the table is written.

    Nobody else writes an embedded store, and what is written there is told; a server is asked each
    time. Every caller of one table has the same kind of keys and the same `read`.
    """
    if db.address.folder is None or db.written.has_doubts:
        return await read(keys)
    tables = _ANSWERS.setdefault(db, {})
    if table not in tables:
        tables[table] = _Answers(db.written.watch(table))
    answers = tables[table]
    writes = answers.watch.writes
    if answers.writes != writes or len(answers.by_key) > _MOST_ANSWERS:
        answers.by_key, answers.writes = {}, writes
    found = {key: answers.by_key[key] for key in keys if key in answers.by_key}
    if new := [key for key in keys if key not in found]:
        found |= await read(new)
        # What was written meanwhile may not be in what was read.
        if answers.watch.writes == writes == answers.writes:
            answers.by_key |= found
    return found
