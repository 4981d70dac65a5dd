"""Lines of Codex: rollout-*.jsonl, as they were seen in 2025 and 2026; pure."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from service.transcripts.turns import (
    BOOKKEEPING,
    EMPTY,
    UNKNOWN,
    Reading,
    called,
    gave,
    moment_of,
    said,
    speaker,
    texts_of,
    word,
)

_LINES: Final = frozenset(
    """
    session_meta event_msg turn_context world_state token_usage_record compacted
    inter_agent_communication_metadata
    """.split()  # noqa: SIM905 - one a line were as long as the rest
)
_CALLS: Final = frozenset({"function_call", "custom_tool_call", "local_shell_call", "tool_call"})
_OUTPUTS: Final = frozenset(
    {"function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_result"}
)
_PATCHED: Final = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (\S.{0,400})", re.MULTILINE)
_MOST_PATCHED: Final = 50
# What editors write in front of a request, and the line that ends it.
_SETUP: Final = ("# Context from my IDE setup:", "# Files mentioned by the user:")
_REQUEST: Final = "## My request for Codex:"


def read(line: Mapping[str, Any]) -> Reading:
    """Return the turns of a line: messages, calls of tools and what they gave back."""
    kind = word(line.get("type"))
    if kind != "response_item":
        return BOOKKEEPING if kind in _LINES else UNKNOWN
    payload, at = line.get("payload"), moment_of(line.get("timestamp"))
    if not isinstance(payload, Mapping):
        return UNKNOWN
    kind = word(payload.get("type"))
    if kind in _CALLS:
        tool, call = payload.get("name") or "shell", payload.get("call_id")
        return [called(tool, call, one, at) for one in _each_file(_arguments(payload))]
    if kind in _OUTPUTS:
        output, failed = _output(payload.get("output", payload.get("content")))
        return [gave(payload.get("call_id"), output, failed, at)]
    role = speaker(payload.get("role"))
    if kind not in {"message", None} or role is None:
        return BOOKKEEPING
    return list(said(role, _asked(texts_of(payload.get("content"))), at)) or EMPTY


def _asked(text: str) -> str:
    """Return what a person asked, without what an editor puts in front: files, what is selected."""
    if not text.lstrip().startswith(_SETUP):
        return text
    return text.rpartition(_REQUEST)[2] if _REQUEST in text else ""


def _arguments(payload: Mapping[str, Any]) -> object:
    told = payload.get("arguments", payload.get("input", payload.get("action")))
    if isinstance(told, str):
        try:
            return json.loads(told)
        except (ValueError, RecursionError):
            # A tool that takes one text, such as a patch.
            return told
    return told


def _each_file(arguments: object) -> list[object]:
    """Return the arguments of a call; of a patch those of a change of each file."""
    patch = arguments.get("input") if isinstance(arguments, Mapping) else arguments
    files = _PATCHED.findall(patch)[:_MOST_PATCHED] if isinstance(patch, str) else []
    return [{"path": file.strip()} for file in files] or [arguments]


def _output(output: object) -> tuple[str, bool | None]:
    """Return what a call gave back, and whether it failed, where that stands in it as JSON."""
    text = texts_of(output)
    if text.startswith("{"):
        try:
            told = json.loads(text)
        except (ValueError, RecursionError):
            return text, None
        inner = told.get("output") if isinstance(told, dict) else None
        if isinstance(inner, str):
            metadata = told.get("metadata")
            code = metadata.get("exit_code") if isinstance(metadata, dict) else None
            return inner, None if not isinstance(code, int) else code != 0
    return text, None
