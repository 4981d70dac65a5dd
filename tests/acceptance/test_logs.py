"""No text of a memory, no question and no key stands in a log above debug, whatever goes wrong."""

import ast
import io
import logging
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from scripts.house.rooms import read_modules
from service.errors import ServiceError
from service.redaction import WithoutSecrets
from service.store.database import Database
from tests.servers.keyed import KeyedService, keyed_service
from tests.servers.outer_embeddings import Answer, Asked, OuterEmbeddings, outer_embeddings
from tests.servers.running import free_port, service_process, wait_for

ENGINES = ("resident",)
# A word of each kind of content: none of them is a word of ours.
TEXT, TITLE, QUESTION, CONCEPT, DOCUMENT, SESSION = CANARIES = (
    "marigold", "sluicegate", "wheelwright", "thatcher", "tollhouse", "quernstone",
)  # fmt: skip
KEY: Final = "gm_0f3a9c21d7be_dsWKPt9KPafX-vDzuO376qZYRxcV4F0wYgMK4oUWPqs"
BODIES: Final[tuple[dict[str, Any], ...]] = (
    {
        "text": f"The {TEXT} opened.", "title": f"A {TITLE}", "concepts": [CONCEPT],
        "session": SESSION, "source_ref": DOCUMENT, "kind": "fact",
    },
    {"memories": [{"text": f"A {TEXT}, [[{CONCEPT}]]", "session": SESSION}, {"text": 7, TEXT: 1}]},
    {"source": f"{DOCUMENT}.md", "text": f"# {TITLE}\n\n{TEXT} said that [[{CONCEPT}]] came."},
    {"query": f"who is {QUESTION}", "explain": True},
    {"query": {"not": QUESTION}, "limit": TEXT},
    {"paths": [DOCUMENT]},
    {"concept": CONCEPT},
    {"summary": TEXT},
    {"name": f"{TITLE}", "scopes": ["read"], "agents": ["main"]},
    {"reader": "anna", "owner": "main", "scope": CONCEPT},
    {"hook_event_name": "SessionStart", "prompt": f"{QUESTION}"},
    {"older_than_days": 0, "scope": CONCEPT},
    {},
)  # fmt: skip


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Write what `graph-memory serve` would, at its default level."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(WithoutSecrets())
    root, level = logging.getLogger(), logging.getLogger().level
    root.setLevel(logging.INFO)
    root.addHandler(handler)
    logging.captureWarnings(True)
    # The test's own client tells the URLs that it asks; in the service its level is this one.
    for chatty in ("httpx", "httpcore"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    yield stream
    logging.captureWarnings(False)
    root.removeHandler(handler)
    root.setLevel(level)


def _drive(keyed: KeyedService) -> set[int]:
    """Send every body to every operation; returns the statuses that came back."""
    found: set[int] = set()
    with keyed.client() as client:
        # A connection is closed after a crash.
        client.headers["connection"] = "close"
        memory = client.post("/memories", json=BODIES[0])
        ids = [memory.json().get("id", TEXT), TEXT, KEY]
        for path, methods in client.get("/openapi.json").json()["paths"].items():
            for method in methods:
                if method == "delete" and "/keys" in path:
                    continue
                for body in BODIES if method in {"post", "patch"} else BODIES[:1]:
                    for one in ids if "{id}" in path else ids[:1]:
                        url = path.replace("{id}", one)
                        params = {
                            "q": QUESTION, "path": f"{DOCUMENT}.md", "session": SESSION,
                            "scope": CONCEPT, "agent": "main",
                        }  # fmt: skip
                        answer = client.request(
                            method, url, params=params if method == "get" else None,
                            json=None if method == "get" else body,
                        )  # fmt: skip
                        found.add(answer.status_code)
        for content in (f'{{"text": "{TEXT}', f'"{TEXT}"', f"\x00{TEXT}"):
            headers = {"content-type": "application/json"}
            found.add(client.post("/memories", content=content, headers=headers).status_code)
        found.add(client.get(f"/{TEXT}/{KEY}").status_code)
    with keyed.client(KEY) as stranger:
        found.add(stranger.get(f"/search?q={QUESTION}").status_code)
    return found


def _leaks(log: io.StringIO) -> list[str]:
    lines = log.getvalue().lower().splitlines()
    words = (*CANARIES, KEY.rpartition("_")[2].lower())
    return [line for line in lines if any(word in line for word in words)]


@pytest.fixture
def outer() -> Iterator[OuterEmbeddings]:
    with outer_embeddings() as server:
        yield server


def test_no_log_line_holds_contents_while_all_is_well(
    log: io.StringIO, tmp_path: Path, embedding_url: str
) -> None:
    with keyed_service(data_dir=tmp_path, embedding_url=embedding_url) as keyed:
        statuses = _drive(keyed)
    assert {200, 201, 401, 404, 422} <= statuses
    assert not {one for one in statuses if one >= 500}
    assert log.getvalue()
    assert _leaks(log) == []


def test_no_log_line_holds_what_an_mcp_client_says(
    log: io.StringIO, tmp_path: Path, embedding_url: str
) -> None:
    """The library warns of another key's session by its id, and of a notification by its name."""
    said = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": TITLE, "version": "1"},
    }}  # fmt: skip
    odd = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": [TEXT]}}
    headers = {"accept": "application/json, text/event-stream"}
    with keyed_service(data_dir=tmp_path, embedding_url=embedding_url) as keyed:
        another = keyed.client(keyed.key(["read"])[1])
        with keyed.client() as client, another:
            begun = client.post("/mcp", json=said, headers=headers)
            session = begun.headers["mcp-session-id"]
            headers["mcp-session-id"] = session
            assert client.post("/mcp", json=odd, headers=headers).status_code == 202
            assert another.post("/mcp", json=odd, headers=headers).status_code == 404
    told = log.getvalue()
    assert "credential does not match" in told
    assert session not in told
    assert _leaks(log) == []


