"""Pushes, or changes of memories, that wait for one agent's turn at a time: written as one change.

A transaction of five memories costs little more than one of a single memory, and every step of it
waits for the event loop: beside 16 readers single pushes came to 8 a second.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from service.errors import ServiceError
from service.links.change import Change
from service.links.links import Links
from service.records import Vector
from service.store.database import Database

Written = tuple[Change, Links]
Write = Callable[[Change, Mapping[str, Vector]], Awaitable[Written]]

# A group's pause for everyone else stays that of a small batch.
_MOST_MEMORIES: Final = 50


@dataclass(slots=True, eq=False)
class _Waiting:
    """A change with its vectors; `written` once another's turn has brought it too."""

    change: Change
    vectors: Mapping[str, Vector]
    written: Written | None = None


class Together:
    """Who waits to write memories for which agent."""

    def __init__(self) -> None:
        self._lines: dict[str, list[_Waiting]] = {}

    async def write(
        self, turn: asyncio.Lock, change: Change, vectors: Mapping[str, Vector], write: Write
    ) -> Written:
        """Write a change when it is its turn, or have it written in the turn of one before it.

        A group that fails is written one by one, each in its own turn: one bad memory harms no
        other, and raises what it raises alone. Returns what was written of this change.
        """
        mine = _Waiting(change, vectors)
        line = self._lines.setdefault(change.agent, [])
        if _only_writes(change):
            line.append(mine)
        try:
            async with turn:
                if mine.written is None and len(group := _group(mine, line)) > 1:
                    with suppress(ServiceError):
                        await _write_group(group, line, write)
                return mine.written or await write(change, vectors)
        finally:
            if mine in line:
                line.remove(mine)
            if not line and self._lines.get(change.agent) is line:
                del self._lines[change.agent]


def _only_writes(change: Change) -> bool:
    """Say whether a change does nothing but write memories that it names before its turn."""
    rest = replace(change, drafts=(), replaced={}, scopes=None, in_turn=None)
    return bool(change.drafts) and rest == Change(change.agent)


def _group(mine: _Waiting, line: Sequence[_Waiting]) -> list[_Waiting]:
    """Return the one whose turn it is and those in line that fit: no memory stands in two.

    Those of keys for other scopes do not: what one may not write over another may. Nor do pushes
    with what says in its turn what it is (`Change.compared`).
    """
    if mine not in line:
        return [mine]
    group, keys = [mine], {draft.id for draft in mine.change.drafts}
    for one in line:
        others = {draft.id for draft in one.change.drafts}
        if one is mine or _kind(one.change) != _kind(mine.change):
            continue
        if keys.isdisjoint(others) and len(keys | others) <= _MOST_MEMORIES:
            group.append(one)
            keys |= others
    return group


def _kind(change: Change) -> tuple[frozenset[str] | None, bool]:
    return change.scopes, change.in_turn is None


async def _write_group(group: Sequence[_Waiting], line: list[_Waiting], write: Write) -> None:
    for one in group:
        line.remove(one)
    whole = replace(
        group[0].change,
        drafts=tuple(draft for one in group for draft in one.change.drafts),
        replaced={key: old for one in group for key, old in one.change.replaced.items()},
        in_turn=partial(_in_turn, group) if group[0].change.in_turn else None,
    )
    vectors = {key: vector for one in group for key, vector in one.vectors.items()}
    written, links = await write(whole, vectors)
    for one in group:
        one.written = _share(written, one.change), links


async def _in_turn(group: Sequence[_Waiting], db: Database, whole: Change) -> Change:
    """Return a group's change with the drafts that each makes in the turn."""
    said = [await one.change.in_turn(db, one.change) for one in group if one.change.in_turn]
    return replace(whole, drafts=tuple(draft for one in said for draft in one.drafts))


def _share(written: Change, change: Change) -> Change:
    """Return what was written of one change."""
    keys = {draft.id for draft in change.drafts}
    return replace(
        written,
        drafts=tuple(draft for draft in written.drafts if draft.id in keys),
        replaced={key: old for key, old in written.replaced.items() if key in keys},
    )
