"""A delta of a transcript is read, what is worth keeping stored, and how far it was read noted.

In this order: cut off in between, the same delta is read again and gives the same memories, which
are known by what they say.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from weakref import WeakValueDictionary

import orjson

from service.access.caller import Caller
from service.drafts.ids import digest
from service.errors import StaleRead
from service.fixes.fixes import Proof, put_fix
from service.kinds import AUTOMATIC, IN_PASSING
from service.memories.screening import Pushed
from service.memories.storing import REFUSED, store
from service.observe.fold import Extract, State, fold, handoff_of, tasks_text
from service.observe.taking_back import remove_handoffs
from service.records import QUARANTINED
from service.recurrences.recurrences import Sighting, note
from service.sanitise.private_blocks import without_private
from service.sessions.ledgers import Session
from service.sessions.used import Said, note_used
from service.store.database import record
from service.store.queries import load_query
from service.threads import read_texts
from service.transcripts.reading import Client, read_entries, read_text
from service.transcripts.turns import Read
from service.writing.pipeline import Pipeline

READ: Final = load_query(__package__, "read_transcript")
HAS_HANDOFF: Final = load_query(__package__, "has_handoff")
PUT: Final = load_query(__package__, "put_transcript")

_FIX: Final = "fix"
_ERROR: Final = "error"
_MOST_TITLE: Final = 120
# Another service reads the same, or words are taken back meanwhile: each try reads anew.
_READ_ATTEMPTS: Final = 4
# What is written as a session ends may come a little behind its last line.
_BEHIND: Final = timedelta(minutes=5)
_IS_QUARANTINED: Final = (
    "This session's transcript is quarantined, and so is what was made of it now; a release "
    "(POST /trust/release) ends that."
)


@dataclass(frozen=True, slots=True)
class Delta:
    """A stretch of a transcript: lines as text, or entries; `offset` is where it begins.

    Without one it goes on where the last delta ended. The last one `is_final`.
    """

    session: str
    client: Client
    text: str | None
    entries: Sequence[Any] | None
    offset: int | None
    is_final: bool


@dataclass(frozen=True, slots=True)
class Observed:
    """What came of a delta: memories that are new or were known, lines by why they gave none."""

    stored: int
    duplicates: int
    ignored: dict[str, int]
    offset: int
    memories: list[str]
    warnings: list[str] = field(default_factory=list)


class Observer:
    """Reads the deltas of each session one after the other."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._turns: WeakValueDictionary[tuple[str, str, str], asyncio.Lock] = WeakValueDictionary()

    async def observe(
        self, agent: str, scope: str | None, delta: Delta, sender: Caller
    ) -> Observed:
        """Take in a delta; raises what storing raises, and then it is as if it had never come."""
        turn = (agent, delta.session, delta.client)
        async with self._turns.setdefault(turn, asyncio.Lock()):
            for _ in range(_READ_ATTEMPTS - 1):
                with suppress(StaleRead):
                    return await self._observe(agent, scope, delta, sender)
            return await self._observe(agent, scope, delta, sender)

    async def _observe(
        self, agent: str, scope: str | None, delta: Delta, sender: Caller
    ) -> Observed:
        db, now = self._pipeline.db, datetime.now(UTC)
        # Places in bytes and in entries are not to be compared.
        unit = [] if delta.entries is None else ["entries"]
        place = record("transcript", [agent, delta.session, delta.client, *unit])
        row = await db.run(READ, id=place) or {"offset": 0, "state": None, "trust_tier": None}
        read, warnings = await _read(delta, row["offset"])
        state = State.of(orjson.loads(row["state"]) if row["state"] else None)
        tasks_before = tasks_text(state)
        characters = sum(len(turn.text) for _, turn in read.turns)
        came = await read_texts(characters, lambda: list(fold(state, read.turns, self._clean)))
        # What a wrong clock puts ahead is now; sent once more it is no newer than it was then.
        came = [replace(one, at=min(one.at, now)) if one.at else one for one in came]
        moments = [min(turn.at, now) for _, turn in read.turns if turn.at]
        state.pass_by(moments or [now] * bool(read.turns))
        if read.turns:
            state.take_from(sender.origin)
        # Of what is made of earlier turns too: others may have sent those.
        of_all = replace(sender, origin=state.origin or sender.origin)
        extracts = [one for one in came if one.kind != _ERROR]
        pushed = [_pushed(one, agent, scope, delta, sender) for one in extracts]
        began, ended = (min(at, now) for at in state.span or (now, now))
        tasks = tasks_text(state)
        if tasks and tasks != tasks_before:
            pushed.append(_tasks(tasks, ended, agent, scope, delta, of_all))
        handoff = handoff_of(state) if delta.is_final else None
        if delta.is_final and not handoff:
            await remove_handoffs(self._pipeline, agent, delta.session, place)
        if handoff and not await db.run(
            HAS_HANDOFF, agent=agent, scope=scope, in_session=delta.session, began=began,
            ended=ended + _BEHIND,
        ):  # fmt: skip
            pushed.append(_handoff(handoff, ended, agent, scope, delta, of_all))
        if row["trust_tier"] == QUARANTINED and pushed:
            pushed = _quarantined(pushed, warnings)
        keys, synced = await store(self._pipeline, pushed) if pushed else ([], None)
        actions = synced.actions if synced else ()
        for one, key, action in zip(extracts, keys, actions, strict=False):
            if one.signature and one.command and action != REFUSED:
                proof = Proof(
                    agent, scope, one.signature, one.command, delta.session, one.at or now
                )
                await put_fix(db, proof, key)
        await note(db, agent, scope, delta.session, list(_sightings(came, keys, now)))
        said = [Said(one.text, one.at) for _, one in read.turns if one.role == "assistant"]
        await note_used(db, Session(agent, delta.session), [one for one in said if one.text])
        await db.run(
            PUT, id=place, agent=agent, in_session=delta.session, client=delta.client,
            offset=max(read.offset, row["offset"]), before=row["state"],
            state=orjson.dumps(state.stored()).decode(), now=now, **sender.senders,
        )  # fmt: skip
        told = [warning for one in (synced.told if synced else ()) for warning in one]
        return Observed(
            sum(action in {"created", "updated"} for action in actions),
            sum(action == "duplicate" for action in actions), dict(sorted(read.ignored.items())),
            max(read.offset, row["offset"]), [key for key in dict.fromkeys(keys) if key],
            [*warnings, *told],
        )  # fmt: skip

    def _clean(self, text: str) -> str:
        """Return a text without what is private or a secret."""
        return self._pipeline.sanitiser.mask(without_private(text)[0])