@pytest.mark.parametrize("status", [400, 401, 500, 503])
def test_no_log_line_holds_what_an_embedder_repeats(
    log: io.StringIO, tmp_path: Path, outer: OuterEmbeddings, status: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    good = OuterEmbeddings.answer

    def answer(self: OuterEmbeddings, asked: Asked) -> Answer:
        text = str(asked.body)
        if any(word in text for word in CANARIES):
            return Answer({"error": {"message": f"cannot embed: {text}"}}, status)
        return good(self, asked)

    monkeypatch.setattr(OuterEmbeddings, "answer", answer)
    settings = {"embedding_query_seconds": 0.5, "embedding_write_seconds": 0.5}
    with keyed_service(data_dir=tmp_path, embedding_url=outer.url, **settings) as keyed:
        with keyed.client() as client:
            told = client.post("/memories", json=BODIES[0])
            found = client.post("/search", json=BODIES[3]).text
        # The caller is told, the log is not.
        assert f"answered {status}" in told.text + found
    assert "1 memory waits for its vector" in log.getvalue()
    assert _leaks(log) == []


def _refused(params: object) -> dict[str, Any]:
    return {"result": [{"status": "ERR", "result": f"Cannot store {params}", "details": None}]}


@pytest.mark.parametrize("how", ["refuses", "crashes", "answers nonsense"])
def test_no_log_line_holds_what_a_broken_store_repeats(
    log: io.StringIO, tmp_path: Path, embedding_url: str, how: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    ask = Database._ask

    async def broken(self: Database, text: str, params: Any, seconds: float) -> Any:
        if not any(word in str(params) for word in CANARIES):
            return await ask(self, text, params, seconds)
        if how == "refuses":
            return _refused(params)
        if how == "crashes":
            raise RuntimeError(f"no answer to {params}")
        return {"result": [{"status": "OK", "result": [{"id": str(params)}]}] * 9}

    with keyed_service(data_dir=tmp_path, embedding_url=embedding_url) as keyed:
        monkeypatch.setattr(Database, "_ask", broken)
        statuses = _drive(keyed)
        monkeypatch.setattr(Database, "_ask", ask)
    assert 500 in statuses
    assert "Traceback" in log.getvalue() or how == "refuses"
    assert _leaks(log) == []


def test_what_a_process_prints_holds_no_contents(tmp_path: Path, embedding_url: str) -> None:
    """The engine could print by itself, and Python beside its logs: all of a process is read."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    environment = {
        "MEMORY_DATA_DIR": str(tmp_path), "MEMORY_PORT": str(port),
        "MEMORY_EMBEDDING_URL": embedding_url,
    }  # fmt: skip
    with service_process(**environment) as process:
        wait_for(f"{url}/health/ready", lambda: process.poll() is None)
        with httpx.Client(base_url=url, timeout=60) as client:
            paths = client.get("/openapi.json").json()["paths"]
            for path, methods in paths.items():
                for method in methods.keys() - {"get", "delete"} if "/keys" not in path else ():
                    for body in BODIES:
                        client.request(method, path.replace("{id}", TEXT), json=body)
            client.post("/memories", content=f'{{"text": "{TEXT}')
            client.get("/search", params={"q": QUESTION})
        with socket.create_connection(("127.0.0.1", port)) as raw:
            raw.sendall(f"GET /{TEXT} NO/HTTP {KEY}\r\n\r\n".encode())
            raw.recv(1000)
        process.terminate()
        printed, _ = process.communicate(timeout=60)
    assert "listening on" in printed
    assert _leaks(io.StringIO(printed)) == []


def _said_by_others(call: ast.Call, caught: set[str]) -> Iterator[str]:
    """Yield the arguments that may hold what another program said."""
    for argument in call.args[1:]:
        if isinstance(argument, ast.Name) and argument.id in caught:
            yield argument.id
        if isinstance(argument, ast.Attribute) and argument.attr == "detail":
            yield f"{ast.unparse(argument)}"


def test_no_call_of_a_log_passes_an_error_as_it_is() -> None:
    """Above debug they tell `logged`, or what `loggable` leaves of an error."""
    faults = []
    for module in read_modules():
        caught = {n.name for n in module.nodes if isinstance(n, ast.ExceptHandler) and n.name}
        for node in module.nodes:
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            is_log = getattr(node.func.value, "id", "") == "log"
            if is_log and node.func.attr in {"info", "warning", "error", "critical"}:
                names = _said_by_others(node, caught)
                faults += [f"{module.name}:{node.lineno} {name}" for name in names]
    assert faults == []


def test_an_error_tells_the_words_of_others_to_its_caller_alone() -> None:
    error = ServiceError("Ours", said=TEXT)
    assert (error.detail, error.logged) == (f"Ours: {TEXT}", "Ours")
