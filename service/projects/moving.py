"""A project becomes another one, or gets another name: its memories and all else move along."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from service.access.origins import ORIGINS, TIERS
from service.drafts.drafts import Draft
from service.drafts.stored_memory import StoredMemory
from service.errors import NotFound
from service.links.change import Change
from service.projects.identity import Identity
from service.projects.registry import find_scope, is_known, register
from service.records import CONSOLIDATION, DOCUMENT
from service.store.database import Database, record
from service.store.queries import load_query
from service.writing.pipeline import Pipeline, commit
from service.writing.setting import set_fields

MEMORIES: Final = load_query(__package__, "memories")
FOCUS: Final = load_query(__package__, "focus")
MOVE: Final = load_query(__package__, "move")
MOVED: Final = load_query(__package__, "moved")
WENT_TO: Final = load_query(__package__, "went_to")

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

    First what it is found by, so that whoever writes meanwhile writes to the new place, and who had
    its scope before learns it in the turn (`join_moved`) or behind it (`bring_along`); then its
    memories in transactions of 128, summaries with their sources, and those of whatever was moved
    into it before. Interrupted, or with some left, the same call goes on; a project that is that
    one already has nothing to move. An earlier name of the project is given back to it. Raises
    ProjectNotFound.
    """
    db = pipeline.db
    async with pipeline.moving.of(agent):
        scope, target = await _ends(db, agent, project, into)
        if scope != target:
            # Whoever has its turn before writes what is found below, whoever has it later knows.
            async with pipeline.writing.of(agent):
                await _move_all_else(db, agent, scope, target)
            # What else was written until then, by those who could not know yet.
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


async def bring_along(db: Database, agent: str, identity: Identity, scope: str) -> str:
    """Move what was written under a project's scope just now, if that was moved meanwhile.

    To be called behind a write that is no memory's; returns the scope that it stands under.
    """
    target = await find_scope(db, agent, identity)
    if target != scope:
        await _move_all_else(db, agent, scope, target)
    return target


async def join_moved(db: Database, change: Change) -> Change:
    """Return a change whose pushes are where their project went while they came in.

    A scope that its sender named itself stays, and that of a key that may not write to the other
    one. A step of the pipeline.
    """
    if change.in_turn is not None:
        return change  # what is set in the turn is of now
    late = {one.id: one.scope for one in change.drafts if one.scope and _may_be_late(one, change)}
    went = await _went_to(db, change.agent, set(late.values())) if late else {}
    if change.scopes is not None:
        went = {scope: into for scope, into in went.items() if into in change.scopes}
    if not went:
        return change
    drafts = [
        replace(one, scope=went.get(late.get(one.id, ""), one.scope)) for one in change.drafts
    ]
    return replace(change, drafts=tuple(drafts))


def _may_be_late(draft: Draft, change: Change) -> bool:
    """Say whether a draft gets a scope now that is that of the project that its sender named."""
    old = change.replaced.get(draft.id)
    is_got_now = old is None or old.scope != draft.scope
    is_pushed = draft.source_kind not in (DOCUMENT, CONSOLIDATION)
    return is_got_now and is_pushed and "scope" not in draft.said


async def _went_to(db: Database, agent: str, scopes: Set[str]) -> dict[str, str]:
    """Return where the projects of scopes were moved, those that were, by however many moves."""
    went: dict[str, str] = {}
    asked = set(scopes)
    while asked:
        rows = await db.run(WENT_TO, ids=[record("project", [agent, one]) for one in asked])
        went |= {row["scope"]: row["moved_into"] for row in rows}
        asked = {row["moved_into"] for row in rows} - went.keys()
    ends = dict[str, str]()
    for scope in went.keys() & scopes:
        ends[scope] = went[scope]
        while ends[scope] in went:
            ends[scope] = went[ends[scope]]
    return ends


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
