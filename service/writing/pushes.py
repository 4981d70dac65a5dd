"""Pushed memories: compared with the store and embedded, then written.

Groups of a batch go through both one behind the other: while one is written the next is screened
and embedded, and the index takes in the one before.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from service.access.caller import own_scopes
from service.drafts.clock import CLOCK
from service.drafts.drafts import Draft
from service.drafts.ids import id_beside
from service.drafts.kinds import type_of
from service.drafts.stored_memory import StoredMemory, says_more
from service.links import stored
from service.links.change import Change
from service.names.dictionary import pieces
from service.names.proper_nouns import proper_names
from service.records import QUARANTINED
from service.store.database import Database
from service.text.words import index_words
from service.writing.embed_now import Embedded, embed_now
from service.writing.pipeline import Pipeline, Synced, commit_embedded
from service.writing.tombstones import passed_by, passing

# A transaction of 128 memories begins after 0.05 s.
_LONGEST_REST_SECONDS: Final = 0.2

# What the id of a memory is made of that is known by its words, beside these.
_OF_ITS_ID: Final = ("title", "kind", "scope", "occurred_at")

_ARCHIVED: Final = "This was known and is archived, so searches pass over it."
_ENDED: Final = "This was known and its `valid_until` is past, so searches pass over it."
_QUARANTINED: Final = "This was known and is quarantined, so searches pass over it."
_NOT_QUARANTINED: Final = "This was known, and stays as it is: it is not quarantined."

# Gives the drafts of one group, made when their turn comes: none where no memory is accepted.
Drafting = Callable[[], Awaitable[Sequence[Draft]]]


@dataclass(frozen=True, slots=True)
class Prepared:
    """Drafts of one agent, what is stored of them, what is to be written, and its vectors."""

    drafts: Sequence[Draft]
    old: Mapping[str, StoredMemory]
    change: Change
    embedded: Embedded


# The drafts of the next group, and these prepared, where that could be done.
_Ahead = tuple[Sequence[Draft], Prepared | None]


async def store_groups(pipeline: Pipeline, groups: Sequence[Drafting]) -> AsyncGenerator[Synced]:
    """Store groups of pushed memories, each of one agent and by itself; yields what became of it.

    What is there already, with equal text, stays as it is: `actions` says of each draft, in order,
    whether it was created, updated or a duplicate. All can be searched when the generator ends.
    """
    ahead: asyncio.Task[_Ahead] | None = None
    try:
        for number, draft in enumerate(groups):
            drafts, prepared = await ahead if ahead else (await draft(), None)
            ahead = None
            if drafts and prepared is None:
                prepared = await _prepare(pipeline, drafts)
            if number + 1 < len(groups) or (number and prepared):
                following = groups[number + 1] if number + 1 < len(groups) else _nothing
                ahead = asyncio.create_task(_meanwhile(pipeline, following, _keys(drafts)))
            yield await _store(pipeline, prepared) if prepared else Synced()
        if ahead is not None:
            # Not broken off: the engine would go on with what was asked, and not close meanwhile.
            await ahead
    finally:
        if ahead is not None:
            ahead.cancel()
            await asyncio.gather(ahead, return_exceptions=True)
        await pipeline.db.taken_in()


async def _nothing() -> Sequence[Draft]:
    return ()


def _keys(drafts: Sequence[Draft]) -> set[str]:
    return {draft.id for draft in drafts}


async def _meanwhile(pipeline: Pipeline, draft: Drafting, before: set[str]) -> _Ahead:
    """While the database writes a group let the one before it be taken in, and prepare the next.

    Until it writes this process is busy itself. One behind the other: both are work of Python's,
    which at once got in each other's way (two pairs, on a busy machine).
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(_LONGEST_REST_SECONDS):
            await pipeline.db.is_busy.wait()
    await pipeline.db.taken_in()
    return await _prepare_next(pipeline, draft, before)


async def _prepare_next(pipeline: Pipeline, draft: Drafting, before: set[str]) -> _Ahead:
    """Prepare a group while another is written.

    What stands in both is compared with what that one leaves in the store, so not prepared yet.
    """
    drafts = await draft()
    is_apart = bool(drafts) and before.isdisjoint(_keys(drafts))
    return drafts, await _prepare(pipeline, drafts) if is_apart else None


