"""What OpenClaw's plugin carries at a turn of a session, and its reply; pure.

Its hooks are other ones than those of Claude Code, and name the agent where those name a sub-agent.
"""

from collections.abc import Mapping
from typing import Any, Final

from service.hooks.bodies import OWN, Hook, read_hook

_EVENTS: Final[Mapping[object, str]] = {
    "session_start": "SessionStart",
    "before_prompt_build": "UserPromptSubmit",
    "agent_end": "Stop",
    "session_end": "SessionEnd",
}
# What a session is told at its start stands in its system prompt, where it stays the same from
# turn to turn; what a prompt calls up stands before that prompt.
_PLACES: Final[Mapping[str, str]] = {
    "SessionStart": "appendSystemContext",
    "UserPromptSubmit": "prependContext",
}


def read_openclaw(body: Mapping[str, Any]) -> Hook:
    """Return what a body says; of a hook that is not known, one without an event."""
    own = body.get(OWN)
    own = dict(own) if isinstance(own, Mapping) else {}
    own.setdefault("agent", body.get("agent_id"))
    event = body.get("event")
    return read_hook({
        "hook_event_name": _EVENTS.get(event) if isinstance(event, str) else None,
        "session_id": body.get("session_id"), "source": body.get("source"),
        "prompt": body.get("prompt"), "cwd": body.get("workspace_dir"), OWN: own,
    })  # fmt: skip


def openclaw_reply(event: str, text: str) -> dict[str, Any]:
    """Return what the plugin gives back to its gateway; nothing where there is nothing to say."""
    return {_PLACES[event]: text} if text and event in _PLACES else {}
