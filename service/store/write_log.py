"""Which records were written since a snapshot of them: a log in the store, for the next start.

An entry is written in the transaction that writes what it names, so that whatever is stored is
named, and one that is tried again has one entry. Naming too much is harmless: who reads the log
looks at the records as they are then.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final

from service.store.driver import RecordID
from service.store.queries import load_query
from service.store.written_records import RecordKey

# Takes the text of a query, its values, and how many times the usual wait it may take.
Write = Callable[[str, dict[str, Any], float], Awaitable[Any]]

LOG_WRITE: Final = load_query(__package__, "log_write")
FORGET_SNAPSHOT: Final = load_query(__package__, "forget_snapshot")
PUBLISH_SNAPSHOT: Final = load_query(__package__, "publish_snapshot")
LAST_LOGGED: Final = load_query(__package__, "last_logged")

# The key in table meta of the facts of the snapshot that is valid.
SNAPSHOT: Final = "snapshot"

# What an index in RAM holds; other tables need no log.
_FOLLOWED: Final = frozenset(
    {"memory", "concept", "embedding", "references", "related_to", "is_a", "follows"}
)
# Beyond this reading anew is faster than looking after each record.
MOST_LOGGED: Final = 50_000


class WriteLog:
    """Counts the entries; `is_on` from the beginning of a snapshot until there is none any more.

    `number` is that of the last entry, `records` how many records entries have named since the
    last snapshot. `forgotten` counts how often the log was: a snapshot that began before lacks it.
    Whoever changes any of it lets nobody write meanwhile.
    """

    def __init__(self) -> None:
        self.is_on = False
        self.number = 0
        self.records = 0
        self.forgotten = 0

    def resume(self, last_number: int | None, snapshot: Mapping[str, Any]) -> None:
        """Go on where the last process ended; `snapshot` are the facts of the valid one."""
        self.is_on, self.number = bool(snapshot), last_number or snapshot.get("number", 0)

    async def logged(
        self, text: str, params: dict[str, Any], records: Iterable[RecordKey], write: Write
    ) -> tuple[str, dict[str, Any]]:
        """Return a write with its entry, where a snapshot is made older by it.

        When too much is logged the snapshot is forgotten, by `write`, and nothing is logged.
        """
        named = [
            [table, list(key) if isinstance(key, tuple) else key]
            for table, key in (records if self.is_on else ())
            if table in _FOLLOWED
        ]
        if not named:
            return text, params
        if self.records + len(named) > MOST_LOGGED:
            await self.forget(write)
            return text, params
        self.number += 1
        self.records += len(named)
        entry = {"log_id": RecordID("written", self.number), "log_records": named}
        if "BEGIN;" not in text:
            return f"{LOG_WRITE.text}\n{text}", {**params, **entry}
        return text.replace("BEGIN;", f"BEGIN;\n{LOG_WRITE.text}", 1), {**params, **entry}

    async def forget(self, write: Write) -> None:
        """Call no snapshot valid, and log nothing until there is one."""
        await write(FORGET_SNAPSHOT.text, {"id": RecordID("meta", SNAPSHOT)}, 1.0)
        self.is_on, self.records = False, 0
        self.forgotten += 1

    async def publish(self, write: Write, token: str, number: int) -> None:
        """Call a snapshot the valid one; it holds what was written up to an entry."""
        facts = {"token": token, "number": number}
        named = {"id": RecordID("meta", SNAPSHOT), "facts": facts, "number": number}
        await write(PUBLISH_SNAPSHOT.text, named, 1.0)
        self.records = 0
