"""The service's end of one reader: its process, the line to it, and what it has not answered."""

import asyncio
import logging
import os
import socket
import sys
import time
from contextlib import ExitStack, suppress
from itertools import count
from typing import Final

from service.index.resident.agent_index import AgentIndex
from service.readers.messages import (
    LENGTH,
    Answer,
    Ask,
    Attach,
    Attached,
    Detach,
    Expect,
    Taken,
    Told,
    framed,
    unframed,
)

log = logging.getLogger(__name__)

# A reader that has so much to take in yet is given up: it costs less to begin anew.
_MOST_BYTES: Final = 64_000_000
# Longer than any question takes; who has not answered by then hangs.
_PATIENCE_SECONDS: Final = 10.0
# A million memories are read in some seconds.
_READING_TAKES_LONGER: Final = 6
# A reader that ends is started again after so long, doubled with each time until it has answered.
_FIRST_REST_SECONDS: Final = 0.5
_LONGEST_REST_SECONDS: Final = 60.0
_LARGEST_READ: Final = 2**22
# Who writes goes first where cores are few: beside readers as important as the service 16 clients
# that asked back to back left 14 writes a second, beside these 20.
_NICENESS: Final = 10
_NICEST: Final = 19


class ReaderLine:
    """One reader, started as often as it ends; nothing here raises because it is gone.

    `told` are the indexes that it holds copies of, or will as soon as it has read them; `load` is
    what it was told and has not done yet, or will be told in a moment.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.told: dict[str, AgentIndex] = {}
        self.load = 0
        self.starts = 0
        self._attached: set[str] = set()
        self._attaching: dict[str, asyncio.Future[bool]] = {}
        self._asked: dict[int, asyncio.Future[Answer | None]] = {}
        self._numbers = count(1)
        self._process: asyncio.subprocess.Process | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._listening: asyncio.Task[None] | None = None
        self._rest = _FIRST_REST_SECONDS
        self._starts_at = 0.0

    @property
    def is_alive(self) -> bool:
        """Whether it was started and has not ended."""
        return self._writer is not None

    @property
    def is_due(self) -> bool:
        """Whether it is to be started now."""
        return self._writer is None and time.monotonic() >= self._starts_at

    @property
    def pid(self) -> int | None:
        """The number of its process; None where there is none."""
        return self._process.pid if self._process and self.is_alive else None

    def knows(self, agent: str, index: AgentIndex | None) -> bool:
        """Return whether it answers about an agent from a copy of this index.

        Not while it reads a file, of whatever agent: a question would wait until it is through.
        """
        is_told = agent in self._attached and self.told.get(agent) is index
        return is_told and not self._attaching

    async def start(self) -> None:
        """Start its process; raises OSError."""
        self._starts_at = time.monotonic() + _LONGEST_REST_SECONDS  # if it fails
        mine, theirs = socket.socketpair()
        with theirs, ExitStack() as failing:
            failing.callback(mine.close)
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "service.readers.reading", str(theirs.fileno()),
                stdin=asyncio.subprocess.DEVNULL, pass_fds=[theirs.fileno()],
            )  # fmt: skip
            # From the first moment: what it imports takes two seconds of a core.
            nicer = min(os.getpriority(os.PRIO_PROCESS, 0) + _NICENESS, _NICEST)
            os.setpriority(os.PRIO_PROCESS, self._process.pid, nicer)
            failing.pop_all()
        reader, self._writer = await asyncio.open_connection(sock=mine, limit=_LARGEST_READ)
        self.starts += 1
        self._listening = asyncio.create_task(self._listen(reader, self._writer))

    def tell(self, message: Told) -> None:
        """Tell it something that it says nothing to."""
        self._send(framed(message))

    def tell_changes(self, frame: bytes) -> None:
        """Tell it what changed, framed once for all readers."""
        if self.told and self.is_alive:
            self.load += 1
            self._send(frame)

    def expect(self, agent: str, index: AgentIndex) -> None:
        """Let it expect a copy of this index as it is now."""
        if not self.is_alive:
            return
        self.told[agent] = index
        self._attached.discard(agent)
        self.tell(Expect(agent))

    async def attach(self, agent: str, path: str) -> bool:
        """Let it read an expected index; return whether it did."""
        if not self.is_alive:
            return False
        attaching: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._attaching[agent] = attaching
        self.tell(Attach(agent, path))
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS * _READING_TAKES_LONGER):
                await attaching
        except TimeoutError:
            self.end("it does not read a file")
            return False
        return attaching.result()

    def detach(self, agent: str) -> None:
        """Let it forget an agent."""
        if self.told.pop(agent, None) is not None:
            self._attached.discard(agent)
            self.tell(Detach(agent))

    async def ask(self, ask: Ask) -> Answer | None:
        """Return its answer; None where it has none, or ends before."""
        if not self.is_alive:
            return None
        frame = framed(ask)
        future: asyncio.Future[Answer | None] = asyncio.get_running_loop().create_future()
        self._asked[ask.number] = future
        self.load += 1
        self._send(frame)
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                answer = await future
        except TimeoutError:
            self.end(f"it has not answered for {_PATIENCE_SECONDS:g} s")
            return None
        else:
            return answer
        finally:
            self._asked.pop(ask.number, None)

    def next_number(self) -> int:
        """Return a number for a question, another one each time."""
        return next(self._numbers)

    def end(self, reason: str) -> None:
        """Kill it, for it is of no use any more; it is started again after a while."""
        if self._writer is None:
            return
        log.warning("reader %d is given up: %s", self.number, reason)
        if self._process and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.kill()
        self._forget()

    async def close(self) -> None:
        """Close the line, which ends the reader, and wait for that."""
        process, listening = self._process, self._listening
        self._forget()
        if listening:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
        if process is None:
            return
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()

    def _send(self, frame: bytes) -> None:
        if self._writer is None:
            return
        self._writer.write(frame)
        if self._writer.transport.get_write_buffer_size() > _MOST_BYTES:
            self.end("it does not take in as fast as is written")

    async def _listen(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readexactly(LENGTH.size)
                self._hear(unframed(await reader.readexactly(*LENGTH.unpack(head))))
        except (asyncio.IncompleteReadError, OSError):
            # One that was given up for another reason may be followed by another already.
            if writer is self._writer:
                self.end("its process ended")

    def _hear(self, said: Answer | Taken | Attached) -> None:
        match said:
            case Answer(number):
                self.load -= 1
                self._rest = _FIRST_REST_SECONDS
                if (future := self._asked.get(number)) and not future.done():
                    future.set_result(said)
            case Taken():
                self.load -= 1
            case Attached(agent, failure):
                self._hear_attached(agent, failure)

    def _hear_attached(self, agent: str, failure: str | None) -> None:
        if failure is None:
            self._attached.add(agent)
        else:
            log.warning("reader %d lacks agent %s: %s", self.number, agent, failure)
            self.told.pop(agent, None)
        if (future := self._attaching.pop(agent, None)) and not future.done():
            future.set_result(failure is None)

    def _forget(self) -> None:
        """Hold nothing of its process; who waits for it waits no longer."""
        if self._writer:
            self._writer.close()
        self._writer = None
        for asked in self._asked.values():
            if not asked.done():
                asked.set_result(None)
        for attaching in self._attaching.values():
            if not attaching.done():
                attaching.set_result(False)
        self._asked, self._attaching, self.load = {}, {}, 0
        self.told.clear()
        self._attached.clear()
        self._starts_at = time.monotonic() + self._rest
        self._rest = min(2 * self._rest, _LONGEST_REST_SECONDS)
