"""Who did what, when and from where, without contents; and denials counted together; pure.

Identifiers stand there as they are only where they are of our own making: hexadecimal. Anything
else, such as a document's path or a slug, is text of somebody's, and its hash takes its place.
"""

import hashlib
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal

from service.access.caller import Caller
from service.moments import micros_of

# `denied`: the door said no; `refused`: the request could not be carried out, and nothing changed.
Outcome = Literal["done", "denied", "refused", "failed"]

_DENIALS: Final = frozenset({401, 403, 421, 429})
_OUR_OWN: Final = re.compile(r"[0-9a-f]{8,64}")
_MINUTE: Final = timedelta(minutes=1)
# Where answers name what they found.
_FOUND: Final = ("results", "memories", "sections", "decisions", "history", "fix")
# So many kinds of denials are told apart in one minute; the others are one line, whose address is
# null. What is refused otherwise came from whoever was let in: there are no more kinds than keys.
MOST_KINDS: Final = 20
# What waits for the store at most, in lines and ids: about 20 MB.
MOST_WAITING: Final = 100_000


def outcome_of(status: int) -> Outcome:
    """Return what an answer of this HTTP status means."""
    if status in _DENIALS:
        return "denied"
    if status >= 500:
        return "failed"
    return "refused" if status >= 400 else "done"


def nameless(value: str) -> str:
    """Return an id of ours as it is, anything else as the first 16 digits of its SHA-256."""
    if _OUR_OWN.fullmatch(value):
        return value
    return "sha256:" + hashlib.sha256(value.encode(errors="replace")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: `count` requests of one kind, the last of them at `at`.

    `part` tells it from others of the same moment; it has one once it waits to be written, so that
    it is the same line whenever it is sent again.
    """

    at: datetime
    operation: str | None
    outcome: Outcome
    status: int
    key: str | None
    name: str | None
    agent: str | None
    address: str | None
    ids: tuple[str, ...] = ()
    count: int = 1
    part: str = ""

    @classmethod
    def of(cls, caller: Caller, status: int, address: str | None, operation: str | None) -> "Entry":
        """Return the line of a request that was answered just now."""
        return cls(
            datetime.now(UTC), operation, outcome_of(status), status, caller.key, caller.name, None,
            address,
        )  # fmt: skip

    def row(self) -> dict[str, Any]:
        """Return its row of table audit; rows stand in the order of time."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "part"}
        return fields | {"id": [micros_of(self.at), self.part], "ids": list(self.ids)}


class Waiting:
    """What is to be written, bounded: one that knocks again and again makes two lines a minute.

    Requests that were done are a line each. Of others the first of a kind in a minute is a line at
    once, and all further ones of that minute are one more. `dropped` counts what there was no room
    for.
    """

    def __init__(self) -> None:
        self.dropped = 0
        self._entries: list[Entry] = []
        self._size = 0
        # The last one of each kind, and how many came after the first.
        self._kinds: dict[object, Entry] = {}
        self._minute_ends = datetime.fromtimestamp(0, UTC)

    def add(self, entry: Entry) -> None:
        """Take in a line."""
        if entry.outcome == "done":
            self._append(entry)
            return
        self._end_minute(entry.at)
        kind: object = (entry.address, entry.key, entry.status)
        if entry.outcome == "denied" and kind not in self._kinds and self._is_crowded():
            kind, entry = None, replace(entry, key=None, name=None, address=None, operation=None)
        known = self._kinds.get(kind)
        if known is None:
            self._kinds[kind] = replace(entry, count=0)
            self._append(entry)
            return
        operation = known.operation if known.operation == entry.operation else None
        agent = known.agent if known.agent == entry.agent else None
        self._kinds[kind] = replace(
            entry, count=known.count + 1, operation=operation, agent=agent, ids=()
        )

    def take(self, most: int, *, is_last: bool = False) -> list[Entry]:
        """Return up to so many lines that are due, the oldest first; all of them at the end."""
        self._end_minute(datetime.now(UTC), is_over=is_last)
        taken, self._entries = self._entries[:most], self._entries[most:]
        self._size -= sum(map(_weight, taken))
        return taken

    def give_back(self, entries: Sequence[Entry]) -> None:
        """Put back what could not be written, in front."""
        later, self._entries, self._size = self._entries, [], 0
        for entry in (*entries, *later):
            self._append(entry)

    def _is_crowded(self) -> bool:
        return sum(one.outcome == "denied" for one in self._kinds.values()) >= MOST_KINDS

    def _append(self, entry: Entry) -> None:
        if self._size + _weight(entry) > MOST_WAITING:
            self.dropped += entry.count
            return
        self._entries.append(replace(entry, part=entry.part or secrets.token_hex(4)))
        self._size += _weight(entry)

    def _end_minute(self, now: datetime, *, is_over: bool = False) -> None:
        # A clock that was set back ends the minute too.
        if not is_over and self._minute_ends - _MINUTE <= now < self._minute_ends:
            return
        counted, self._kinds = self._kinds.values(), {}
        self._minute_ends = now + _MINUTE
        for entry in counted:
            if entry.count:
                self._append(entry)


def ids_in(answer: object) -> Iterable[str]:
    """Yield the ids that an answer names, whatever route it is of; of a document its path's hash.

    The id of what was stored or made, those of a batch, of a job, a plan and a run, and of the
    memories that were found, or stand in a section of a session's context.
    """
    if not isinstance(answer, dict):
        return
    yield from _named(answer, ("id", "ids", "job", "plan", "run", "source"))
    for name in _FOUND:
        found = answer.get(name)
        for one in found if isinstance(found, list) else (found,):
            yield from _named(one if isinstance(one, dict) else {"id": one}, ("id", "ids"))


def _named(told: Mapping[str, object], names: Iterable[str]) -> Iterable[str]:
    for name in names:
        value = told.get(name)
        for one in value if isinstance(value, list) else (value,):
            if isinstance(one, str):
                yield nameless(one)


def _weight(entry: Entry) -> int:
    return 1 + len(entry.ids)
