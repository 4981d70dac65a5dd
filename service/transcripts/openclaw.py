"""Lines of OpenClaw: sessions up to 2026.7, and the messages of its hooks since; pure."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from service.transcripts.turns import (
    BOOKKEEPING,
    EMPTY,
    UNKNOWN,
    Reading,
    Role,
    Turn,
    called,
    gave,
    moment_of,
    said,
    speaker,
    texts_of,
    word,
)

_BOOKKEEPING: Final = frozenset(
    """
    session model_change thinking_level_change custom custom_message compaction branch_summary
    reset compact label session_info
    """.split()  # noqa: SIM905 - one a line were as long as the rest
)
_RESULTS: Final = frozenset({"toolResult", "tool"})


def read(line: Mapping[str, Any]) -> Reading:
    """Return the turns of a line of a session, or of a message as hooks have it."""
    kind, message = word(line.get("type")), line.get("message")
    if kind not in {"message", None}:
        return BOOKKEEPING if kind in _BOOKKEEPING else UNKNOWN
    # The messages of a hook are lines themselves.
    message = message if isinstance(message, Mapping) else line
    at = moment_of(message.get("timestamp")) or moment_of(line.get("timestamp"))
    role, content = word(message.get("role")), message.get("content")
    if role in _RESULTS:
        failed = message.get("isError")
        return [gave(message.get("toolCallId"), texts_of(content), failed, at)]
    who = speaker(role)
    if who is None:
        return UNKNOWN if role is None else BOOKKEEPING
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    blocks = content if isinstance(content, list) else []
    return [turn for block in blocks for turn in _of_block(who, block, at)] or EMPTY


def _of_block(role: Role, block: object, at: datetime | None) -> Iterator[Turn]:
    if not isinstance(block, Mapping):
        return
    if block.get("type") == "text":
        yield from said(role, block.get("text"), at)
    elif block.get("type") == "toolCall":
        yield called(block.get("name"), block.get("id"), block.get("arguments"), at)
