"""Lines of Claude Code: ~/.claude/projects/*/*.jsonl, as they were seen in 2025 and 2026; pure."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from service.transcripts.turns import (
    BOOKKEEPING,
    EMPTY,
    SIDE_CHAIN,
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
    attachment queue-operation last-prompt cost-state summary system progress permission-mode mode
    file-history-snapshot agent-name custom-title ai-title frame-link pr-link started result
    relocated worktree-state bridge-session atis-latch
    """.split()  # noqa: SIM905 - one a line were as long as the rest
)


def read(line: Mapping[str, Any]) -> Reading:
    """Return the turns of a line: of the user, of the assistant, and what tools gave back."""
    line = _queued(line) or line
    kind, role = word(line.get("type")), speaker(line.get("type"))
    if role is None:
        is_known = kind in _BOOKKEEPING or str(kind).startswith("api-request")
        return BOOKKEEPING if is_known else UNKNOWN
    if line.get("isSidechain"):
        return SIDE_CHAIN
    if line.get("isMeta") or line.get("isCompactSummary") or not _is_of_person(line):
        return BOOKKEEPING
    message, at = line.get("message"), moment_of(line.get("timestamp"))
    # Some programs write the message's fields into the line.
    content = (message if isinstance(message, Mapping) else line).get("content")
    if isinstance(content, str):
        return list(said(role, content, at)) or EMPTY
    blocks = content if isinstance(content, list) else []
    turns = [turn for block in blocks for turn in _of_block(role, block, at)]
    return turns or EMPTY


def _queued(line: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return what a person typed while the agent worked as a line of theirs: it has no other."""
    told = line.get("attachment")
    if not isinstance(told, Mapping) or told.get("type") != "queued_command":
        return None
    if told.get("commandMode") != "prompt":
        return None
    return {**line, "type": "user", "message": {"content": told.get("prompt")},
            "origin": told.get("origin")}  # fmt: skip


def _is_of_person(line: Mapping[str, Any]) -> bool:
    """Return whether nothing says that a line came from another session, a channel or a task."""
    origin = line.get("origin")
    return not isinstance(origin, Mapping) or word(origin.get("kind")) in {None, "human"}


def _of_block(role: Role, block: object, at: datetime | None) -> Iterator[Turn]:
    if not isinstance(block, Mapping):
        return
    if block.get("type") == "text":
        yield from said(role, block.get("text"), at)
    elif block.get("type") == "tool_use":
        yield called(block.get("name"), block.get("id"), block.get("input"), at)
    elif block.get("type") == "tool_result":
        # What says nothing of an error is none.
        failed = bool(block.get("is_error"))
        yield gave(block.get("tool_use_id"), texts_of(block.get("content")), failed, at)
