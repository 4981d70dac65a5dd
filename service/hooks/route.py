"""The door of /hooks: an agent's session begins, so the notes are brought up to date.

A hook never fails an agent's session: whatever goes wrong inside is logged, and the agent is
told 200 `{}`. Only whoever may not is told so.
"""

import logging
from dataclasses import dataclass
from typing import Annotated, Any, Final

import orjson
from fastapi import APIRouter, Request, Response

from service.access.errors import Forbidden
from service.errors import ServiceError
from service.ingest.jobs import Scans
from service.web.accepted import JobAccepted, accepted
from service.web.parts import part

log = logging.getLogger(__name__)

router = APIRouter(prefix="/hooks", tags=["hooks"])


@dataclass(frozen=True, slots=True)
class Empty:
    """Nothing: what an agent wants that has a reply shape of its own."""


# Claude Code and Codex send `hook_event_name` and refuse a reply with keys they do not know.
_OWN_REPLY_KEY: Final = "hook_event_name"


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


def _read(content: bytes) -> dict[str, Any]:
    try:
        body = orjson.loads(content) if content.strip() else {}
    except orjson.JSONDecodeError:
        log.warning("session-start hook: the body is not JSON; scanning anyway")
        return {}
    return body if isinstance(body, dict) else {}
