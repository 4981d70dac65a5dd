"""A SurrealDB server for tests: the embedded engine behind a real WebSocket at /rpc.

Nothing here imitates the database. The body of a binary RPC message is what the embedded engine
takes and gives, so parsing, permissions, transactions, storage and error texts are the engine's
own. The server adds what a WebSocket needs: the socket, and one engine session for each of them.

A folder can be opened by one engine handle only, and a handle's default session is an owner
without signing in. Each WebSocket therefore gets a session of its own by the engine's `attach`
method, and that session's id is added to every request of the socket. Such a session begins
anonymous: the engine checks `signin`, refuses `query` before it, and keeps `use` and `let` from
the neighbours. What differs from a server binary: no live queries, no client-side transactions,
no streamed answers (the client asks once, is told `Method not found`, and stays with whole
answers), and each start writes the root user anew: the password given is the one that holds.

As a process of its own: `python tests/servers/surreal_server.py --port N --path DIR --user root
--password secret` prints `ready ws://127.0.0.1:N/rpc` once it listens; SIGTERM and SIGINT end it.
"""

import argparse
import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from surrealdb.data.cbor import decode, encode
from surrealdb_embedded import AsyncEmbeddedDB
from websockets import Subprotocol
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

HOST = "127.0.0.1"
PATH = "/rpc"
READY = "ready "

# What a server accepts by default: 128 MiB in one message.
MESSAGE_LIMIT_BYTES = 128 * 1024 * 1024

# A process is ready within a second, or with its machine under load within ten.
READY_WAIT_SECONDS = 30.0

# The first byte of a CBOR map with n entries is 0xA0 + n, as long as n stays below 23.
CBOR_MAP = 0xA0
CBOR_MAP_ENTRIES = range(1, 23)


@dataclass(frozen=True)
class Credentials:
    """The root user that the server defines when it starts."""

    user: str = "root"
    password: str = "secret"  # noqa: S105 - a fixture's


class SurrealServer:
    """Serve one store (`mem://` or `surrealkv://PATH`) inside the running event loop.

    `port` 0 takes a free one at the first start and keeps it for later starts. A `mem://` store
    is empty again after each start.
    """

    def __init__(
        self, store: str, *, port: int = 0, credentials: Credentials | None = None
    ) -> None:
        self.store = store
        self.port = port
        self.credentials = credentials or Credentials()
        self._engine: AsyncEmbeddedDB | None = None
        self._listener: Server | None = None

    @property
    def url(self) -> str:
        """The address clients connect to; known once the port is."""
        return f"ws://{HOST}:{self.port}{PATH}"

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        """Open the store, define the root user, listen; raises RuntimeError for a locked store."""
        if self._listener is not None:
            raise RuntimeError("the server is running already")
        engine = AsyncEmbeddedDB(self.store)
        await engine.connect()
        try:
            await _define_root(engine, self.credentials)
            self._listener = await serve(
                self._serve_socket,
                HOST,
                self.port,
                subprotocols=[Subprotocol("cbor")],
                process_request=_refuse_other_paths,
                compression=None,
                max_size=MESSAGE_LIMIT_BYTES,
                ping_interval=None,
            )
        except BaseException:
            await engine.close()
            raise
        self._engine = engine
        self.port = next(iter(self._listener.sockets)).getsockname()[1]

    async def stop(self) -> None:
        """Go away like a server that dies: no closing handshake, requests under way dropped."""
        listener, self._listener = self._listener, None
        engine, self._engine = self._engine, None
        if listener is not None:
            listener.close(close_connections=False)
            self._cut(listener)
            await listener.wait_closed()
        if engine is not None:
            await engine.close()

    def disconnect_clients(self) -> int:
        """Cut every open socket while the server goes on listening; tells how many there were."""
        return 0 if self._listener is None else self._cut(self._listener)

    @staticmethod
    def _cut(listener: Server) -> int:
        connections = listener.connections
        for connection in connections:
            connection.transport.abort()
        return len(connections)

    async def _serve_socket(self, connection: ServerConnection) -> None:
        engine = self._engine
        if engine is None:
            return
        session = str(uuid.uuid4())
        await _call(engine, "attach", session=session)
        requests: set[asyncio.Task[None]] = set()
        try:
            async for message in connection:
                data = message.encode() if isinstance(message, str) else message
                request = asyncio.create_task(_answer(connection, engine, session, data))
                requests.add(request)
                request.add_done_callback(requests.discard)
        except ConnectionClosed:
            pass
        finally:
            for request in requests:
                request.cancel()
            await asyncio.gather(*requests, return_exceptions=True)
            await _call(engine, "detach", session=session)


