"""A session is told what it should know: composed, noted as given, its due intents as said."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Final

from service.intents.standing import fire
from service.records import Memory
from service.search.searcher import Searcher
from service.session_context.packing import Budget, PackedSection
from service.session_context.reading import find_all
from service.session_context.sections import (
    Found,
    compose,
    for_sub_agent,
    newer,
    said_in_handoff,
)
from service.sessions.given import Given
from service.sessions.ledgers import Session
from service.text.context_block import plain
from service.working_memory.texts import Place

_INTENTS: Final = "intents"
# Why a sub-agent's session asks.
SUB_AGENT: Final = "sub-agent"
# What a client says when the session lost what it was given.
_LOST: Final = frozenset({"clear", "compact"})
_EVER: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Told:
    """The context and its sections; `known` of the session's memories were left out.

    Of those in `cut` a part is told.
    """

    text: str
    sections: list[PackedSection]
    memories: list[tuple[Memory, str]]
    cut: list[str]
    known: int


async def tell(searcher: Searcher, given: Given, place: Place, source: str, budget: Budget) -> Told:
    """Tell the session of a place what it should know, and note it; without one nothing is noted.

    `source` is why it is asked, in the contract's words.
    """
    if place.session is None:
        return await _fired(searcher, place, await _compose(searcher, place, (), budget))
    session = Session(place.agent, place.session)
    if source in _LOST:
        await given.lose(session)
    async with given.turn(session):
        now = datetime.now(UTC)
        told = await look(searcher, given, place, source, budget)
        if told.text:
            given.note_context(session, told.memories, told.cut, now)
    return await _fired(searcher, place, told)


async def look(searcher: Searcher, given: Given, place: Place, source: str, budget: Budget) -> Told:
    """Return what would be told; nothing is noted."""
    # A session that goes on has some already; any other is told all of it.
    if place.session is None or source != "resume":
        fitted = for_sub_agent if source == SUB_AGENT else None
        return await _compose(searcher, place, (), budget, fitted)
    session = Session(place.agent, place.session)
    known, since = await given.known(session), await given.told_at(session)
    fitted = partial(newer, since=since or _EVER, session=place.session)
    return await _compose(searcher, place, known, budget, fitted)


async def _compose(
    searcher: Searcher,
    place: Place,
    without: tuple[str, ...],
    budget: Budget,
    fitted: Callable[[Found], Found] | None = None,
) -> Told:
    """Compose a context of what is found, `fitted` to the session that it is for."""
    found = await find_all(searcher.engine, searcher.db, place, without)
    if fitted:
        found = fitted(found)
    text, packed = compose(found, budget, place.agent, place.scope)
    memories, context = _memories(found, packed), plain(text)
    cut = [one.id for one, _ in memories if plain(one.content) not in context]
    return Told(text, packed, memories, cut, len(without))


async def _fired(searcher: Searcher, place: Place, told: Told) -> Told:
    """Count the intents that it tells as said."""
    said = [
        piece.id
        for section in told.sections
        if section.name == _INTENTS
        for piece in section.pieces
        if piece.id
    ]
    await fire(searcher.db, place.agent, said, datetime.now(UTC))
    return told


def _memories(found: Found, packed: list[PackedSection]) -> list[tuple[Memory, str]]:
    """Return the memories whose words are told, each with its section.

    Of the index only titles are.
    """
    sections: dict[str | None, str] = {
        one.id: section.name
        for section in packed
        if section.name != "index"
        for one in section.pieces
    }
    rules = (*found.constraints, *found.decisions, *found.preferences)
    every = {one.id: one for one in (*found.handoffs, *rules, *found.hot, *found.others)}
    within: dict[str | None, str] = {one.id: "handoff" for one in said_in_handoff(found, packed)}
    told = within | sections
    return [(one, told[key]) for key, one in every.items() if key in told]
