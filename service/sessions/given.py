"""What sessions were given: noted as an answer leaves, so that the next one can leave it out.

A session is the asking agent's; two agents may call theirs by the same name. Kept as long as the
audit is (MEMORY_AUDIT_DAYS), and as little: ids and hashes, no text and no question.
"""

import asyncio
import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from weakref import WeakValueDictionary

from service.access.caller import caller
from service.drafts.ids import digest
from service.errors import ServiceError
from service.records import Memory
from service.sessions.ledgers import Had, Ledgers, Session
from service.store.database import Database, record
from service.store.queries import load_query
from service.text.titles import text_of
from service.text.tokens import estimate_prompt_tokens

log = logging.getLogger(__name__)

NOTE: Final = load_query(__package__, "note")
KNOWN: Final = load_query(__package__, "known")
TELL: Final = load_query(__package__, "tell")
TOLD_AT: Final = load_query(__package__, "told_at")
LOSE: Final = load_query(__package__, "lose")
SESSIONS: Final = load_query(__package__, "sessions")
FORGET: Final = load_query(__package__, "forget")

_MOST_SESSIONS: Final = 1000
_FORGOTTEN_SECONDS: Final = 3600


@dataclass(frozen=True, slots=True)
class GivenSession:
    """A session that was given some memories: how many, how often in all, first and last."""

    agent: str
    session: str
    memories: int
    times: int
    first_at: datetime
    at: datetime


class Given:
    """The ledger of one store."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._turns: WeakValueDictionary[Session, asyncio.Lock] = WeakValueDictionary()
        self._behind: set[asyncio.Task[None]] = set()
        self._ledgers = Ledgers(db.written)

    def turn(self, session: Session) -> asyncio.Lock:
        """Return what one answer to a session holds at a time, in this process.

        What is noted within is known to the next one.
        """
        return self._turns.setdefault(session, asyncio.Lock())

    async def known(self, session: Session, *, in_part: bool = False) -> tuple[str, ...]:
        """Return the ids that a session has and that still say the same, the last first.

        With `in_part` also those of which a hook told what it tells. Whoever asks for some scopes
        alone is not told of others, nor of how many there are.
        """
        await self.settle()
        had = await self._had(session)
        ids = sorted(k for k, one in had.items() if one.is_same and (in_part or not one.is_cut))
        return tuple(sorted(ids, key=lambda key: had[key].at, reverse=True))

    async def _had(self, session: Session) -> Mapping[str, Had]:
        db, scopes = self._db, caller().memory_scopes
        is_kept = scopes is None and db.address.folder is not None and not db.written.has_doubts
        if is_kept and (kept := self._ledgers.of(session)) is not None:
            return kept
        begun = self._ledgers.begin()
        rows = await db.run(
            KNOWN, agent=session.agent, in_session=session.name,
            scopes=None if scopes is None else list(scopes),
        )  # fmt: skip
        had = {row.pop("memory"): Had(**row) for row in rows}
        if is_kept:
            self._ledgers.keep(session, had, begun)
        return had

    async def told_at(self, session: Session) -> datetime | None:
        """Return when a session was last told its context; None where it has none."""
        await self.settle()
        at: datetime | None = await self._db.run(TOLD_AT, id=_context(session))
        return at

    async def note(
        self, session: Session, operation: str, memories: Iterable[tuple[Memory, str]],
        cut: Collection[str] = (), *, in_turn: bool = False,
    ) -> bool:  # fmt: skip
        """Note what a session is given and why; False of a store that takes nothing.

        The log says why then. An answer is worth more than its line here. Of the ids in `cut` it
        was told a part: the rest is new to it. `in_turn` is within its `turn`, in which what it has
        was asked for: then that is known without reading it again.
        """
        given = [
            _row(session, memory, why) | {"is_cut": memory.id in cut} for memory, why in memories
        ]
        if not given:
            return True
        noted = None
        try:
            noted = await self._db.run(
                NOTE, given=given, agent=session.agent, in_session=session.name,
                operation=operation, now=datetime.now(UTC),
            )  # fmt: skip
        except ServiceError as error:
            log.warning("what a session was given is not noted: %s", error.logged)
        finally:
            # Given up, it may happen yet.
            self._ledgers.note(session, noted if in_turn else None)
        return noted is not None

    def note_context(
        self, session: Session, memories: Iterable[tuple[Memory, str]], cut: Collection[str],
        at: datetime,
    ) -> None:  # fmt: skip
        """Note that a session was told its context, and what is in it, of a moment.

        Behind the answer: 50 memories take 5 ms. Whoever asks what is known waits.
        """
        task = asyncio.create_task(self._note_context(session, list(memories), cut, at))
        self._behind.add(task)
        task.add_done_callback(self._behind.discard)

    async def _note_context(
        self, session: Session, memories: list[tuple[Memory, str]], cut: Collection[str],
        at: datetime,
    ) -> None:  # fmt: skip
        if await self.note(session, "session_context", memories, cut):
            with suppress(ServiceError):
                await self._db.run(TELL, id=_context(session), at=at)

    async def settle(self) -> None:
        """Wait until what answers gave is noted."""
        if self._behind:
            await asyncio.gather(*self._behind, return_exceptions=True)

    async def lose(self, session: Session) -> None:
        """Count nothing as known to a session any more: its context was cleared or made short.

        Where the store takes nothing the log says why, and searches leave out what it lost.
        """
        await self.settle()
        try:
            await self._db.run(LOSE, agent=session.agent, in_session=session.name)
        except ServiceError as error:
            log.warning("what a session lost is not noted: %s", error.logged)
        finally:
            self._ledgers.drop(session)

    async def keep_forgetting(self, days: int) -> None:
        """Let go of what is older than so many days, now and every hour; for ever."""
        while True:
            try:
                await self.forget(datetime.now(UTC) - timedelta(days=days))
            except ServiceError as error:
                log.warning("what sessions were given long ago stays for now: %s", error.logged)
            await asyncio.sleep(_FORGOTTEN_SECONDS)

    async def forget(self, before: datetime) -> None:
        """Let go of what was given last before a moment."""
        await self._db.run_in_parts(FORGET, before=before)
        self._ledgers.clear()


async def sessions_given(
    db: Database, keys: Sequence[str], agents: Sequence[str] | None
) -> list[GivenSession]:
    """Return which sessions were given any of these memories, the last first, at most 1,000.

    Of these agents alone; with None of all.
    """
    rows = await db.run(
        SESSIONS, ids=list(keys), agents=None if agents is None else list(agents),
        limit=_MOST_SESSIONS,
    )  # fmt: skip
    return [GivenSession(**{"session": row.pop("in_session"), **row}) for row in rows]


def _context(session: Session) -> Any:
    return record("session_context", [session.agent, session.name])


def _row(session: Session, memory: Memory, why: str) -> dict[str, object]:
    text = text_of(memory.heading_path, memory.title, memory.content)
    return {
        "id": record("given", [session.agent, session.name, memory.id]),
        "memory": memory.id,
        "why": why,
        "content_hash": digest(text),
        "tokens": estimate_prompt_tokens(memory.title) + estimate_prompt_tokens(memory.content),
    }
