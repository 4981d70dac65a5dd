"""The door of /hooks: what programs call at the turns of their sessions.

A hook never fails an agent's session: whatever goes wrong inside is logged, and the agent is
told 200 `{}`. Only whoever may not is told so.
"""

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, Final

import orjson
from fastapi import Request, Response
from pydantic import Field

from service.access.caller import caller
from service.access.errors import Forbidden
from service.clients.seen import HookSeen, note_hook
from service.errors import ServiceError
from service.hooks.bodies import Hook, Program, read_hook
from service.hooks.openclaw import openclaw_reply, read_openclaw
from service.hooks.replies import reply
from service.hooks.telling import Turn, tell_at
from service.ingest.jobs import Scans
from service.projects.registry import find_scope, register_to_tell
from service.projects.switched_off import SwitchedOff, refuse_switched_off
from service.search.searcher import Searcher
from service.sessions.given import Given
from service.transcripts.reading import parse
from service.web.accepted import JobAccepted, accepted
from service.web.parts import part
from service.web.room import Room
from service.working_memory.texts import Place

log = logging.getLogger(__name__)

router = Room("hooks", prefix="/hooks")


@dataclass(frozen=True, slots=True)
class Empty:
    """Nothing: what an agent wants that has a reply shape of its own."""


@dataclass(frozen=True, slots=True)
class HookOutput:
    """What reaches the model."""

    hookEventName: str  # noqa: N815 - the programs' own name
    additionalContext: str  # noqa: N815 - the programs' own name


@dataclass(frozen=True, slots=True)
class HookReply:
    """A reply in the schema of Claude Code and Codex; empty where there is nothing to say."""

    hookSpecificOutput: Annotated[  # noqa: N815 - the programs' own name
        HookOutput | None, Field(exclude_if=lambda told: told is None)
    ] = None


@dataclass(frozen=True, slots=True)
class OpenClawReply:
    """What OpenClaw puts into a prompt; empty where there is nothing to say."""

    appendSystemContext: Annotated[  # noqa: N815 - the program's own name
        str | None, Field(exclude_if=lambda told: told is None)
    ] = None
    prependContext: Annotated[  # noqa: N815 - the program's own name
        str | None, Field(exclude_if=lambda told: told is None)
    ] = None


TheSearcher = Annotated[Searcher, part(Searcher)]
TheGiven = Annotated[Given, part(Given)]
TheScans = Annotated[Scans, part(Scans)]

_Shape = tuple[Callable[[dict[str, Any]], Hook], Callable[[str, str], dict[str, Any]]]

# Claude Code and Codex send `hook_event_name` and refuse a reply with keys they do not know.
_OWN_REPLY_KEY: Final = "hook_event_name"


# How a body is read and answered that is not Claude Code's.
_SHAPES: Final[Mapping[Program, _Shape]] = {"openclaw": (read_openclaw, openclaw_reply)}
# The body is read by hand: whatever it is, the session goes on.
_ANY_BODY: Final = {
    "requestBody": {
        "content": {
            "application/json": {
                "schema": {},
                "examples": {
                    "openclaw": {"value": {"event": "command:new", "agent_id": "main"}},
                    "claude-code": {"value": {"hook_event_name": "SessionStart"}},
                },
            }
        }
    }
}


@router.post(
    "/session-start",
    operation_id="session_start",
    status_code=202,
    response_model=JobAccepted | Empty,
    responses={200: {"model": Empty, "description": "It could not be done; the log says why."}},
    openapi_extra=_ANY_BODY,
)
async def post_session_start(scans: Annotated[Scans, part(Scans)], request: Request) -> Response:
    """Scan the folders because a session begins: 202 at once, with a job that survives a crash.

    Takes any JSON body and knows those of OpenClaw (`agent_id`, `workspace_dir`), Claude Code
    and Codex (`hook_event_name`); the latter two get `{}` and the job in the header `X-Job`.
    """
    body = _read(await request.body())
    request.state.agents_named = [scans.settings.agent]
    try:
        # The folders belong to one agent: whoever woke us, its notes are scanned for itself.
        job = await scans.submit(None)
    except Forbidden:
        raise
    except ServiceError as error:
        log.warning("session-start hook: %s", error.logged)
        return Response(b"{}", 200, media_type="application/json")
    if _OWN_REPLY_KEY in body:
        return Response(b"{}", 202, {"X-Job": job}, "application/json")
    return accepted(job)