async def _prepare(pipeline: Pipeline, given: Sequence[Draft]) -> Prepared:
    drafts, old = await placed(pipeline.db, given)
    last = {draft.id: draft for draft in drafts}
    writes = [d for d in last.values() if d.id not in old or says_more(d, old[d.id])]
    replaced = {d.id: old[d.id] for d in writes if d.id in old}
    change = Change(drafts[0].agent, tuple(writes), replaced=replaced, scopes=own_scopes())
    passed = {key for one, new in zip(given, drafts, strict=True) for key in _way(one.id, new.id)}
    if passed and len(replaced) < len(writes):
        change = await passing(pipeline.db, change, passed)
    if len(writes) <= 1:
        return Prepared(drafts, old, change, await embed_now(pipeline.vectors, change))
    embedded, _ = await asyncio.gather(
        embed_now(pipeline.vectors, change), asyncio.to_thread(_read_ahead, writes)
    )
    return Prepared(drafts, old, change, embedded)


async def placed(
    db: Database, given: Sequence[Draft]
) -> tuple[Sequence[Draft], dict[str, StoredMemory]]:
    """Return drafts of one agent, so that they undo no change, and what is stored of them.

    What has no name but its words was said as it is said again. Where the words became others it
    is a memory of its own beside them: quarantined where those are, as what is sent again stays so.
    """
    drafts = given
    old: dict[str, StoredMemory] = {}
    asked: set[str] = set()
    while asks := _keys(drafts) - asked:
        old |= await stored.memories_by_id(db, asks)
        absent = {d.id for d in drafts if d.is_by_words and d.id in asks - old.keys()}
        passed = await passed_by(db, given[0].agent, absent)
        asked |= asks
        drafts = [_step(draft, old.get(draft.id), passed) for draft in drafts]
    pairs = zip(drafts, given, strict=True)
    return [_as_known(d, old[d.id], one) if d.id in old else d for d, one in pairs], old


def _step(draft: Draft, old: StoredMemory | None, passed: frozenset[str]) -> Draft:
    """Return a draft with the next id that its words may be known by, or as it is."""
    became_others = draft.id in passed if old is None else old.content != draft.content
    if not (draft.is_by_words and became_others):
        return draft
    is_put_away = old is not None and old.trust_tier == QUARANTINED
    tier = QUARANTINED if is_put_away else draft.trust_tier
    return replace(draft, id=id_beside(draft.id), trust_tier=tier)


def _as_known(draft: Draft, old: StoredMemory, given: Draft) -> Draft:
    if not draft.is_by_words:
        return draft
    is_usual = draft.type == type_of(draft.kind, "")
    kept = {name: getattr(old, name) for name in _OF_ITS_ID}
    kept |= {"trust_tier": given.trust_tier, "type": old.type if is_usual else draft.type}
    return replace(draft, **kept)


def _way(first: str, last: str) -> Iterable[str]:
    """Yield the ids that a draft passed by on its way to its own."""
    while first != last:
        yield first
        first = id_beside(first)


def _read_ahead(drafts: Iterable[Draft]) -> None:
    """Read texts while others are waited for: what they hold is kept for their turn."""
    for draft in drafts:
        index_words(draft.text)
        proper_names(draft.content)
        pieces(draft.text)


async def _store(pipeline: Pipeline, prepared: Prepared) -> Synced:
    whole = await commit_embedded(pipeline, prepared.change, prepared.embedded, waits=False)
    written = set(whole.written)
    actions = []
    for draft in prepared.drafts:
        action = "updated" if draft.id in whole.replaced else "created"
        actions.append(action if draft.id in written else "duplicate")
        written.discard(draft.id)
    ids = tuple(draft.id for draft in prepared.drafts)
    olds = (prepared.old.get(draft.id) for draft in prepared.drafts)
    told = tuple(
        (*_hidden(draft, old), *(_kept_tier(draft, old) if action == "duplicate" else ()))
        for draft, old, action in zip(prepared.drafts, olds, actions, strict=True)
    )
    return replace(whole, ids=ids, actions=tuple(actions), told=told)


def _hidden(draft: Draft, old: StoredMemory | None) -> tuple[str, ...]:
    """Tell why no search finds what was pushed, as somebody put it away before."""
    if old is None:
        return ()
    until = draft.valid_until if "valid_until" in draft.said else old.valid_until
    if until is not None and until <= CLOCK.now():
        return (_ENDED,)
    return (_ARCHIVED,) if old.archived_at and not old.consolidated_into else ()


def _kept_tier(draft: Draft, old: StoredMemory | None) -> tuple[str, ...]:
    """Tell that a memory is as trusted as it was, where what was sent would be quarantined, or is.

    What screening tells is of the words as they came now.
    """
    if old is None or (draft.trust_tier == QUARANTINED) == (old.trust_tier == QUARANTINED):
        return ()
    return (_QUARANTINED if old.trust_tier == QUARANTINED else _NOT_QUARANTINED,)
