"""What comes of a session's turns, one after the other; pure.

The state says all that later turns need of earlier ones, so that a transcript gives the same in
whatever pieces it comes. It is bounded, and plain enough to be stored as it is.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, Final

from service.access.origins import Origin, lowest
from service.fixes.shell import command_of
from service.fixes.signature import error_of, signature_of
from service.observe.cues import marked, statements
from service.search.small_talk import is_small_talk
from service.transcripts.tasks import Tasks, boxes_of
from service.transcripts.turns import Turn

_MOST_CALLS: Final = 200
_MOST_FAILURES: Final = 50
_MOST_DEEDS: Final = 12
_MOST_FILES: Final = 12
_MOST_TASKS: Final = 24
_MOST_ADDED: Final = 200
_MOST_REQUEST: Final = 600
_MOST_TASK: Final = 200
_MOST_DEED: Final = 200
_MOST_COMMAND: Final = 4_000
_MOST_FILE: Final = 300
# Half a secret looks like none: so much is read of a text that is cut once it is clean.
_MOST_READ: Final = 8_000
# Tools that change a file, by what their names begin with in lower case.
_CHANGES: Final = (
    "edit", "write", "multiedit", "notebookedit", "apply_patch", "str_replace", "create",
)  # fmt: skip
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
# A search that finds nothing ends with 1, and is no error.
_SEARCHES: Final = frozenset(
    """
    grep rg ag find ls cat head tail sed awk test diff which cmp curl wget ps pgrep
    """.split()  # noqa: SIM905 - one a line were as long as the rest
)


@dataclass(slots=True)
class Failure:
    """A command that failed: what it said, and what was done since."""

    command: str
    error: str
    deeds: list[str] = field(default_factory=list)


@dataclass(slots=True)
class State:
    """What is known of a session so far."""

    calls: dict[str, dict[str, str | None]] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)
    request: str | None = None
    files: list[str] = field(default_factory=list)
    failing: str | None = None
    tasks: dict[str, bool] = field(default_factory=dict)
    added: list[str] = field(default_factory=list)
    # The first and the last moment that any turn tells, whatever order its clock gave them.
    began: str | None = None
    ended: str | None = None
    # The lowest of those who sent turns: what is made of all of them is nobody's of a higher one.
    origin: Origin | None = None

    @classmethod
    def of(cls, stored: dict[str, Any] | None) -> "State":
        """Return a state as `asdict` stored it."""
        known = {one.name for one in fields(cls)}
        values = {name: value for name, value in (stored or {}).items() if name in known}
        failures = values.pop("failures", {})
        return cls(**values, failures={key: Failure(**one) for key, one in failures.items()})

    @property
    def span(self) -> tuple[datetime, datetime] | None:
        """When the session began and ended so far; None where no turn tells a time."""
        if self.began is None or self.ended is None:
            return None
        return datetime.fromisoformat(self.began), datetime.fromisoformat(self.ended)

    def pass_by(self, moments: Iterable[datetime]) -> None:
        """Take in when turns were."""
        told = [at.astimezone(UTC).isoformat(timespec="microseconds") for at in moments]
        self.began = min([*told, *_some(self.began)], default=None)
        self.ended = max([*told, *_some(self.ended)], default=None)

    def take_from(self, origin: Origin) -> None:
        """Take in whose turns they were."""
        self.origin = lowest((self.origin or origin, origin))

    def stored(self) -> dict[str, Any]:
        """Return it as it is stored."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Extract:
    """Something worth keeping: a statement, or a fix with its error's signature and its command.

    An `error` is no memory: it is counted in how many sessions it comes up.
    """

    kind: str
    text: str
    offset: int
    at: datetime | None
    speaker: str = "user"
    signature: str | None = None
    command: str | None = None
    in_passing: bool = False


def fold(
    state: State, turns: Iterable[tuple[int, Turn]], clean: Callable[[str], str] = str
) -> Iterator[Extract]:
    """Yield what is worth keeping of turns that go on where `state` is, and bring that on.

    Whatever the state keeps is made `clean` before, and cut after that: it is stored.
    """
    for offset, turn in turns:
        if turn.role == "user":
            _asked(state, turn.text, clean)
            for said in statements(turn.text):
                yield Extract(said.kind, said.text, offset, turn.at, in_passing=said.in_passing)
        elif turn.role == "tool":
            yield from _gave(state, offset, turn, clean)
        elif turn.tool and not turn.tasks:
            _called(state, turn, clean)
        else:
            if tasks := turn.tasks or boxes_of(turn.text):
                _take_tasks(state, tasks, clean)
            for said in marked(turn.text):
                yield Extract(said.kind, said.text, offset, turn.at, speaker="assistant")


def _asked(state: State, text: str, clean: Callable[[str], str]) -> None:
    # Thanks at the end are no request, and a greeting alone leaves nothing to the next session.
    if not is_small_talk(text):
        state.request = clean(text[:_MOST_READ])[:_MOST_REQUEST]