def _quarantined(pushed: Sequence[Pushed], warnings: list[str]) -> list[Pushed]:
    """Return what is made of a quarantined transcript: later turns had the earlier ones in view."""
    warnings.append(_IS_QUARANTINED)
    return [replace(one, trust_tier=QUARANTINED) for one in pushed]


async def _read(delta: Delta, known: int) -> tuple[Read, list[str]]:
    """Read what is new of a delta: what was read before is passed over, a gap is told."""
    offset = known if delta.offset is None else delta.offset
    warnings = list(_told(delta, offset, known))
    passed = max(0, known - offset)
    if delta.entries is not None:
        entries = delta.entries[passed:]
        return read_entries(delta.client, entries, max(offset, known)), warnings
    text = delta.text or ""
    if passed:
        text = text.encode("utf-8", "replace")[passed:].decode("utf-8", "replace")
    read = await read_texts(
        len(text), lambda: read_text(
            delta.client, text, max(offset, known), is_final=delta.is_final
        ),
    )  # fmt: skip
    return read, warnings


def _told(delta: Delta, offset: int, known: int) -> Iterator[str]:
    """Yield what the sender has to know of lines that nobody reads.

    What lies in a gap is not read later either: a client leaves out what was said while memory was
    off. So whoever sent a wrong place learns it, and whoever sends what lies before that place; not
    who sends the last lines again, as one does whose answer was lost.
    """
    unit = "bytes" if delta.entries is None else "entries"
    if offset > known:
        yield (
            f"{offset - known:,} {unit} before this delta were never sent; "
            "they are passed over if they come later."
        )
    sent = (delta.text or "").encode("utf-8", "replace") if delta.entries is None else delta.entries
    if sent and offset + len(sent) < known:
        yield (
            f"Nothing of this delta was read: it ends at {offset + len(sent):,}, and the "
            f"transcript was read up to {known:,} {unit}. If its lines are new, send them "
            "without `offset`."
        )


def _pushed(
    extract: Extract, agent: str, scope: str | None, delta: Delta, sender: Caller
) -> Pushed:
    """Return an extract as a memory; the same words of the same project are the same one.

    What a tool printed is somebody else's: a fix is of origin `untrusted`.
    """
    is_fix = extract.kind == _FIX
    own = digest(scope or "", extract.kind, " ".join(extract.text.casefold().split()))
    if is_fix:
        own = digest(scope or "", _FIX, extract.signature or "", extract.command or "")
    place = f"{delta.client}:{delta.session}"
    return Pushed.by(
        sender, text=f"{extract.text}\n\n({place}, {extract.offset})" if is_fix else extract.text,
        # Its line in the transcript, by where that begins.
        source_ref=f"{place}#{extract.offset}", known_as=f"observed:{own}",
        title=f"Fix: {(extract.command or '')[:_MOST_TITLE]}" if is_fix else None,
        agent=agent, kind="observation" if is_fix else extract.kind,
        type="procedural" if is_fix else None, tags=tuple(_tags(extract)),
        scope=scope, session=delta.session, occurred_at=extract.at,
        source_kind="tool-output" if is_fix else f"said-by-{extract.speaker}",
    )  # fmt: skip


def _tags(extract: Extract) -> Iterator[str]:
    if extract.kind == _FIX:
        yield _FIX
    if extract.in_passing:
        yield IN_PASSING


def _tasks(
    text: str, at: datetime, agent: str, scope: str | None, delta: Delta, sender: Caller
) -> Pushed:
    return Pushed.by(
        sender, text=text, agent=agent, kind="observation", tags=("tasks",), scope=scope,
        session=delta.session, source_kind="said-by-assistant",
        source_ref=f"tasks:{delta.client}:{delta.session}", occurred_at=at,
    )  # fmt: skip


def _sightings(
    extracts: Sequence[Extract], keys: Sequence[str], now: datetime
) -> Iterator[Sighting]:
    """Yield what came up: errors by what they say, statements by their memories."""
    stored = iter(keys)
    for one in extracts:
        at = one.at or now
        if one.kind == _ERROR:
            yield Sighting("error", one.signature or "", one.text, one.command, at)
        elif (key := next(stored, "")) and one.kind != _FIX:
            yield Sighting("statement", key, "", None, at)


def _handoff(
    text: str, at: datetime, agent: str, scope: str | None, delta: Delta, sender: Caller
) -> Pushed:
    return Pushed.by(
        sender, text=text, agent=agent, kind="handoff", tags=(AUTOMATIC,), scope=scope,
        session=delta.session, source_kind="transcript",
        source_ref=f"handoff:{delta.client}:{delta.session}", occurred_at=at,
    )  # fmt: skip
