"""Programs as their hooks are seen, and which of them went silent while their sessions go on."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from service.store.database import Database, record
from service.store.queries import load_query

NOTE: Final = load_query(__package__, "note")
SEEN: Final = load_query(__package__, "seen")
CAPTURED_AT: Final = load_query(__package__, "captured_at")
LIST: Final = load_query(__package__, "list")
CAPTURES: Final = load_query(__package__, "captures")

# A turn is captured at its end: one prompt may wait for that, three do not.
_MOST_UNCAPTURED: Final = 3
# A capture comes with the hook of its turn's end; one that waited in a file may come much later.
_HOOK_BESIDE_CAPTURE: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class HookSeen:
    """A hook that came; `is_told` says whether the session was told anything."""

    agent: str
    client: str
    event: str
    session: str | None
    is_prompt: bool
    is_sub_agent: bool
    is_told: bool


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known of a program: its hooks, its captures, what it was told."""

    client: str
    hooks: int = 0
    sub_agent_hooks: int = 0
    injections: int = 0
    prompts_uncaptured: int = 0
    last_event: str | None = None
    last_session: str | None = None
    last_hook_at: datetime | None = None
    last_injection_at: datetime | None = None
    sessions: int = 0
    last_capture_at: datetime | None = None

    @property
    def warning(self) -> str | None:
        """What is wrong with it; None where nothing seems to be."""
        if self.prompts_uncaptured >= _MOST_UNCAPTURED:
            since = f" since {self.last_capture_at:%Y-%m-%d %H:%M}" if self.last_capture_at else ""
            return (
                f"Its sessions go on, but nothing of the last {self.prompts_uncaptured} prompts "
                f"was captured{since}: run `graph-memory doctor {self.client}`."
            )
        captured, hooked = self.last_capture_at, self.last_hook_at
        if captured and hooked and captured - hooked > _HOOK_BESIDE_CAPTURE:
            return (
                f"Its sessions are captured, but none of its hooks came since "
                f"{hooked:%Y-%m-%d %H:%M}: run `graph-memory doctor {self.client}`."
            )
        return None


async def note_hook(db: Database, hook: HookSeen) -> None:
    """Note that a hook came."""
    place = record("client", [hook.agent, hook.client])
    row = await db.run(SEEN, id=place) or {}
    uncaptured = row.get("prompts_uncaptured", 0)
    if hook.is_prompt:
        captured = await _captured_since(db, hook, row)
        uncaptured = 1 if captured else uncaptured + 1
    await db.run(
        NOTE, id=place, agent=hook.agent, client=hook.client, event=hook.event,
        in_session=hook.session, is_prompt=hook.is_prompt, is_sub_agent=hook.is_sub_agent,
        is_told=hook.is_told, uncaptured=uncaptured, now=datetime.now(UTC),
    )  # fmt: skip


async def list_seen(db: Database, agent: str) -> list[Seen]:
    """Return the programs whose hooks or captures came, by name."""
    rows = {row["client"]: dict(row) for row in await db.run(LIST, agent=agent)}
    for row in await db.run(CAPTURES, agent=agent):
        rows.setdefault(row["client"], {"client": row["client"]}).update(row)
    return [Seen(**rows[name]) for name in sorted(rows)]


async def _captured_since(db: Database, hook: HookSeen, row: dict[str, object]) -> bool:
    """Return whether the session of the last prompt was captured since that."""
    session, prompted = row.get("prompted_session"), row.get("last_prompt_at")
    if session is None or not isinstance(prompted, datetime):
        return False
    place = record("transcript", [hook.agent, session, hook.client])
    captured = await db.run(CAPTURED_AT, id=place)
    return captured is not None and captured >= prompted
