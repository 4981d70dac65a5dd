"""Lines of any other program: `{"role": …, "content" or "text": …, "at"?: …}`; pure."""

from collections.abc import Mapping
from typing import Any

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


def read(line: Mapping[str, Any]) -> Reading:
    """Return the turns of a line.

    A call of a tool has `tool` or `command`, and `call`; what it gave back the same `call`, `exit`.
    """
    role = word(line.get("role"))
    at = moment_of(line.get("at", line.get("timestamp")))
    text = texts_of(line.get("content", line.get("text")))
    call = line.get("call", line.get("tool_call_id"))
    if role == "tool":
        code = line.get("exit")
        failed = code != 0 if isinstance(code, int) else line.get("failed")
        return [gave(call, text, failed, at)]
    who = speaker(role)
    if who is None:
        return UNKNOWN if role is None else BOOKKEEPING
    if who == "assistant" and (line.get("tool") or line.get("command")):
        return [*said(who, text, at), called(line.get("tool", "shell"), call, line, at)]
    return list(said(who, text, at)) or EMPTY