async def _define_root(engine: AsyncEmbeddedDB, credentials: Credentials) -> None:
    # PASSWORD takes a literal only; JSON's escapes are SurrealQL's.
    password = json.dumps(credentials.password, ensure_ascii=False)
    statement = f"DEFINE USER OVERWRITE $user ON ROOT PASSWORD {password} ROLES OWNER"
    answer = await _call(engine, "query", [statement, {"user": credentials.user}])
    if any(result["status"] != "OK" for result in answer["result"]):
        raise RuntimeError(f"root user not defined: {answer}")


async def _call(
    engine: AsyncEmbeddedDB, method: str, params: list[Any] | None = None, **fields: str
) -> dict[str, Any]:
    request = {"id": method, "method": method, "params": params or [], **fields}
    answer: dict[str, Any] = decode(await engine.execute(encode(request)))
    if "error" in answer:
        raise RuntimeError(f"{method} failed: {answer['error']}")
    return answer


async def _answer(
    connection: ServerConnection, engine: AsyncEmbeddedDB, session: str, request: bytes
) -> None:
    try:
        response = await engine.execute(add_session(request, session))
    except ValueError as error:
        # Unreadable, so there is no id to answer to: a server says as much and goes on.
        parse_error = {"code": -32700, "message": f"Parse error: {error}"}
        response = encode({"error": parse_error})
    with contextlib.suppress(ConnectionClosed):
        await connection.send(response)


def add_session(request: bytes, session: str) -> bytes:
    """Put the session's id before a request's other fields; the engine takes the last of two.

    The bytes are spliced because decoding and encoding again is slow for large requests and
    could change a value on its way. A request that names a session of its own keeps it.
    """
    if not request or request[0] - CBOR_MAP not in CBOR_MAP_ENTRIES:
        return request
    return bytes([request[0] + 1]) + encode("session") + encode(session) + request[1:]


def _refuse_other_paths(connection: ServerConnection, request: Request) -> Response | None:
    if request.path == PATH:
        return None
    return connection.respond(HTTPStatus.NOT_FOUND, "not found\n")


class SurrealProcess:
    """The same server in a process of its own, to be killed, frozen and started again."""

    def __init__(
        self,
        path: Path,
        *,
        port: int = 0,
        credentials: Credentials | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.path = path
        self.port = port
        self.credentials = credentials or Credentials()
        self._environment = os.environ | (environment or {})
        self._process: asyncio.subprocess.Process | None = None

    @property
    def url(self) -> str:
        """The address clients connect to; known once the port is."""
        return f"ws://{HOST}:{self.port}{PATH}"

    async def start(self) -> None:
        """Start the process and wait for its ready line; raises RuntimeError with its complaint."""
        options = {
            "--port": str(self.port),
            "--path": str(self.path),
            "--user": self.credentials.user,
            "--password": self.credentials.password,
        }
        words = [word for option in options.items() for word in option]
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, __file__, *words, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=self._environment,
        )  # fmt: skip
        assert self._process.stdout is not None
        try:
            async with asyncio.timeout(READY_WAIT_SECONDS):
                line = (await self._process.stdout.readline()).decode()
        except TimeoutError:
            await self.send_signal(signal.SIGKILL)
            raise
        if not line.startswith(READY):
            _, complaint = await self._process.communicate()
            raise RuntimeError(f"no server: {complaint.decode()}")
        self.port = int(line.removesuffix(f"{PATH}\n").rpartition(":")[2])

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.send_signal(signal.SIGKILL)

    async def send_signal(self, number: signal.Signals) -> None:
        """Send a signal; SIGKILL and SIGTERM are waited for, SIGSTOP and SIGCONT are not."""
        if self._process is None or self._process.returncode is not None:
            return
        self._process.send_signal(number)
        if number in {signal.SIGKILL, signal.SIGTERM}:
            await self._process.communicate()


async def _run(options: argparse.Namespace) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    credentials = Credentials(options.user, options.password)
    async with SurrealServer(
        f"surrealkv://{options.path}", port=options.port, credentials=credentials
    ) as server:
        sys.stdout.write(f"{READY}{server.url}\n")
        sys.stdout.flush()
        await stopped.wait()


def main() -> None:
    """Read the command line and serve until a signal."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--port", type=int, required=True, help="0 takes a free one")
    parser.add_argument("--path", type=Path, required=True, help="folder of the store")
    parser.add_argument("--user", default="root")
    parser.add_argument("--password", required=True)
    asyncio.run(_run(parser.parse_args()))


if __name__ == "__main__":
    main()
