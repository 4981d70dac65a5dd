"""The endpoints of continuity: what one session leaves to the next."""

from collections.abc import Sequence
from typing import Literal, Unpack

from service.client.conversations import (
    FixAnswer,
    LookupOptions,
    Message,
    Observed,
    Packed,
    PackOptions,
    TranscriptOptions,
)
from service.client.endpoint import Endpoint
from service.client.options import Moment, Project
from service.client.reflections import HotMemory, Reflection, ReflectOptions
from service.client.sending import Request, part
from service.client.sessions import (
    ClientPage,
    ContextOptions,
    Decided,
    DecisionOptions,
    DecisionPage,
    HandoffStored,
    Intent,
    IntentOptions,
    IntentPage,
    LastHandoff,
    MoveOptions,
    OptOuts,
    PlaceOptions,
    ProjectMoved,
    ProjectPage,
    SessionContext,
    SessionGiven,
    WorkingMemory,
)
from service.client.tiers import CascadeAnswer, CascadeOptions, SessionEnded, SessionEndOptions


class ContinuityEndpoints:
    """What a session asks when it begins, and leaves when it ends."""

    @Endpoint
    def session_context(self, **choices: Unpack[ContextOptions]) -> Request[SessionContext]:
        """Return what a session that begins should know; with `session` it is noted as given."""
        return Request("POST", "/session-context", {**choices})

    @Endpoint
    def list_clients(
        self, *, agent: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Request[ClientPage]:
        """List the programs whose sessions are remembered, and which of them went silent."""
        params = {"agent": agent, "limit": limit, "cursor": cursor}
        return Request("GET", "/clients", params=params)

    @Endpoint
    def write_handoff(self, text: str, **place: Unpack[PlaceOptions]) -> Request[HandoffStored]:
        """Leave a handoff to the next session of the project."""
        return Request("POST", "/handoff", {"text": text, **place})

    @Endpoint
    def read_handoff(
        self, *, agent: str | None = None, project: str | None = None, history: int | None = None,
        limit: int | None = None, cursor: str | None = None,
    ) -> Request[LastHandoff]:  # fmt: skip
        """Read what the last session left, and so many before it, or before a cursor."""
        params = {
            "agent": agent, "project": project, "history": history, "limit": limit,
            "cursor": cursor,
        }  # fmt: skip
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
    def observe(
        self,
        session: str,
        client: Literal["claude-code", "codex", "openclaw", "generic"],
        **stretch: Unpack[TranscriptOptions],
    ) -> Request[Observed]:
        """Read on in a transcript, and keep what is worth it."""
        body = {"session": session, "client": client, **stretch}
        return Request("POST", "/observe", body, is_long=True)

    @Endpoint
    def pack_context(
        self, messages: Sequence[Message], **choices: Unpack[PackOptions]
    ) -> Request[Packed]:
        """Pack a conversation within a budget: recent messages, an extract, memories."""
        return Request("POST", "/context/pack", {"messages": messages, **choices})

    @Endpoint
    def lookup_fix(self, output: str, **more: Unpack[LookupOptions]) -> Request[FixAnswer]:
        """Find what was done about the same error before."""
        return Request("POST", "/fixes/lookup", {"output": output, **more})

    @Endpoint
    def intend(self, text: str, **more: Unpack[IntentOptions]) -> Request[Intent]:
        """Have something said when it comes up, or is due."""
        return Request("POST", "/intents", {"text": text, **more})

    @Endpoint
    def list_intents(
        self, *, agent: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Request[IntentPage]:
        """List an agent's standing intents, also those that are said no more."""
        params = {"agent": agent, "limit": limit, "cursor": cursor}
        return Request("GET", "/intents", params=params)

    @Endpoint
    def forget_intent(self, id: str, *, agent: str | None = None) -> Request[None]:  # noqa: A002
        """Have something said no more."""
        return Request("DELETE", f"/intents/{part(id)}", params={"agent": agent})

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
        return Request("GET", f"/sessions/{part(id)}", params=params)

    @Endpoint
    def cascade(self, query: str, **choices: Unpack[CascadeOptions]) -> Request[CascadeAnswer]:
        """Ask tier after tier; the first that is sure answers, and says which it is."""
        return Request("POST", "/cascade", {"query": query, **choices})

    @Endpoint
    def end_session(
        self, session: str, **choices: Unpack[SessionEndOptions]
    ) -> Request[SessionEnded]:
        """End a session: what it had at hand and is worth it is kept, the rest is cleared."""
        return Request("POST", "/session-end", {"session": session, **choices})

    @Endpoint
    def reflect(self, **choices: Unpack[ReflectOptions]) -> Request[Reflection]:
        """Look back over some days; without `dry_run=False` the hot memory stays as it is."""
        return Request("POST", "/reflect", {**choices}, is_long=True)

    @Endpoint
    def hot_memory(
        self, *, agent: str | None = None, project: str | None = None
    ) -> Request[HotMemory]:
        """Read what is kept near at hand."""
        return Request("GET", "/hot-memory", params={"agent": agent, "project": project})

    @Endpoint
    def list_projects(
        self, *, agent: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Request[ProjectPage]:
        """List the projects that an agent's sessions named."""
        params = {"agent": agent, "limit": limit, "cursor": cursor}
        return Request("GET", "/projects", params=params)

    @Endpoint
    def move_project(
        self, project: Project | str, into: Project | str, **choices: Unpack[MoveOptions]
    ) -> Request[ProjectMoved]:
        """Make a project another one's, or give it another name; with some left, go on."""
        body = {"project": project, "into": into, **choices}
        return Request("POST", "/projects/move", body, is_long=True)

    @Endpoint
    def opt_out(self, **place: Unpack[PlaceOptions]) -> Request[OptOuts]:
        """Switch memory off for a project or a session: nothing is kept of it or told to it."""
        return Request("POST", "/opt-outs", {**place})

    @Endpoint
    def list_opt_outs(
        self, *, agent: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> Request[OptOuts]:
        """List the projects and sessions that memory is switched off for."""
        params = {"agent": agent, "limit": limit, "cursor": cursor}
        return Request("GET", "/opt-outs", params=params)

    @Endpoint
    def opt_in(
        self, *, agent: str | None = None, project: str | None = None, session: str | None = None
    ) -> Request[None]:
        """Switch memory on again."""
        params = {"agent": agent, "project": project, "session": session}
        return Request("DELETE", "/opt-outs", params=params)
