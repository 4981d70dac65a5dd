"""The gate before all work: a turn for each request, or a refusal at once; and an end to waiting.

Work is never broken off: a write that was cancelled halfway would leave its caller in doubt, and a
database that is being opened would stay locked. What is overdue is answered 503, and its turn is
given back when it has ended.
"""

import asyncio
from typing import Final

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.access.caller import caller
from service.errors import Overloaded, TookTooLong
from service.settings import Settings
from service.web.lanes import Lane
from service.web.problems import RPC_PATHS, problem

# Must be heard when everything else is refused.
_ALWAYS_OPEN: Final = frozenset({"/health/live"})
# Each of its messages asks through this gate again, and would wait for its own turn.
_ASKS_AGAIN: Final = RPC_PATHS
_WATCHING: Final = frozenset({"/health/ready", "/metrics"})
# Read although they are POSTs.
_READING: Final = frozenset(
    {"/search", "/graph-recall", "/session-context", "/fixes/lookup", "/context/pack", "/cascade"}
)
# Whatever goes through a whole store or waits for a scan.
_LONG: Final = ("/ingest/scan", "/reflect", "/consolidate", "/index", "/graph/", "/stats", "/audit")
# To look at a job is to read a row.
_JOBS: Final = "/consolidate/jobs/"
# Both are asked every few seconds by a few; an answer of /health/ready takes 6 s at worst.
_WATCHERS: Final = 32
_WATCHER_SECONDS: Final = 10.0


class Lanes:
    """The lanes of one service: what reads, writes, goes on long, or watches it."""

    def __init__(self, settings: Settings) -> None:
        patience = settings.wait_timeout_seconds
        self.reads = Lane(
            "reads", settings.reads_at_once, settings.reads_waiting, patience,
            settings.read_timeout_seconds,
        )  # fmt: skip
        self.writes = Lane(
            "writes", settings.writes_at_once, settings.writes_waiting, patience,
            settings.write_timeout_seconds,
        )  # fmt: skip
        self.jobs = Lane(
            "jobs", settings.jobs_at_once, settings.jobs_waiting, patience,
            settings.job_timeout_seconds,
        )  # fmt: skip
        self.watchers = Lane("watchers", _WATCHERS, 0, patience, _WATCHER_SECONDS)

    def every(self) -> tuple[Lane, ...]:
        """Return all lanes."""
        return self.reads, self.writes, self.jobs, self.watchers

    def of(self, method: str, path: str) -> Lane | None:
        """Return the lane of a request; None for what passes always."""
        if path in _ALWAYS_OPEN or path in _ASKS_AGAIN:
            return None
        if path in _WATCHING:
            return self.watchers
        if path.startswith(_LONG) and not path.startswith(_JOBS):
            return self.jobs
        is_reading = method in {"GET", "HEAD", "OPTIONS"} or path in _READING
        return self.reads if is_reading else self.writes


class Gate:
    """Lets requests in by their lane; answers 503 to those for which there is no turn."""

    def __init__(self, app: ASGIApp, lanes: Lanes) -> None:
        self.app = app
        self.lanes = lanes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Wait for a turn, answer, and give the turn back."""
        lane = self.lanes.of(scope["method"], scope["path"]) if scope["type"] == "http" else None
        if lane is None:
            await self.app(scope, receive, send)
            return
        try:
            await lane.enter(caller().rival)
        except Overloaded as error:
            await problem(Request(scope), error)(scope, receive, send)
            return
        answer = _Answer(lane, scope, receive, send)
        timer = asyncio.get_running_loop().call_later(lane.work_seconds, answer.give_up)
        try:
            await self.app(scope, receive, answer.send)
        finally:
            timer.cancel()
            lane.leave()


class _Answer:
    """The one answer to a request: the work's own, or at the time limit the refusal."""

    def __init__(self, lane: Lane, scope: Scope, receive: Receive, send: Send) -> None:
        self._lane = lane
        self._scope = scope
        self._receive = receive
        self._send = send
        self._has_begun = False
        self._refusal: asyncio.Task[None] | None = None

    async def send(self, message: Message) -> None:
        """Pass the work's answer on, unless it comes too late."""
        if self._refusal is None:
            self._has_begun = True
            await self._send(message)

    def give_up(self) -> None:
        """Answer that it takes too long; an answer that has begun is left to its end."""
        if not self._has_begun:
            self._refusal = asyncio.create_task(self._refuse())

    async def _refuse(self) -> None:
        name, seconds = self._lane.name, self._lane.work_seconds
        self._lane.refused["overdue"] = self._lane.refused.get("overdue", 0) + 1
        setting = f"MEMORY_{name.removesuffix('s').upper()}_TIMEOUT_SECONDS"
        msg = (
            f"No answer within {seconds:g} s ({setting}). What was begun goes on: a write may "
            "still be stored, and sending it again is harmless."
        )
        await problem(Request(self._scope), TookTooLong(msg))(
            self._scope, self._receive, self._send
        )
