"""What of a session is still to be sent: files beside the client, in order, each until it arrived.

A capture is written down before anything is sent, and taken away when the service has it. Cut off
at any point it is sent again; the service knows by its offset what it has read. So nothing is lost
and nothing comes twice, whoever is killed. One that is refused waits with what follows it of its
session, and keeps nothing of another session from arriving.
"""

import fcntl
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from carrying import Refused, Service
from left_out import LeftOut
from place import Paths, Place
from stretches import lines_before, stretches

# All that waits, sessions whose place is known.
MOST_WAITING = 64_000_000
MOST_SESSIONS = 200
# What the service will not take however often it is asked. It names each such problem; another
# program that listens where it was, or a proxy before it, knows no such name.
USELESS = {400, 413, 415, 422}
NAMED = "/problems/"
SWITCHED_OFF = f"{NAMED}switched-off"


class Full(Exception):
    """There is no room for more that waits."""


class Spool:
    """The captures of one client that wait.

    `complain` is told what the service refuses, and what it warns of.
    """

    def __init__(self, folder: Path, complain: Callable[[str], None]) -> None:
        self._folder = folder
        self._waiting = folder / "spool"
        self._places = folder / "sessions.json"
        self._refused = folder / "refused.json"
        self._complain = complain

    def capture(self, program: str, body: dict[str, Any], place: Place, *, is_final: bool) -> None:
        """Write down what was added to a session's transcript since the last time.

        Past the room that there is it stays in the transcript, for the next time; raises Full then.
        """
        session, path = session_of(body), body.get("transcript_path")
        if session is None:
            return
        with self._locked("capture"):
            places = self._read_places()
            start = places.get(session, 0)
            if isinstance(path, str) and os.path.isfile(path) and os.path.getsize(path) < start:
                self._complain(f"session {session}: {path} is shorter than what was read of it")
            item = {"session": session, "client": program, **place.told()}
            left_out = LeftOut(Paths().is_off, place.folder, partial(lines_before, path, start))
            for text, size in stretches(path, start):
                if text:
                    self._add(item | {"text": left_out.of_text(text), "offset": start})
                start += size
                self._keep_places(places, session, start)
            if is_final:
                self._add(item | {"text": "", "offset": start, "final": True})

    def pass_over(self, body: dict[str, Any]) -> None:
        """Keep nothing of what a session's transcript holds by now, here or anywhere later."""
        session, path = session_of(body), body.get("transcript_path")
        if session is None or not isinstance(path, str) or not os.path.isfile(path):
            return
        with self._locked("capture"):
            self._keep_places(self._read_places(), session, os.path.getsize(path))

    def drain(self, service: Service, until: float) -> None:
        """Send what waits, each session's in its order, until all is or the time is over.

        A session that is refused holds up no other: those that were before come last, and up to the
        first that is again, so that however many they are they cost one question. Whoever comes
        while another sends leaves it to that one. Raises what sending raises but for refusals,
        which are complained of.
        """
        if not self._waiting.is_dir() or not any(self._waiting.glob("*.json")):
            return
        with self._locked("drain", waits=False) as has_lock:
            queues = self._queues() if has_lock else {}
            before = [name for name in self._read_refused() if name in queues]
            for name in [*(name for name in queues if name not in before), *before]:
                is_refused = self._send(service, name, queues[name], until)
                if is_refused and name in before:
                    return

    def _send(self, service: Service, name: str, paths: list[Path], until: float) -> bool:
        """Send what waits of a session; returns whether some of it has to wait on."""
        for path in paths:
            if time.monotonic() >= until:
                return False
            if why := self._hand_over(service, path, until):
                self._keep_refused(name, is_refused=True)
                self._complain(f"a session's captures wait, as one {why}")
                return True
            path.unlink(missing_ok=True)
            self._keep_refused(name, is_refused=False)
        return False

    def _hand_over(self, service: Service, path: Path, until: float) -> str | None:
        """Send a capture; returns why it has to wait, None where it can go."""
        try:
            # Half a file, of a disk that was full, says nothing: it can only go.
            item = read_item(path)
        except OSError as error:
            return f"cannot be read: {error}"
        try:
            if item is not None:
                for warning in deliver(service, item, until):
                    self._complain(f"session {item.get('session')}: {warning}")
        except Refused as refused:
            if not is_for_good(refused):
                return f"is refused: {refused}"
            if not is_switched_off(refused):
                self._complain(f"a capture that is refused for good is dropped: {refused}")
        return None

    def _queues(self) -> dict[str, list[Path]]:
        """Return what waits by its session, that with the oldest first."""
        queues: dict[str, list[Path]] = {}
        for path in self._in_order():
            # Older versions wrote no session into a name.
            name = path.stem.partition("-")[2] or name_of(read_item(path) or {})
            queues.setdefault(name, []).append(path)
        return queues

    def _read_refused(self) -> list[str]:
        """Return the sessions that are refused, that which was asked for last at the end."""
        try:
            names = json.loads(self._refused.read_text("utf-8"))
        except (OSError, ValueError):
            return []
        return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []

    def _keep_refused(self, name: str, *, is_refused: bool) -> None:
        before = self._read_refused()
        names = [one for one in before if one != name] + [name] * is_refused
        if names != before:
            write_whole(self._refused, json.dumps(names[-MOST_SESSIONS:]).encode())

    def _in_order(self) -> list[Path]:
        return sorted(self._waiting.glob("*.json"))

    def _add(self, item: dict[str, Any]) -> None:
        """Write down a capture so that it outlives this machine's power; raises Full."""
        waiting = self._in_order()
        if sum(path.stat().st_size for path in waiting if path.exists()) > MOST_WAITING:
            raise Full(
                f"{MOST_WAITING // 1_000_000} MB wait for the service in {self._waiting}: what is "
                "said now stays in the session's transcript until they are sent"
            )
        number = self._next_number(waiting)
        content = json.dumps(item).encode()
        write_whole(self._waiting / f"{number:012}-{name_of(item)}.json", content)

    def _next_number(self, waiting: list[Path]) -> int:
        """Return a number behind all that were given, whatever a clock says."""
        path = self._folder / "number"
        try:
            last = int(path.read_text())
        except (OSError, ValueError):
            last = 0
        numbers = (one.stem.partition("-")[0] for one in waiting)
        number = max([last, *(int(one) for one in numbers if one.isdecimal())]) + 1
        write_whole(path, str(number).encode())
        return number

    def _read_places(self) -> dict[str, Any]:
        try:
            places = json.loads(self._places.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return (
            {k: v for k, v in places.items() if isinstance(v, int)}
            if isinstance(places, dict)
            else {}
        )

    def _keep_places(self, places: dict[str, Any], session: str, offset: int) -> None:
        places.pop(session, None)
        places[session] = offset
        for old in list(places)[:-MOST_SESSIONS]:
            del places[old]
        write_whole(self._places, json.dumps(places).encode())

    @contextmanager
    def _locked(self, name: str, *, waits: bool = True) -> Iterator[bool]:
        """Hold a lock that ends with this process, however that ends."""
        os.makedirs(self._waiting, mode=0o700, exist_ok=True)
        opened = os.open(self._folder / f"{name}.lock", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            try:
                fcntl.flock(opened, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
            except BlockingIOError:
                yield False
            else:
                yield True
        finally:
            os.close(opened)


def session_of(body: dict[str, Any]) -> str | None:
    """Return the name of a hook's session, on one line; None where it says none."""
    session = body.get("session_id")
    return " ".join(session.split())[:200] or None if isinstance(session, str) else None


def read_item(path: Path) -> dict[str, Any] | None:
    """Return a capture that waits; None of half a one."""
    try:
        item: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except ValueError:
        return None
    return item


def name_of(item: dict[str, Any]) -> str:
    """Return what tells a capture's session from others, in the name of a file."""
    told = json.dumps([item.get("session"), item.get("agent")])
    return hashlib.sha256(told.encode()).hexdigest()[:8]


def deliver(service: Service, item: dict[str, Any], until: float) -> list[object]:
    """Send a capture; returns what the service warns of, having it. Raises what sending raises."""
    answer = service.ask("/observe", item, until)
    if not isinstance(answer, dict) or "offset" not in answer:
        # Whoever answered is not the service: a proxy, a page to log in.
        raise Refused(502, str(answer))
    warnings = answer.get("warnings")
    return warnings if isinstance(warnings, list) else []


def is_for_good(refused: Refused) -> bool:
    """Return whether the service will not take a capture however often it is asked."""
    is_useless = refused.status in USELESS and NAMED in str(refused)
    return is_useless or is_switched_off(refused)


def is_switched_off(refused: Refused) -> bool:
    """Return whether memory is switched off there; two that write at once are answered 409 too."""
    return refused.status == 409 and SWITCHED_OFF in str(refused)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that nobody else reads, whole or not at all."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        opened = os.open(beside, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        with os.fdopen(opened, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError:
        # A disk that is full has its last room back.
        beside.unlink(missing_ok=True)
        raise
