"""What a session has is read once and kept true: what the store would say, whatever happens."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from service.drafts.ids import digest
from service.records import Memory
from service.sessions import ledgers
from service.sessions.given import KNOWN, Given
from service.sessions.ledgers import Had, Ledgers, Session
from service.store import written_records
from service.store.database import record
from service.store.queries import Query
from service.store.written_records import WrittenRecords
from service.text.titles import text_of
from tests import effort
from tests.stores.asked import note_asked, queries_of
from tests.stores.open_store import START, OpenStore, open_store

pytestmark = pytest.mark.anyio

SAY = Query(
    "own", "UPSERT $id SET content_hash = $said RETURN NONE", frozenset({"id", "said"}), True
)
FORGET = Query("own", "DELETE $id RETURN NONE", frozenset({"id"}), True)
SESSIONS = [Session("main", "s1"), Session("main", "s2"), Session("other", "s1")]
KEYS = [f"m{n}" for n in range(8)]


def memory(key: str, content: str) -> Memory:
    return Memory(key, "main", "note", "semantic", key, content, START, START, START)


class Play:
    """Memories that change, and sessions that are given them."""

    def __init__(self, opened: OpenStore, chance: Random) -> None:
        self.db, self.chance = opened.db, chance
        self.given = Given(opened.db)
        self.said: dict[str, str] = {}

    async def open(self) -> None:
        """Make a table of memories that asks for nothing but what is read here."""
        await self.db.apply("REMOVE TABLE memory; DEFINE TABLE memory SCHEMALESS")
        for key in KEYS:
            await self.say(key)

    async def say(self, key: str | None = None) -> None:
        key = key or self.chance.choice(KEYS)
        self.said[key] = self.chance.choice(["one", "two"])
        said = digest(text_of((), key, self.said[key]))
        await self.db.run(SAY, id=record("memory", key), said=said)

    async def forget(self) -> None:
        key = self.chance.choice(KEYS)
        self.said.pop(key, None)
        await self.db.run(FORGET, id=record("memory", key))

    async def note(self) -> None:
        session = self.session()
        if self.chance.random() < 0.3:
            await self.answer(session, in_turn=False)
            return
        async with self.given.turn(session):
            # An answer begins with what the session has.
            await self.given.known(session)
            await self.answer(session, in_turn=True)

    async def answer(self, session: Session, *, in_turn: bool) -> None:
        """Show memories as they are, and note them; now and then one is changed amid."""
        there = sorted(self.said)
        keys = self.chance.sample(there, min(len(there), self.chance.randrange(1, 5)))
        told = [(memory(key, self.said[key]), "rank 1") for key in keys]
        if keys and self.chance.random() < 0.3:
            await self.chance.choice([self.say, self.forget])()
        cut = [key for key in keys if self.chance.random() < 0.4]
        operation = self.chance.choice(["search", "hook"])
        await self.given.note(session, operation, told, cut, in_turn=in_turn)

    async def tell_context(self) -> None:
        told = [(memory(key, self.said[key]), "fact") for key in KEYS[:3] if key in self.said]
        self.given.note_context(self.session(), told, KEYS[:1], datetime.now(UTC))

    async def lose(self) -> None:
        await self.given.lose(self.session())

    async def expire(self) -> None:
        await self.given.forget(
            datetime.now(UTC) - timedelta(milliseconds=self.chance.choice([0, 50]))
        )

    def session(self) -> Session:
        return self.chance.choice(SESSIONS)


async def assert_true(play: Play, session: Session) -> None:
    """Check that what is at hand is what another reader finds in the store, in this order."""
    for in_part in (False, True):
        known = await play.given.known(session, in_part=in_part)
        assert known == await Given(play.db).known(session, in_part=in_part), (session, in_part)


@pytest.mark.soak
@pytest.mark.parametrize("number", range(effort.amount("plays of ledgers")))
async def test_what_is_at_hand_is_what_the_store_says(tmp_path: Path, number: int) -> None:
    chance = effort.chance(1717 + number)
    async with open_store(tmp_path) as opened:
        play = Play(opened, chance)
        await play.open()
        steps: list[Callable[[], Awaitable[None]]] = [
            play.note, play.note, play.note, play.say, play.forget, play.lose, play.tell_context,
            play.expire,
        ]  # fmt: skip
        for _ in range(60):
            await chance.choice(steps)()
            if chance.random() < 0.7:
                await assert_true(play, play.session())
        for session in SESSIONS:
            await assert_true(play, session)


async def test_answers_at_the_same_time_leave_a_true_ledger(tmp_path: Path) -> None:
    chance = effort.chance(99)
    async with open_store(tmp_path) as opened:
        play = Play(opened, chance)
        await play.open()
        for _ in range(15):
            steps = [play.note, play.say, play.lose, play.tell_context, play.note]
            asked = [play.given.known(play.session()) for _ in range(3)]
            await asyncio.gather(*(chance.choice(steps)() for _ in range(4)), *asked)
            for session in SESSIONS:
                await assert_true(play, session)


async def test_a_session_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_store(tmp_path) as opened:
        play = Play(opened, effort.chance(3))
        await play.open()
        asked, session = note_asked(monkeypatch), SESSIONS[0]
        for key in KEYS:
            assert key not in await play.given.known(session)
            noted = [(memory(key, play.said[key]), "")]
            await play.given.note(session, "search", noted, in_turn=True)
        assert await play.given.known(session) == tuple(reversed(KEYS))
        assert queries_of(asked).count(KNOWN) == 1
        # What it does not have may be written.
        await play.db.run(SAY, id=record("memory", "another"), said="")
        await play.given.known(session)
        assert queries_of(asked).count(KNOWN) == 1
        await play.db.run(SAY, id=record("memory", KEYS[0]), said="")
        assert await play.given.known(session) == tuple(reversed(KEYS[1:]))
        assert queries_of(asked).count(KNOWN) == 2


async def test_while_a_write_may_happen_yet_the_store_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(tmp_path) as opened:
        play = Play(opened, effort.chance(3))
        await play.open()
        asked = note_asked(monkeypatch)
        await play.given.known(SESSIONS[0])
        opened.db.written.doubt(frozenset({("memory", "m0")}))
        await play.given.known(SESSIONS[0])
        await play.given.known(SESSIONS[0])
        assert queries_of(asked).count(KNOWN) == 3


async def test_those_that_asked_last_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledgers, "_MOST_MEMORIES", 250)
    monkeypatch.setattr(written_records, "_MOST_TOUCHED", 4)
    async with open_store(tmp_path) as opened:
        play = Play(opened, effort.chance(3))
        await play.open()
        asked = note_asked(monkeypatch)
        for session in (*SESSIONS, SESSIONS[0], SESSIONS[2]):
            await play.given.known(session)
        assert queries_of(asked).count(KNOWN) == 4
        # More was written than anybody remembers.
        for _ in range(5):
            await play.db.run(SAY, id=record("memory", "another"), said="")
        await play.given.known(SESSIONS[2])
        assert queries_of(asked).count(KNOWN) == 5


@pytest.mark.parametrize("turns", range(8))
async def test_a_note_that_is_given_up_amid_leaves_no_old_ledger(
    tmp_path: Path, turns: int
) -> None:
    async with open_store(tmp_path) as opened:
        play, session = Play(opened, effort.chance(3)), SESSIONS[0]
        await play.open()
        await play.given.known(session)
        noted = [(memory("m0", play.said["m0"]), "")]
        noting = asyncio.create_task(play.given.note(session, "search", noted, in_turn=True))
        for _ in range(turns):
            await asyncio.sleep(0)
        noting.cancel()
        await asyncio.gather(noting, return_exceptions=True)
        # It may happen yet; by and by nobody looks again.
        await asyncio.sleep(0.2)
        opened.db.written._doubtful.clear()
        await assert_true(play, session)


@pytest.mark.parametrize("happens", ["note", "drop", "clear"])
async def test_what_was_read_while_something_was_noted_is_not_kept(happens: str) -> None:
    session, kept = SESSIONS[0], Ledgers(WrittenRecords())
    begun = kept.begin()
    kept.keep(session, {}, begun)
    assert kept.of(session) == {}
    {
        "note": lambda: kept.note(session, None),
        "drop": lambda: kept.drop(session),
        "clear": kept.clear,
    }[happens]()
    kept.keep(session, {}, begun)
    assert kept.of(session) is None
    kept.keep(session, {}, kept.begin())
    assert kept.of(session) == {}


def given(key: str, **other: object) -> dict[str, object]:
    return {"memory": key, "at": START, "is_known": True, "is_cut": False} | other


async def test_a_note_hides_no_write_of_what_was_there_and_moves_past_others() -> None:
    session, written = SESSIONS[0], WrittenRecords()
    kept = Ledgers(written)
    kept.keep(session, {}, kept.begin())
    written.add({("memory", "m1")})
    kept.note(session, [given("m0")])
    kept.note(session, [given("m1")])
    assert list(kept.of(session) or ()) == ["m0", "m1"]
    written.add({("memory", "m0")})
    kept.note(session, [given("m2")])
    assert kept.of(session) is None


async def test_the_later_of_two_notes_counts_whichever_is_told_first() -> None:
    session, kept = SESSIONS[0], Ledgers(WrittenRecords())
    kept.keep(session, {}, kept.begin())
    later = START + timedelta(seconds=1)
    kept.note(session, [given("m0", at=later), given("m1", is_cut=True)])
    kept.note(session, [given("m0", is_cut=True), given("m1", at=later, is_cut=False)])
    whole = Had(later, is_cut=False, is_same=True)
    assert kept.of(session) == {"m0": whole, "m1": whole}
    kept.note(session, [given("m0", is_known=False), given("m1", at=later, is_known=False)])
    assert kept.of(session) == {"m0": whole}


async def test_what_is_noted_outside_of_the_turn_may_be_old_by_now(tmp_path: Path) -> None:
    """A plain search shows a memory, which is changed; then another answer begins."""
    async with open_store(tmp_path) as opened:
        play, session = Play(opened, effort.chance(3)), SESSIONS[0]
        await play.open()
        shown = [(memory("m0", play.said["m0"]), "rank 1")]
        await play.db.run(SAY, id=record("memory", "m0"), said="something else")
        assert await play.given.known(session) == ()
        await play.given.note(session, "search", shown)
        assert await play.given.known(session) == ()
        await assert_true(play, session)
