"""A turn of a session: carried to the service, and its answer back, within the time there is.

What is told and kept decides the service. Here is only what it cannot do from where it runs: say
which project this is, hand over what was written of the session, and look whether what a memory
names is still there.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any

from carrying import Service
from left_out import LeftOut
from place import Paths, Place, Unsound, find_place
from spool import Spool
from stale import with_marks

# Seconds until an answer is given, whatever is still going on; each below what the program
# waits for. Claude Code gives all hooks of a session's end 1.5 seconds together, Codex 3.
LIMITS = {
    "SessionStart": 5.0,
    "SubagentStart": 2.5,
    "UserPromptSubmit": 4.0,
    "PostToolUse": 2.5,
    "PostToolUseFailure": 2.5,
    "Stop": 8.0,
    "SessionEnd": 0.6,
}
LIMIT = 3.0
TELLS = {"SessionStart", "SubagentStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure"}
# The fields that are carried. Others hold what nobody asks for, such as the last answer.
CARRIED = (
    "hook_event_name", "session_id", "agent_id", "agent_type", "source", "reason", "trigger",
    "prompt", "tool_name", "tool_input", "tool_response", "error", "cwd",
)  # fmt: skip
MOST_CHARS = 9_500
# What is kept free for what was looked at here.
ROOM_FOR_MARKS = 500
MOST_TEXT = 20_000
MOST_INPUT = 64_000_000
# What programs call the file of a tool, as the service reads it.
FILE_FIELDS = ("file_path", "notebook_path", "path")


class Answer:
    """The one answer of this process: whoever gives it first ends it.

    `so_far` is what is given when the time is over: nothing, until there is something.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.so_far: dict[str, Any] = {}

    def give(self, reply: dict[str, Any]) -> None:
        """Print an answer and end the process, a good one, at once."""
        self._lock.acquire()
        try:
            sys.stdout.write(json.dumps(reply) + "\n")
            sys.stdout.flush()
        finally:
            os._exit(0)

    def give_after(self, seconds: float, first: Callable[[], None] = int) -> threading.Timer:
        """Give what there is so far when so much time has passed; `first` is done before."""

        def give() -> None:
            with suppress(Exception):
                first()
            self.give(self.so_far)

        timer = threading.Timer(max(0.05, seconds), give)
        timer.daemon = True
        timer.start()
        return timer


