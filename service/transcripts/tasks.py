"""Lists of tasks as agents keep them by a tool: Claude Code's, Codex's and others'; pure."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

_MOST_TASKS: Final = 50
_MOST_CHARACTERS: Final = 2_000
# What tools that write a whole list call it, and its lines' words: TodoWrite, update_plan.
_LISTS: Final = ("todos", "plan")
_WORDS: Final = ("content", "step", "text", "subject")
_DONE: Final = frozenset({"completed", "done", "deleted", "cancelled"})
# No session has more tasks; Python reads no number of thousands of digits.
_NUMBER: Final = re.compile(r"[0-9]{1,9}")
_BOX: Final = re.compile(r"^\s{0,20}[-*]\s\[([ xX])\]\s(\S.{0,2000})", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Tasks:
    """What is said of tasks: a whole list of them, each with whether it is done; or of one alone.

    That is `added`, or done by the number (from 1) in which it was added: TaskCreate, TaskUpdate.
    """

    listed: tuple[tuple[str, bool], ...] = ()
    added: str | None = None
    done: int | None = None


def tasks_of(tool: object, arguments: Mapping[str, Any]) -> Tasks | None:
    """Return what a call of a tool says of tasks; None of a tool that is for something else."""
    if tool == "TaskCreate":
        subject = _told(arguments.get("subject"))
        return Tasks(added=subject) if subject else None
    if tool == "TaskUpdate":
        number = arguments.get("taskId")
        if not _is_done(arguments) or not isinstance(number, str | int):
            return None
        return Tasks(done=int(number)) if _NUMBER.fullmatch(str(number)) else None
    listed = next((arguments[name] for name in _LISTS if name in arguments), None)
    if not isinstance(listed, list):
        return None
    return Tasks(tuple(_lines(listed[:_MOST_TASKS])))


def boxes_of(text: str) -> Tasks | None:
    """Return the boxes of a text's list, ticked or not; None where it has none."""
    found = _BOX.findall(text)[:_MOST_TASKS]
    return Tasks(tuple((task.strip(), tick != " ") for tick, task in found)) if found else None


def _lines(listed: list[Any]) -> Iterator[tuple[str, bool]]:
    for one in listed:
        if isinstance(one, Mapping):
            text = next((text for name in _WORDS if (text := _told(one.get(name)))), None)
            if text:
                yield text, _is_done(one)


def _is_done(told: Mapping[str, Any]) -> bool:
    status = told.get("status")
    return isinstance(status, str) and status in _DONE


def _told(text: object) -> str | None:
    if not isinstance(text, str):
        return None
    return " ".join(text.replace("\x00", "").encode("utf-8", "replace").decode().split())[
        :_MOST_CHARACTERS
    ]
