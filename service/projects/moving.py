"""A project becomes another one, or gets another name: its memories and all else move along."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from service.access.origins import ORIGINS, TIERS
from service.drafts.stored_memory import StoredMemory
from service.errors import NotFound
from service.links.change import Change
from service.projects.identity import Identity
from service.projects.registry import find_scope, is_known, register
from service.store.database import Database, record
from service.store.queries import load_query
from service.writing.pipeline import Pipeline, commit
from service.writing.setting import set_fields

MEMORIES: Final = load_query(__package__, "memories")
FOCUS: Final = load_query(__package__, "focus")
MOVE: Final = load_query(__package__, "move")
MOVED: Final = load_query(__package__, "moved")

# As of pushed memories: who writes meanwhile waits for one of these (decision 0009).
_TRANSACTION_MEMORIES: Final = 128


class ProjectNotFound(NotFound):
    """There is no project of this name."""


@dataclass(frozen=True, slots=True)
class Moved:
    """What was moved: the scope of the project before, and since; `left` are still to be moved."""

    scope: str
    into: str
    memories: int
    left: int


async def move(
    pipeline: Pipeline, agent: str, project: Identity, into: Identity, most: int
) -> Moved:
    """Make a project another one's, known or new; at most about `most` memories at once.

    First what it is found by, so that whoever writes meanwhile writes to the new place; then its
    memories in transactions of 128, summaries with their sources, and those of whatever was moved
    into it before. Interrupted, or with some left, the same call goes on; a project that is that
    one already has nothing to move. An earlier name of the project is given back to it. Raises
    ProjectNotFound.
    """
    db = pipeline.db
    async with pipeline.moving.of(agent):
        scope, target = await _ends(db, agent, project, into)
        if scope != target:
            await _move_all_else(db, agent, scope, target)
        sources = await _led_into(db, agent, target)
        rows = [row for one in sources for row in await db.run(MEMORIES, agent=agent, scope=one)]
        done = 0
        for page in _pages(rows):
            if done >= most:
                break
            setting = partial(set_fields, keys=page, fields_of=partial(_moved, sources, target))
            await commit(pipeline, Change(agent, in_turn=setting))
            done += len(page)
    before = sources[0] if scope == target and sources else scope
    return Moved(before, target, done, len(rows) - done)


async def _ends(db: Database, agent: str, project: Identity, into: Identity) -> tuple[str, str]:
    """Return the scopes that a move leads from and to."""
    scope = await find_scope(db, agent, project)
    if not await is_known(db, agent, scope):
        raise ProjectNotFound(f"There is no project {scope!r}: GET /projects lists them.")
    target = await register(db, agent, into)
    if scope == target:
        # Named by what it is now, it is to have an earlier name again; named by an earlier one
        # too, it is a move that goes on.
        earlier = await _led_into(db, agent, scope)
        if into.scope in earlier and project.scope not in earlier:
            target = into.scope
    return scope, target


def _moved(sources: Sequence[str], target: str, memory: StoredMemory) -> dict[str, Any]:
    """Return the scope that a memory gets; one that was given another one meanwhile keeps it."""
    return {"scope": target} if memory.scope in sources else {}


async def _led_into(db: Database, agent: str, target: str) -> list[str]:
    """Return the scopes of all that was moved into a project, by however many moves."""
    moved = await db.run(MOVED, agent=agent)
    found = [target]
    for into in found:
        found += [
            row["scope"] for row in moved
            if row["moved_into"] == into and row["scope"] not in found
        ]  # fmt: skip
    return found[1:]


async def _move_all_else(db: Database, agent: str, scope: str, target: str) -> None:
    focus = [
        {
            "id": record("working_memory", [agent, scope, session]),
            "into": record("working_memory", [agent, target, session]),
        }
        for session in await db.run(FOCUS, agent=agent, scope=scope)
    ]
    await db.run(
        MOVE, agent=agent, scope=scope, into=target, id=record("project", [agent, scope]),
        into_id=record("project", [agent, target]), focus=focus,
        off=record("opt_out", [agent, scope, ""]), off_into=record("opt_out", [agent, target, ""]),
        origins=list(ORIGINS), tiers=list(TIERS),
    )  # fmt: skip


def _pages(rows: Sequence[dict[str, Any]]) -> Iterator[list[str]]:
    """Yield ids to be moved together: a summary and its sources are never parted."""
    page: list[str] = []
    for _, some in groupby(rows, itemgetter("summary")):
        group = [row["id"] for row in some]
        if page and len(page) + len(group) > _TRANSACTION_MEMORIES:
            yield page
            page = []
        page += group
    if page:
        yield page
