"""What the endpoints of continuity take and answer."""

from typing import Literal, NotRequired, TypedDict

from service.client.options import Moment, Project

Where = Project | str | None


class ProjectPage(TypedDict):
    """Projects in the order of their scopes; `next_cursor` is None on the last page."""

    projects: list["KnownProject"]
    next_cursor: str | None


class KnownProject(TypedDict):
    """A project: `scope` is that of its memories, `origins` and `roots` are where it was seen."""

    scope: str
    name: str | None
    origins: list[str]
    roots: list[str]
    created_at: str
    seen_at: str


class MoveOptions(TypedDict, total=False):
    """Whose project is moved, and about how many memories at once."""

    agent: str
    limit: int


class ProjectMoved(TypedDict):
    """What was moved; with some `left` the same request goes on."""

    scope: str
    into: str
    memories: int
    left: int


class OptOut(TypedDict):
    """A project, by its scope, or a session that memory is switched off for, since when."""

    scope: str | None
    session: str | None
    created_at: str


class OptOuts(TypedDict):
    """What an agent has switched off; `next_cursor` is null on the last page."""

    opt_outs: list[OptOut]
    next_cursor: str | None


class SeenClient(TypedDict):
    """A program: its hooks, its captures, what it was told; `warning` says what is wrong."""

    client: str
    hooks: int
    sub_agent_hooks: int
    last_hook_at: str | None
    last_event: str | None
    last_session: str | None
    sessions: int
    last_capture_at: str | None
    injections: int
    last_injection_at: str | None
    warning: str | None


class ClientPage(TypedDict):
    """The programs of an agent, by name; `next_cursor` is null on the last page."""

    clients: list[SeenClient]
    next_cursor: str | None


class Decided(TypedDict):
    """What became of a decision; `scope` is that of its project."""

    id: str
    action: Literal["created", "duplicate", "updated"]
    scope: str | None
    supersedes: str | None
    warnings: list[str]


class Decision(TypedDict):
    """A decision; `superseded_by` are the ids of those that took its place."""

    id: str
    title: str
    text: str
    tags: list[str]
    at: str
    scope: str | None
    session: str | None
    origin: str
    trust_tier: str
    superseded_by: list[str]


class DecisionPage(TypedDict):
    """Decisions, the newest first; `next_cursor` is None on the last page."""

    decisions: list[Decision]
    next_cursor: str | None


class HandoffStored(TypedDict):
    """A handoff that was stored; `scope` is that of its project."""

    id: str
    scope: str | None
    chars: int
    warnings: list[str]


class Handoff(TypedDict):
    """What a session left."""

    id: str
    text: str
    at: str
    session: str | None
    origin: str
    trust_tier: str


class LastHandoff(TypedDict):
    """The last handoff, all of it None where there is none; `history` are those before it.

    They go on at `next_cursor`, None where there are no more.
    """

    id: str | None
    text: str | None
    at: str | None
    session: str | None
    origin: str | None
    trust_tier: str | None
    scope: str | None
    history: list[Handoff]
    next_cursor: str | None


class WorkingMemory(TypedDict):
    """What is in focus; `text` and the rest of it are None where nothing is."""

    text: str | None
    chars: int
    scope: str | None
    session: str | None
    origin: str | None
    trust_tier: str | None
    updated_at: str | None
    warnings: list[str]


class Section(TypedDict):
    """A section: its share of the tokens, the ids of its memories, how many did not fit."""

    name: str
    share: float
    ids: list[str]
    left_out: int
    text: NotRequired[str]


class ContextReceipt(TypedDict):
    """What it cost, the scope of the project, the room there was, and how much was known."""

    took_ms: float
    scope: str | None
    max_tokens: int
    max_chars: int | None
    known: int


class SessionContext(TypedDict):
    """What a session should know; `text` is None with `format="json"`."""

    text: str | None
    sections: list[Section]
    tokens: int
    chars: int
    receipt: ContextReceipt


def why_empty(told: SessionContext) -> str:
    """Return in words why a session's context says nothing."""
    if any(one["left_out"] for one in told["sections"]):
        return "Nothing of what is known fits."
    is_known = told["receipt"]["known"] > 0
    return "Nothing is new to this session." if is_known else "Nothing is known yet."


class GivenMemory(TypedDict):
    """A memory that a session was given; `title` is None of what is gone or another agent's."""

    id: str
    title: str | None
    operation: str
    why: str | None
    used_at: str | None
    tokens: int
    times: int
    first_at: str
    at: str
    is_known: bool


class SessionGiven(TypedDict):
    """What a session was given, the last first; `next_cursor` is None on the last page."""

    session: str
    agent: str
    given: list[GivenMemory]
    tokens: int
    next_cursor: str | None


class Intent(TypedDict):
    """A standing intent: `fired` counts how often it was said, last at `fired_at`."""

    id: str
    when: list[str]
    text: str
    scope: str | None
    due: str | None
    cooldown_hours: float
    fires: int
    fired: int
    fired_at: str | None
    expires_at: str | None
    created_at: str
    origin: str
    trust_tier: str
    warnings: list[str]


class IntentPage(TypedDict):
    """Intents in the order of their ids; `next_cursor` is None on the last page."""

    intents: list[Intent]
    next_cursor: str | None


class IntentOptions(TypedDict, total=False):
    """When it is said: words that come up, a date; how often, and until when."""

    when: list[str]
    due: Moment | None
    cooldown_hours: float
    fires: int
    expires_at: Moment | None
    agent: str
    project: Where


class PlaceOptions(TypedDict, total=False):
    """Where: the agent, the project (a remote, a folder, a name), the session."""

    agent: str
    project: Where
    session: str | None


class DecisionOptions(PlaceOptions, total=False):
    """What can be said of a decision; `supersedes` is the id of the one that it replaces."""

    title: str | None
    tags: list[str]
    supersedes: str | None


class ContextOptions(PlaceOptions, total=False):
    """Why it is asked, and how much there is room for."""

    source: Literal["startup", "resume", "clear", "compact"]
    max_tokens: int | None
    max_chars: int | None
    format: Literal["markdown", "json"]
