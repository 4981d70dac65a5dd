"""What a session's transcript told of a memory goes with it, when that is deleted for good.

A transcript's state keeps words for later lines, an automatic handoff repeats them, and of an error
that was fixed it is noted how often it came up: none of them may say again what was taken back.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any, Final

import orjson

from service.access.origins import lowest
from service.drafts.chains import session_chain
from service.drafts.stored_memory import StoredMemory, draft_of_stored
from service.links import stored
from service.links.change import Change
from service.observe.fold import State, handoff_of
from service.store.database import Database, record
from service.store.queries import Fragment, load_query
from service.text.words import STOP_WORDS, index_words
from service.writing.leaving import tier_after
from service.writing.pipeline import Pipeline
from service.writing.removing import remove_memories
from service.writing.tombstones import DELETED

CAME_UP: Final = load_query(__package__, "came_up")
TRANSCRIPTS_OF: Final = load_query(__package__, "transcripts_of")
AUTOMATIC_HANDOFFS: Final = load_query(__package__, "automatic_handoffs")
TAKE_BACK: Final = load_query(__package__, "take_back")


async def take_back(db: Database, change: Change) -> Change:
    """Return a deletion with what it does to the transcripts and handoffs of its sessions.

    What shares a word with a deleted memory leaves the transcript's state, and a handoff that does
    is made anew of what is left there; with nothing left it goes. A step of the pipeline.
    """
    if change.audit != DELETED:
        return change
    memories = [one.id for one in change.gone]
    came_up = await db.run(CAME_UP, agent=change.agent, memories=memories)
    sessions = {one.session for one in change.gone if one.session}.union(
        *(row["sessions"] for row in came_up)
    )
    if not sessions:
        return change
    gone = _words(f"{one.title}\n{one.content}" for one in change.gone)
    rows, left = await _without(db, change.agent, sessions, gone)
    ids = [record("recurrence", row["id"]) for row in came_up]
    change = change.with_fragment(Fragment(TAKE_BACK, {"transcripts": rows, "came_up": ids}))
    for old in await _handoffs(db, change.agent, sessions):
        if old.id not in memories and not gone.isdisjoint(_words([old.content])):
            change = _retold(change, old, left.get(old.session or ""))
    return change


async def remove_handoffs(pipeline: Pipeline, agent: str, session: str, place: Any) -> None:
    """Remove a session's automatic handoff: what it told was taken back while it was made.

    Not where another transcript of the session than the one at this place tells something: of a
    program, or in the other form.
    """
    for row in await pipeline.db.run(TRANSCRIPTS_OF, agent=agent, in_session=session):
        if row["id"] != place.id and handoff_of(State.of(orjson.loads(row["state"]))):
            return
    if handoffs := await _handoffs(pipeline.db, agent, [session]):
        await remove_memories(pipeline, agent, handoffs)


async def _handoffs(db: Database, agent: str, sessions: Iterable[str]) -> list[StoredMemory]:
    ids = []
    for chain in map(session_chain, sorted(sessions)):
        ids += await db.run(AUTOMATIC_HANDOFFS, agent=agent, chain=chain)
    return list((await stored.memories_by_id(db, ids)).values())


async def _without(
    db: Database, agent: str, sessions: Iterable[str], words: Collection[str]
) -> tuple[list[dict[str, Any]], dict[str, State]]:
    """Return the rows of transcripts that change, and what is left of each session's last one."""
    rows, left = [], {}
    for session in sorted(sessions):
        for row in await db.run(TRANSCRIPTS_OF, agent=agent, in_session=session):
            left[session] = state = without(State.of(orjson.loads(row["state"])), words)
            told = orjson.dumps(state.stored()).decode()
            if told != row["state"]:
                place = record("transcript", row["id"])
                rows.append({"id": place, "before": row["state"], "state": told})
    return rows, left


def without(state: State, words: Collection[str]) -> State:
    """Return a state without what shares a word with these; pure.

    Of tasks that are called by their number the places stay.
    """

    def stays(*texts: str | None) -> bool:
        return _words(filter(None, texts)).isdisjoint(words)

    return replace(
        state,
        calls={key: one for key, one in state.calls.items() if stays(one["command"])},
        failures={
            key: one
            for key, one in state.failures.items()
            if stays(one.command, one.error, *one.deeds)
        },
        request=state.request if stays(state.request) else None,
        files=[one for one in state.files if stays(one)],
        failing=state.failing if stays(state.failing) else None,
        tasks={task: is_done for task, is_done in state.tasks.items() if stays(task)},
        added=[task if stays(task) else "" for task in state.added],
    )


def _retold(change: Change, old: StoredMemory, state: State | None) -> Change:
    text = handoff_of(state) if state else None
    if state is None or text is None:
        return replace(change, gone=(*change.gone, old))
    origin = lowest((old.origin, state.origin or old.origin))
    draft = replace(
        draft_of_stored(old), content=text, origin=origin, trust_tier=tier_after(old, origin)
    )
    return replace(
        change, drafts=(*change.drafts, draft), replaced={**change.replaced, draft.id: old}
    )


def _words(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(index_words("\n".join(texts)).split()) - STOP_WORDS
