"""What a program sends at a turn of its session, read as far as it makes sense; pure.

Nothing in a body is relied on: programs change, and what is missing or of another type is as if
it had not been sent.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from service.projects.identity import Identity, identify, identify_text

Program = Literal["claude-code", "codex", "openclaw"]

# What our own scripts add to the body of their program.
OWN: Final = "graph_memory"
_SOURCES: Final = frozenset({"startup", "resume", "clear", "compact"})
_COMMAND_TOOLS: Final = frozenset({"bash", "shell", "local_shell", "exec_command", "powershell"})
# A notebook is a file that is called otherwise.
_FILE_FIELDS: Final = ("file_path", "notebook_path", "path")
_MOST_LABEL: Final = 200
_MOST_PROMPT: Final = 10_000
_MOST_COMMAND: Final = 20_000
# The end of an output says most.
_MOST_OUTPUT: Final = 200_000


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool that was used: the command that it ran, the file that it had, and what came of it.

    `failed` is None where the program does not say so.
    """

    command: str | None
    file_path: str | None
    output: str
    failed: bool | None


@dataclass(frozen=True, slots=True)
class Hook:
    """A turn of a session. The session of a sub-agent is one of its own: it knows what it is told.

    `max_chars` is the room for an answer where the script says so.
    """

    event: str
    session: str | None
    sub_agent: str | None
    source: str
    prompt: str
    tool: ToolUse | None
    agent: str | None
    project: Identity | None
    max_chars: int | None

    @property
    def ledger(self) -> str | None:
        """The session whose context is meant."""
        if self.session is None or self.sub_agent is None:
            return self.session
        return f"{self.session}/{self.sub_agent}"[:_MOST_LABEL]


def read_hook(body: object) -> Hook:
    """Return what a body says; of one that says nothing, a hook without an event."""
    told = body if isinstance(body, Mapping) else {}
    own = _mapping(told.get(OWN))
    source = _word(told.get("source")) or ""
    room = own.get("max_chars")
    where = _mapping(own.get("project"))
    root = _text(where.get("root")) or _text(told.get("cwd"))
    return Hook(
        _word(told.get("hook_event_name")) or "",
        _word(told.get("session_id")),
        _word(told.get("agent_id")),
        source if source in _SOURCES else "startup",
        _text(told.get("prompt"))[-_MOST_PROMPT:].strip(),
        _tool_use(told),
        _word(own.get("agent")),
        _project(own, root),
        room if isinstance(room, int) and not isinstance(room, bool) and room >= 0 else None,
    )


def _tool_use(told: Mapping[str, Any]) -> ToolUse | None:
    given = told.get("tool_input")
    if not isinstance(given, Mapping):
        return None
    name = (_word(told.get("tool_name")) or "").casefold()
    command = given.get("command") or given.get("cmd")
    if isinstance(command, list):
        command = " ".join(part for part in command if isinstance(part, str))
    is_command = isinstance(command, str) and (name in _COMMAND_TOOLS or "file_path" not in given)
    output, failed = _outcome(told)
    path = next(filter(None, (_text(given.get(name)) for name in _FILE_FIELDS)), None)
    return ToolUse(
        str(command)[:_MOST_COMMAND] if is_command else None, path,
        output[-_MOST_OUTPUT:], failed,
    )  # fmt: skip


def _outcome(told: Mapping[str, Any]) -> tuple[str, bool | None]:
    """Return what a tool printed, and whether it failed."""
    answer, error = told.get("tool_response"), _text(told.get("error"))
    texts: list[str] = []
    failed: bool | None = True if error else None
    if isinstance(answer, str):
        texts = [answer]
    elif isinstance(answer, Mapping):
        names = ("stdout", "stderr", "output", "content", "error")
        texts = [_text(answer.get(name)) for name in names]
        code = answer.get("exit_code", answer.get("exitCode"))
        if isinstance(code, int):
            failed = code != 0
        elif answer.get("success") is False or answer.get("is_error") is True:
            failed = True
    if told.get("hook_event_name") == "PostToolUseFailure":
        failed = True
    return "\n".join(one for one in (*texts, error) if one), failed


def _project(own: Mapping[str, Any], folder: str) -> Identity | None:
    """Return the project that a script names; where it names none, that of the folder.

    A script that sends null says that there is none.
    """
    told = own.get("project")
    if told is None and "project" in own:
        return None
    text, where = _text(told), _mapping(told)
    origin, name = _text(where.get("origin")), _text(where.get("name"))
    try:
        if text.strip():
            return identify_text(text)
        # A folder is known before a name is: beside one that is meant it is none.
        is_named = bool(name.strip()) and not origin and not where.get("root")
        return identify(origin or None, None if is_named else folder or None, name or None)
    except ValueError:
        return None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    """Return a text that can be stored and embedded: without lone surrogates and NUL."""
    if not isinstance(value, str):
        return ""
    return value.encode("utf-8", "replace").decode().replace("\0", "")


def _word(value: object) -> str | None:
    """Return a short text on one line; None of anything else."""
    text = " ".join(_text(value).split())
    return text[:_MOST_LABEL] or None