@router.post(
    "/claude-code", operation_id="claude_code_hook", response_model=HookReply,
    openapi_extra=_ANY_BODY,
)  # fmt: skip
async def post_claude_code(
    searcher: TheSearcher, given: TheGiven, scans: TheScans, request: Request
) -> Response:
    """Answer a hook of Claude Code in its own schema: what the session should be told now.

    Takes the body that the program sends, whatever its version. SessionStart is told the session's
    context, UserPromptSubmit memories that surely answer and are new to the session, a failed
    command the fix that mended the same error, a file what is known of it; all others are noted.
    `graph_memory` in the body holds what only a client can say: `project` (null for none; else the
    folder's), `agent`, `max_chars`.
    """
    return await _answered("claude-code", searcher, given, scans, request)


@router.post("/codex", operation_id="codex_hook", response_model=HookReply, openapi_extra=_ANY_BODY)
async def post_codex(
    searcher: TheSearcher, given: TheGiven, scans: TheScans, request: Request
) -> Response:
    """Answer a hook of Codex, as one of Claude Code is answered."""
    return await _answered("codex", searcher, given, scans, request)


@router.post(
    "/openclaw", operation_id="openclaw_hook", response_model=OpenClawReply,
    openapi_extra=_ANY_BODY,
)  # fmt: skip
async def post_openclaw(
    searcher: TheSearcher, given: TheGiven, scans: TheScans, request: Request
) -> Response:
    """Answer a hook of OpenClaw, carried by its plugin (`integrations/openclaw`).

    `event` is the hook's name, beside it `agent_id`, `session_id`, `workspace_dir` and `prompt`;
    `graph_memory` as for Claude Code. session_start is told the session's context, to stand in its
    system prompt, before_prompt_build memories that surely answer and are new to the session.
    """
    return await _answered("openclaw", searcher, given, scans, request)


async def _answered(
    program: Program, searcher: Searcher, given: Given, scans: Scans, request: Request
) -> Response:
    read, answer = _SHAPES.get(program, (read_hook, reply))
    hook = read(_read(await request.body()))
    # The body is read by hand: whose memories it means the audit learns here.
    request.state.agents_named = [hook.agent] if hook.agent else []
    try:
        text = await _told(program, searcher, given, hook)
        if hook.event == "SessionStart":
            await _scan(scans)
    except (Forbidden, SwitchedOff) as error:
        if isinstance(error, Forbidden):
            raise
        text = ""
    except ServiceError as error:
        log.warning("%s hook %s: %s", program, hook.event, error.logged)
        text = ""
    return Response(orjson.dumps(answer(hook.event, text)), 200, media_type="application/json")


async def _told(program: Program, searcher: Searcher, given: Given, hook: Hook) -> str:
    agent = caller().check_agent(hook.agent) if hook.agent else caller().agent
    begins, identity = hook.event == "SessionStart", hook.project
    resolve = register_to_tell if begins else find_scope
    scope = await resolve(searcher.db, agent, identity) if identity else None
    await refuse_switched_off(searcher.db, agent, scope, hook.session)
    place = Place(agent, scope, hook.ledger)
    text = await tell_at(Turn(searcher, given, hook, place)) if hook.event else ""
    is_prompt, is_sub = hook.event == "UserPromptSubmit", hook.sub_agent is not None
    seen = HookSeen(agent, program, hook.event, hook.session, is_prompt, is_sub, bool(text))
    try:
        await note_hook(searcher.db, seen)
    except ServiceError as error:
        # What the session is told is noted as given, and worth more than this.
        log.warning("%s hook %s is not noted: %s", program, hook.event, error.logged)
    return text


async def _scan(scans: Scans) -> None:
    """Bring the notes up to date, where there are any and the caller may."""
    with suppress(ServiceError):
        await scans.submit(None)


def _read(content: bytes) -> dict[str, Any]:
    try:
        body = parse(content) if content.strip() else {}
    except (ValueError, RecursionError):
        log.warning("hook: the body is not JSON")
        return {}
    return body if isinstance(body, dict) else {}