def handoff_of(state: State) -> str | None:
    """Return what the next session should know where nobody wrote it; None of an empty one."""
    is_open = [task for task, is_done in state.tasks.items() if not is_done]
    if not (state.request or state.files or is_open):
        return None
    parts = ["Automatic handoff, as nobody wrote one."]
    if state.request:
        parts.append(f"Last request: {state.request}")
    if state.files:
        parts.append("Files touched: " + ", ".join(state.files))
    if state.failing:
        parts.append(f"Last failing command: `{state.failing}`")
    if is_open:
        parts.append("Open:\n" + "\n".join(f"- [ ] {task}" for task in is_open))
    return "\n\n".join(parts)


def tasks_text(state: State) -> str | None:
    """Return the tasks of a session as a list, with what is done; None where there are none."""
    if not state.tasks:
        return None
    lines = (f"- [{'x' if is_done else ' '}] {task}" for task, is_done in state.tasks.items())
    return "Tasks of a session:\n" + "\n".join(lines)


def _take_tasks(state: State, told: Tasks, clean: Callable[[str], str]) -> None:
    """Bring the tasks up to date: of a list before, what is done stays and the rest is gone."""
    if told.listed:
        kept = {task: True for task, is_done in state.tasks.items() if is_done}
        state.tasks = kept | {clean(task)[:_MOST_TASK]: done for task, done in told.listed}
    elif told.added:
        task = clean(told.added)[:_MOST_TASK]
        state.added = [*state.added, task][:_MOST_ADDED]
        state.tasks = {**state.tasks, task: False}
    elif told.done and (task := "".join(state.added[told.done - 1 : told.done])):
        state.tasks[task] = True
    for task in sorted(state.tasks, key=lambda task: not state.tasks[task])[:-_MOST_TASKS]:
        del state.tasks[task]


def _called(state: State, turn: Turn, clean: Callable[[str], str]) -> None:
    """Remember a call, and what it does about what failed before."""
    line = clean(turn.command)[:_MOST_COMMAND] if turn.command else None
    command = command_of(line).text if line else None
    # On one line: what a name writes below it were words of ours.
    file = _CONTROL.sub(" ", clean(turn.file))[:_MOST_FILE] if turn.file else None
    if turn.call:
        state.calls[turn.call] = {"command": line}
        while len(state.calls) > _MOST_CALLS:
            del state.calls[next(iter(state.calls))]
    deed = None
    if file and (turn.tool or "").lower().startswith(_CHANGES):
        deed = f"changed {file}"
        state.files = [*(one for one in state.files if one != file), file][-_MOST_FILES:]
    elif command and not _is_search(command):
        deed = f"ran `{command[:_MOST_DEED]}`"
    for key, failure in state.failures.items():
        if deed and key != command and deed not in failure.deeds:
            failure.deeds = [*failure.deeds, deed][-_MOST_DEEDS:]


def _gave(state: State, offset: int, turn: Turn, clean: Callable[[str], str]) -> Iterator[Extract]:
    """Note a failure, or that what failed before passes now: then what was done is a fix."""
    call = state.calls.pop(turn.call, None) if turn.call else None
    if not call or not call["command"]:
        return
    ran = command_of(call["command"])
    failed = None if _is_search(ran.text) else ran.outcome(turn.text, failed=turn.failed)
    if failed:
        if error := _failed(state, ran.text, turn.text, clean):
            signature = signature_of(error)
            yield Extract("error", error, offset, turn.at, "assistant", signature, ran.text)
    elif failed is False:
        yield from _passed(state, ran.text, offset, turn)


def _failed(state: State, command: str, output: str, clean: Callable[[str], str]) -> str | None:
    """Note that a command failed, and return what it says of it."""
    state.failing = command[:_MOST_DEED]
    error, before = error_of(clean(output)), state.failures.get(command)
    if error is None:
        return None
    if before is None or signature_of(before.error) != signature_of(error):
        state.failures.pop(command, None)
        state.failures[command] = Failure(command, error)
    while len(state.failures) > _MOST_FAILURES:
        del state.failures[next(iter(state.failures))]
    return error


def _passed(state: State, command: str, offset: int, turn: Turn) -> Iterator[Extract]:
    if state.failing == command[:_MOST_DEED]:
        state.failing = None
    failure = state.failures.pop(command, None)
    if failure and failure.deeds:
        done = "\n".join(f"- {deed}" for deed in failure.deeds)
        text = f"`{command}` failed: {failure.error}\n\nWhat was done before it passed:\n{done}"
        signature = signature_of(failure.error)
        yield Extract("fix", text, offset, turn.at, "assistant", signature, command)


def _some(text: str | None) -> list[str]:
    return [text] if text else []


def _is_search(command: str) -> bool:
    """Return whether a command only looks for something."""
    return command.split(" ", 1)[0] in _SEARCHES or command.startswith(("git grep", "git diff"))
