"""The endpoints of continuity: what one session leaves to the next."""

from typing import Literal, NotRequired, TypedDict, Unpack
from urllib.parse import quote

from service.client.endpoint import Endpoint
from service.client.options import Moment, Project
from service.client.sending import Request

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


class LastHandoff(TypedDict):
    """The last handoff, all of it None where there is none; `history` are those before it."""

    id: str | None
    text: str | None
    at: str | None
    session: str | None
    origin: str | None
    scope: str | None
    history: list[Handoff]


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


class GivenMemory(TypedDict):
    """A memory that a session was given; `title` is None of what is gone or another agent's."""

    id: str
    title: str | None
    operation: str
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


class ContinuityEndpoints:
    """What a session asks when it begins, and leaves when it ends."""

    @Endpoint
    def session_context(self, **choices: Unpack[ContextOptions]) -> Request[SessionContext]:
        """Return what a session that begins should know; with `session` it is noted as given."""
        return Request("POST", "/session-context", {**choices})

    @Endpoint
    def write_handoff(self, text: str, **place: Unpack[PlaceOptions]) -> Request[HandoffStored]:
        """Leave a handoff to the next session of the project."""
        return Request("POST", "/handoff", {"text": text, **place})

    @Endpoint
    def read_handoff(
        self, *, agent: str | None = None, project: str | None = None, history: int | None = None
    ) -> Request[LastHandoff]:
        """Read what the last session left, and so many before it."""
        params = {"agent": agent, "project": project, "history": history}
        return Request("GET", "/handoff", params=params)

    @Endpoint
    def read_working_memory(
        self, *, agent: str | None = None, project: str | None = None, session: str | None = None
    ) -> Request[WorkingMemory]:
        """Read what is in focus."""
        params = {"agent": agent, "project": project, "session": session}
        return Request("GET", "/working-memory", params=params)

    @Endpoint
    def set_working_memory(
        self, text: str, **place: Unpack[PlaceOptions]
    ) -> Request[WorkingMemory]:
        """Set what is in focus, in place of what was."""
        return Request("PUT", "/working-memory", {"text": text, **place})

    @Endpoint
    def update_working_memory(
        self, text: str, **place: Unpack[PlaceOptions]
    ) -> Request[WorkingMemory]:
        """Add to what is in focus, under a heading with the time."""
        return Request("PATCH", "/working-memory", {"text": text, **place})

    @Endpoint
    def clear_working_memory(
        self, *, agent: str | None = None, project: str | None = None, session: str | None = None
    ) -> Request[None]:
        """Clear what is in focus."""
        params = {"agent": agent, "project": project, "session": session}
        return Request("DELETE", "/working-memory", params=params)

    @Endpoint
    def log_decision(self, text: str, **more: Unpack[DecisionOptions]) -> Request[Decided]:
        """Log a decision; the one that it supersedes holds no longer."""
        return Request("POST", "/decisions", {"text": text, **more})

    @Endpoint
    def list_decisions(
        self,
        *,
        agent: str | None = None,
        project: str | None = None,
        tag: str | None = None,
        since: Moment | None = None,
        last: int | None = None,
        cursor: str | None = None,
    ) -> Request[DecisionPage]:
        """List what was decided, the newest first, also what holds no longer."""
        params = {
            "agent": agent, "project": project, "tag": tag, "since": since, "last": last,
            "cursor": cursor,
        }  # fmt: skip
        return Request("GET", "/decisions", params=params)

    @Endpoint
    def read_session(
        self,
        id: str,  # noqa: A002
        *,
        agent: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Request[SessionGiven]:
        """Tell what a session was given by searches, recalls and its context."""
        params = {"agent": agent, "limit": limit, "cursor": cursor}
        return Request("GET", f"/sessions/{quote(id)}", params=params)

    @Endpoint
    def list_projects(
        self, *, agent: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Request[ProjectPage]:
        """List the projects that an agent's sessions named."""
        params = {"agent": agent, "limit": limit, "cursor": cursor}
        return Request("GET", "/projects", params=params)
