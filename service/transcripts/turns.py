"""The one shape of what was said and done in a session, whichever program wrote it down; pure."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Literal

from service.sanitise.private_blocks import without_private
from service.text.context_block import without_blocks
from service.transcripts.tasks import Tasks, tasks_of

Role = Literal["user", "assistant", "tool"]

# Of a line, why nothing came of it: counted, and never fatal.
BOOKKEEPING: Final = "bookkeeping"
SIDE_CHAIN: Final = "side chain"
NOT_AN_OBJECT: Final = "not an object"
NO_JSON: Final = "no JSON"
UNKNOWN: Final = "unknown type"
TOO_LONG: Final = "too long"
EMPTY: Final = "empty"

MOST_TEXT_CHARACTERS: Final = 200_000
_MOST_OUTPUT_CHARACTERS: Final = 20_000
_MOST_COMMAND_CHARACTERS: Final = 8_000
# What programs put into a user's mouth; nobody said it.
_INJECTED: Final = ("system-reminder", "environment_context", "user_instructions", "command-name",
                    "command-message", "command-args", "local-command-stdout", "ide_selection",
                    "ide_opened_file")  # fmt: skip
# How a message begins that a program wrote in the user's place: nothing of it was said, as it holds
# what files and commands say, and so whatever looks like its end. In lower case.
_WRITTEN: Final = (
    "<bash-", "<local-command-", "<task-notification", "<teammate-message", "<hook_prompt",
    "<cross-session-message", "<user_shell_command>", "<turn_aborted>", "<subagent_notification>",
    "<skill>", "<recommended_plugins>", "# agents.md instructions", "[request interrupted by user",
    "this session is being continued from a previous conversation",
)  # fmt: skip
_EXIT: Final = re.compile(
    r"(?:exit(?:ed)?(?: with)?(?: status| code)|exit status)[: ]{1,2}(-?\d{1,4})", re.IGNORECASE
)
_FILE_FIELDS: Final = ("file_path", "path", "notebook_path", "filename")


@dataclass(frozen=True, slots=True)
class Turn:
    """Something that was said, a tool that was called, or what it gave back.

    A call has `tool`, and `command` (a shell's), `file` or `tasks`; what it gave back has the same
    `call`, its output as `text` and whether it `failed`, None where that is not known.
    """

    role: Role
    text: str = ""
    at: datetime | None = None
    call: str | None = None
    tool: str | None = None
    command: str | None = None
    file: str | None = None
    failed: bool | None = None
    tasks: Tasks | None = None


# The turns of a line, or why there are none.
Reading = list[Turn] | str
Reader = Callable[[Mapping[str, Any]], Reading]


@dataclass(slots=True)
class Read:
    """Turns, each with its place, where reading goes on, and how many lines gave none, by why."""

    turns: list[tuple[int, Turn]] = field(default_factory=list)
    offset: int = 0
    ignored: Counter[str] = field(default_factory=Counter)


def said(role: Role, text: object, at: datetime | None) -> Iterator[Turn]:
    """Yield what was said, without what is private and what programs and this service put there."""
    if not isinstance(text, str):
        return
    # Whole: what is cut off may be the end of a block.
    own = without_private(without_blocks(_clean(text), _INJECTED))[0].strip()
    is_written = role == "user" and own[:100].lower().startswith(_WRITTEN)
    if own and not is_written:
        yield Turn(role, own[:MOST_TEXT_CHARACTERS], at)


def called(tool: object, call: object, arguments: object, at: datetime | None) -> Turn:
    """Return a call of a tool."""
    told = arguments if isinstance(arguments, Mapping) else {}
    command = told.get("command", told.get("cmd"))
    if isinstance(command, list):
        words = [one for one in command if isinstance(one, str)]
        # A shell that is given its line in one word.
        command = words[-1] if words[:2] in (["bash", "-lc"], ["sh", "-c"]) else " ".join(words)
    file = next((told[name] for name in _FILE_FIELDS if isinstance(told.get(name), str)), None)
    return Turn(
        "assistant", "", at, _text(call), _text(tool),
        _clean(command[:_MOST_COMMAND_CHARACTERS]) if isinstance(command, str) else None,
        _clean(file[:_MOST_COMMAND_CHARACTERS]) if file else None,
        tasks=tasks_of(tool, told),
    )  # fmt: skip


def gave(call: object, output: str, failed: object, at: datetime | None) -> Turn:
    """Return what a tool gave back; where nothing says whether it failed its exit code does."""
    if not isinstance(failed, bool):
        exits = [int(code) for code in _EXIT.findall(output[-500:] + "\n" + output[:200])]
        failed = any(exits) if exits else None
    # The end of an output says most.
    output = _clean(output[-_MOST_OUTPUT_CHARACTERS:])
    return Turn("tool", output, at, _text(call), failed=failed)


def texts_of(content: object) -> str:
    """Return the texts of a content: itself, or those of its parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        content = [content]
    if not isinstance(content, list):
        return ""
    parts = (one.get("text") if isinstance(one, Mapping) else one for one in content)
    return "\n".join(part for part in parts if isinstance(part, str))


def word(value: object) -> str | None:
    """Return a type or a role, None of what is no text."""
    return value if isinstance(value, str) else None


def speaker(value: object) -> Literal["user", "assistant"] | None:
    """Return who speaks, None of anybody else."""
    if value == "user":
        return "user"
    return "assistant" if value == "assistant" else None


def moment_of(value: object) -> datetime | None:
    """Return a moment as programs write it: ISO 8601, or milliseconds since 1970."""
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
            return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def _clean(text: str) -> str:
    """Return a text without what no store takes; half a character makes no question of it."""
    return text.replace("\x00", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _text(value: object) -> str | None:
    return _clean(value[:200]) if isinstance(value, str) else None
