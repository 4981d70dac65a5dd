"""Tests of the fixture server through the ordinary database client, over a real WebSocket."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import websockets
from surrealdb import (
    AsyncSurreal,
    ConnectionUnavailableError,
    NotAllowedError,
    RecordID,
    ValidationError,
)
from surrealdb.connections.async_ws import AsyncWsSurrealConnection
from surrealdb.data.cbor import decode, encode

from tests.servers.surreal_server import Credentials, SurrealProcess, SurrealServer

pytestmark = pytest.mark.anyio

# Long enough for a neighbour's answer to overtake it, short enough for a test.
SLOW_SECONDS = 1.0

LOCKED = "already locked by another process"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
async def server() -> AsyncIterator[SurrealServer]:
    async with SurrealServer("mem://") as running:
        yield running


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[AsyncWsSurrealConnection]:
    client = AsyncSurreal(url)
    assert isinstance(client, AsyncWsSurrealConnection)
    await client.connect()
    try:
        yield client
    finally:
        await client.close()


async def sign_in(client: AsyncWsSurrealConnection, word: str = "secret") -> None:
    await client.signin({"username": "root", "password": word})
    await client.use("test", "test")


@asynccontextmanager
async def signed_in(url: str) -> AsyncIterator[AsyncWsSurrealConnection]:
    async with opened(url) as client:
        await sign_in(client)
        yield client


def statuses(answer: dict[str, Any]) -> list[str]:
    return [statement["status"] for statement in answer["result"]]


async def test_bound_values_come_back_as_they_went(server: SurrealServer) -> None:
    values: dict[str, Any] = {
        "at": datetime(2026, 2, 13, 15, 30, 0, 123456, tzinfo=UTC),
        "bytes": bytes(range(256)),
        "vector": [index / 384 for index in range(384)],
        "edge": RecordID("references", ["memory:1", "concept:2"]),
        "text": "'; DROP TABLE note; -- \" ` \\ 안녕",
        "count": -(2**40),
    }
    async with signed_in(server.url) as client:
        await client.query("DEFINE TABLE note SCHEMALESS")
        note = RecordID("note", ["a", 7])
        await client.query(
            "CREATE $note CONTENT $values; UPDATE $note SET absent = $absent",
            {"note": note, "values": values, "absent": None},
        )
        rows = await client.query("SELECT * FROM note WHERE id = $note", {"note": note})
    assert rows == [[{"id": note, **values}]]


async def test_a_message_of_several_megabytes_passes_both_ways(server: SurrealServer) -> None:
    blob = bytes(3 * 1024 * 1024)
    async with signed_in(server.url) as client:
        assert await client.query("RETURN $blob", {"blob": blob}) == [blob]


async def test_each_statement_has_its_own_status(server: SurrealServer) -> None:
    async with signed_in(server.url) as client:
        answer = await client.query_raw("CREATE note:1; CREATE note:1; RETURN 3")
    assert statuses(answer) == ["OK", "ERR", "OK"]


async def test_a_failed_transaction_stores_nothing(server: SurrealServer) -> None:
    async with signed_in(server.url) as client:
        await client.query("CREATE note:1")
        answer = await client.query_raw("BEGIN; CREATE note:2; CREATE note:1; COMMIT")
        rows = await client.query("SELECT VALUE id FROM note")
    kinds = [statement.get("kind") for statement in answer["result"]]
    assert kinds == [None, "Query", "AlreadyExists", "Query"]
    assert rows == [[RecordID("note", 1)]]


async def test_two_writers_of_one_record_conflict(server: SurrealServer) -> None:
    transaction = "BEGIN; UPDATE note:1 SET n += 1; SLEEP 100ms; COMMIT"
    async with signed_in(server.url) as first, signed_in(server.url) as second:
        await first.query("CREATE note:1 SET n = 0")
        answers = await asyncio.gather(first.query_raw(transaction), second.query_raw(transaction))
        rows = await first.query("SELECT VALUE n FROM note")
    commits = [answer["result"][-1] for answer in answers]
    refused = [commit for commit in commits if commit["status"] == "ERR"]
    assert [commit["details"] for commit in refused] == [{"kind": "TransactionConflict"}]
    assert rows == [[1]]


@pytest.mark.parametrize(
    ("user", "password"), [("root", "wrong"), ("root", ""), ("nobody", "secret")]
)
async def test_wrong_credentials_are_refused(
    server: SurrealServer, user: str, password: str
) -> None:
    async with opened(server.url) as client:
        with pytest.raises(NotAllowedError) as refusal:
            await client.signin({"username": user, "password": password})
        assert refusal.value.is_invalid_auth
        with pytest.raises(NotAllowedError, match="Anonymous access not allowed"):
            await client.query("RETURN 1")


async def test_a_password_may_hold_quotes() -> None:
    word = "a'b\"c\\d`é"
    async with (
        SurrealServer("mem://", credentials=Credentials(password=word)) as server,
        opened(server.url) as client,
    ):
        await sign_in(client, word)
        assert await client.query("RETURN 1") == [1]


async def test_sockets_share_no_session(server: SurrealServer) -> None:
    async with signed_in(server.url) as first, opened(server.url) as second:
        with pytest.raises(NotAllowedError):
            await second.query("RETURN 1")
        await sign_in(second)
        await second.use("test", "other")
        await second.let("word", "bunny")
        here = await first.query("RETURN [session::db(), $word]")
        there = await second.query("RETURN [session::db(), $word]")
    assert here == [["test", None]]
    assert there == [["other", "bunny"]]


async def test_a_slow_query_delays_nobody(server: SurrealServer) -> None:
    async with signed_in(server.url) as first, signed_in(server.url) as second:
        slow = asyncio.create_task(first.query_raw(f"SLEEP {int(SLOW_SECONDS * 1000)}ms"))
        await asyncio.sleep(0.05)
        answers = await asyncio.gather(first.query_raw("RETURN 1"), second.query_raw("RETURN 2"))
        assert not slow.done()
        assert statuses(await slow) == ["OK"]
    assert [answer["result"][0]["result"] for answer in answers] == [1, 2]


async def test_an_error_answers_its_own_request(server: SurrealServer) -> None:
    async def ask(client: AsyncWsSurrealConnection, number: int) -> object:
        text = "RETURN $number" if number % 3 else "SELEC $number"
        return (await client.query(text, {"number": number}))[0]

    async with signed_in(server.url) as first, signed_in(server.url) as second:
        asked = [ask(client, number) for number in range(30) for client in (first, second)]
        answers = await asyncio.gather(*asked, return_exceptions=True)
    for place, answer in enumerate(answers):
        number = place // 2
        assert answer == number if number % 3 else isinstance(answer, ValidationError)


@pytest.mark.parametrize("message", [b"", b"garbage", "text", encode([1]), encode({"id": "7"})])
async def test_an_unreadable_message_leaves_the_socket_open(
    server: SurrealServer, message: bytes | str
) -> None:
    async with websockets.connect(
        server.url, subprotocols=[websockets.Subprotocol("cbor")]
    ) as socket:
        await socket.send(message)
        complaint = decode(await socket.recv(decode=False))
        await socket.send(encode({"id": "8", "method": "ping"}))
        answer = decode(await socket.recv(decode=False))
    assert complaint["error"]["code"] == -32700
    assert (answer["id"], answer["result"]) == ("8", None)


async def test_only_the_rpc_path_is_served(server: SurrealServer) -> None:
    with pytest.raises(websockets.InvalidStatus) as refusal:
        await websockets.connect(server.url.replace("/rpc", "/sql"))
    assert refusal.value.response.status_code == 404


async def test_a_request_under_way_fails_when_the_server_goes(folder: Path) -> None:
    store = f"surrealkv://{folder}"
    async with SurrealServer(store) as server, signed_in(server.url) as client:
        await client.query("CREATE note:1")
        under_way = asyncio.create_task(client.query_raw("SLEEP 20s; CREATE note:2"))
        await asyncio.sleep(0.1)
        await server.stop()
        with pytest.raises(ConnectionUnavailableError, match="closed before a response"):
            await under_way
        with pytest.raises(ConnectionUnavailableError, match="could not connect"):
            await client.query("RETURN 1")
        await server.start()
        with pytest.raises(NotAllowedError, match="Anonymous"):
            await client.query("RETURN 1")
        await sign_in(client)
        rows = await client.query("SELECT VALUE id FROM note")
    assert rows == [[RecordID("note", 1)]]


async def test_a_cut_socket_comes_back_without_its_session(server: SurrealServer) -> None:
    async with signed_in(server.url) as client:
        assert server.disconnect_clients() == 1
        with pytest.raises(ConnectionUnavailableError):
            await client.query("RETURN 1")
        with pytest.raises(NotAllowedError):
            await client.query("RETURN 1")
        await sign_in(client)
        assert await client.query("RETURN 1") == [1]


async def test_nobody_answers_after_the_stop(server: SurrealServer) -> None:
    with pytest.raises(RuntimeError, match="running already"):
        await server.start()
    await server.stop()
    with pytest.raises(ConnectionUnavailableError) as refusal:
        await AsyncSurreal(server.url).connect()
    assert isinstance(refusal.value.__cause__, ConnectionRefusedError)


async def test_a_folder_belongs_to_one_server(folder: Path) -> None:
    store = f"surrealkv://{folder}"
    async with SurrealServer(store):
        with pytest.raises(RuntimeError, match=LOCKED):
            await SurrealServer(store).start()
    async with SurrealServer(store) as server, signed_in(server.url) as client:
        assert await client.query("RETURN 1") == [1]


async def test_a_taken_port_leaves_the_folder_free(server: SurrealServer, folder: Path) -> None:
    store = f"surrealkv://{folder}"
    with pytest.raises(OSError, match="address already in use"):
        await SurrealServer(store, port=server.port).start()
    async with SurrealServer(store) as other:
        assert other.port != server.port


async def test_a_killed_process_loses_nothing_it_answered(folder: Path) -> None:
    async with SurrealProcess(folder) as process:
        url = process.url
        async with signed_in(url) as client:
            await client.query("FOR $number IN 0..500 { CREATE note SET n = $number }")
            under_way = asyncio.create_task(client.query_raw("SLEEP 20s"))
            await asyncio.sleep(0.1)
            await process.send_signal(signal.SIGKILL)
            with pytest.raises(ConnectionUnavailableError):
                await under_way
        await process.start()
        async with signed_in(url) as client:
            count = await client.query("RETURN count(SELECT id FROM note)")
    assert count == [500]


async def test_a_frozen_process_answers_when_it_thaws(folder: Path) -> None:
    async with SurrealProcess(folder) as process, signed_in(process.url) as client:
        await process.send_signal(signal.SIGSTOP)
        late = asyncio.create_task(client.query_raw("RETURN 1"))
        finished, _ = await asyncio.wait([late], timeout=SLOW_SECONDS)
        assert not finished
        await process.send_signal(signal.SIGCONT)
        assert statuses(await late) == ["OK"]


async def test_a_terminated_process_closes_its_store(folder: Path) -> None:
    async with SurrealProcess(folder) as process:
        with pytest.raises(RuntimeError, match=LOCKED):
            await SurrealProcess(folder).start()
        await process.send_signal(signal.SIGTERM)
        async with SurrealServer(f"surrealkv://{folder}") as server:
            assert server.port != process.port