class Failures:
    """What goes wrong in this process: a line for `graph-memory doctor`."""

    def __init__(self, home: Path) -> None:
        self._path = home / "graph-memory" / "last-failure"
        self._told: list[str] = []

    def note(self, told: str) -> None:
        """Leave it beside what went wrong before; where even that fails, nothing."""
        self._told.append(told[:500])
        try:
            if self._path.parent.is_dir():
                moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
                self._path.write_text(f"{moment} {'; '.join(self._told)}"[:2000] + "\n", "utf-8")
                self._path.chmod(0o600)
        except OSError:
            pass

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note what goes wrong, and go on."""
        try:
            yield
        except Exception as error:
            self.note(repr(error))


def main() -> None:
    """Answer one hook; `drain` in place of a hook sends what waits."""
    began, answer = time.monotonic(), Answer()
    timer = answer.give_after(LIMIT)
    program, home = sys.argv[1], Path(sys.argv[2])
    failures = Failures(home)
    try:
        if sys.argv[3:] == ["drain"]:
            timer.cancel()
            spool = Spool(home / "graph-memory", failures.note)
            with failures.noted():
                finish(program, spool, failures)
            spool.drain(Service.of(home, program), time.monotonic() + 60)
        else:
            body = json.loads(sys.stdin.buffer.read(MOST_INPUT))
            timer.cancel()
            limit = LIMITS.get(str(body.get("hook_event_name")), LIMIT)
            ends = body.get("hook_event_name") == "SessionEnd" and not body.get("agent_id")
            rest = partial(later, program, home, body) if ends else int
            answer.give_after(began + limit - time.monotonic(), rest)
            turn(program, home, body, began + limit, answer, failures)
    except BaseException as error:  # whatever it is, the session goes on
        failures.note(repr(error))
    answer.give(answer.so_far)


def turn(
    program: str, home: Path, body: dict[str, Any], until: float, answer: Answer, failures: Failures
) -> None:
    """Find the answer to a hook."""
    event, service = body.get("hook_event_name"), Service.of(home, program)
    spool = Spool(home / "graph-memory", failures.note)
    is_end = event in ("Stop", "SessionEnd") and not body.get("agent_id")
    place = place_of(body, failures)
    if place is None or is_left_out(body, place):
        if place is None and is_end:
            spool.pass_over(body)
        return
    with failures.noted():
        if is_end:
            spool.capture(program, body, place, is_final=event == "SessionEnd")
    # What cannot be sent keeps nobody from being told; who is told nothing need not wait again.
    with failures.noted() if event in TELLS else nullcontext():
        if event == "SessionEnd":
            later(program, home)
        elif event == "Stop":
            spool.drain(service, until - 1.5)
        elif event in ("SessionStart", "UserPromptSubmit"):
            # What was told while the service was away may be what is asked for now.
            spool.drain(service, time.monotonic() + (2.0 if event == "SessionStart" else 0.7))
    # What is to be told takes a moment to write; a session's end is short enough without.
    left = 0.3 if event in TELLS else 0.1
    told = service.ask(f"/hooks/{program}", carried(body, place.told()), until - left)
    if event in TELLS and (text := text_of(told)):
        # Looking may take longer than there is time: then it is told without marks.
        answer.so_far = reply(event, text)
        answer.so_far = reply(event, with_marks(text, place.root, ROOM_FOR_MARKS))


def place_of(body: dict[str, Any], failures: Failures) -> Place | None:
    """Return where a hook is; None where memory is off, or a file leaves that in doubt: noted."""
    try:
        return find_place(body.get("cwd"))
    except Unsound as unsound:
        failures.note(str(unsound))
        return None


def text_of(told: object) -> str:
    """Return what the service has to tell; nothing where it answered otherwise."""
    output = told.get("hookSpecificOutput") if isinstance(told, dict) else None
    text = output.get("additionalContext") if isinstance(output, dict) else None
    return text if isinstance(text, str) else ""


def reply(event: object, text: str) -> dict[str, Any]:
    """Return an answer as the program takes it."""
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text[:MOST_CHARS]}}


def carried(body: dict[str, Any], where: dict[str, Any]) -> dict[str, Any]:
    """Return what is carried of a body, and what only a client knows.

    Without a project it says so, for the folder in the body would be taken for one.
    """
    kept = {name: short(body[name]) for name in CARRIED if name in body}
    own = {"project": None} | where | {"max_chars": MOST_CHARS - ROOM_FOR_MARKS}
    return kept | {"graph_memory": own}


def short(value: object, deep: int = 0) -> object:
    """Return a value with the ends of its long texts alone: there stands what went wrong."""
    if isinstance(value, str):
        return value[-MOST_TEXT:]
    if isinstance(value, dict) and deep < 4:
        return {str(name)[:100]: short(one, deep + 1) for name, one in list(value.items())[:50]}
    if isinstance(value, list) and deep < 4:
        return [short(one, deep + 1) for one in value[-50:]]
    return value if isinstance(value, int | float | bool) or value is None else None


def is_left_out(body: dict[str, Any], place: Place) -> bool:
    """Return whether a tool had a file for which memory is off; what it printed may name one too.

    What stands in a file that it may have names others, and is none.
    """
    answer = None if file_of(body) else [short(body.get("tool_response")), short(body.get("error"))]
    return LeftOut(Paths().is_off, place.folder, tuple).is_named(body.get("tool_input"), answer)


def file_of(body: dict[str, Any]) -> str | None:
    """Return the file that a tool had, where there was one."""
    given = body.get("tool_input")
    paths = map(given.get, FILE_FIELDS) if isinstance(given, dict) else ()
    return next((path for path in paths if isinstance(path, str) and path), None)


def later(program: str, home: Path, body: dict[str, Any] | None = None) -> None:
    """Send what waits from a process of its own: nobody waits for it at a session's end.

    Of a session with a `body` the rest is written down before, for which there was no time.
    """
    words = [sys.executable, "-s", "-S", "-E", "-B", __file__, program, str(home), "drain"]
    started = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    names = ("session_id", "transcript_path", "cwd")
    given = {name: body[name] for name in names if name in body} if body else None
    if started.stdin:
        started.stdin.write(json.dumps(given).encode())
        started.stdin.close()


def finish(program: str, spool: Spool, failures: Failures) -> None:
    """Write down the rest of a session that ended before there was time for it, if it is told."""
    body = json.loads(sys.stdin.buffer.read() or b"null")
    place = place_of(body, failures) if body else None
    if place is not None:
        spool.capture(program, body, place, is_final=True)


if __name__ == "__main__":
    main()
