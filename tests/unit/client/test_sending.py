"""What a client sends, and what it makes of answers that are none."""

import ssl
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import httpx
import orjson
import pytest

from service.client.endpoints import AsyncGraphMemory, Endpoints, GraphMemory
from service.client.errors import ClientError, Problem, TimedOut, Unavailable
from service.errors import FieldError
from tests.servers.outer_embeddings import Answer, Asked, serving

PROBLEM = {
    "type": "/problems/invalid-request", "title": "The request does not fit the contract",
    "status": 422, "detail": "/limit: too large.", "instance": "/search", "request_id": "5f0c",
    "errors": [{"pointer": "/limit", "detail": "too large."}],
}  # fmt: skip
_TYPE = {"content-type": "application/problem+json"}


def _client(answer: Callable[[httpx.Request], httpx.Response]) -> GraphMemory:
    return GraphMemory("http://memory", transport=httpx.MockTransport(answer))


def _raised(response: httpx.Response) -> ClientError:
    with _client(lambda _: response) as memory, pytest.raises(ClientError) as told:
        memory.stats()
    return told.value


def test_a_problem_is_told_whole() -> None:
    headers = _TYPE | {"x-request-id": "5f0c", "retry-after": "2"}
    problem = _raised(httpx.Response(422, json=PROBLEM, headers=headers))
    assert isinstance(problem, Problem)
    assert (problem.status, problem.title) == (422, PROBLEM["title"])
    assert (problem.detail, str(problem)) == ("/limit: too large.", "/limit: too large.")
    assert problem.errors == (FieldError("/limit", "too large."),)
    refusal = problem.refusal
    assert (refusal.type, refusal.request_id) == (PROBLEM["type"], "5f0c")
    assert refusal.retry_after_seconds == 2


@pytest.mark.parametrize("body", [b"<html>", b'{"errors": 7}', b'["x"]', b"", b'{"detail": 7}'])
def test_a_refusal_of_another_server_is_a_problem_by_its_status(body: bytes) -> None:
    problem = _raised(httpx.Response(404, content=body))
    assert isinstance(problem, Problem)
    assert (problem.status, problem.errors) == (404, ())
    assert problem.detail.startswith("404 Not Found: that is not graph-memory")


@pytest.mark.parametrize("body", [b"<html>", b"[]", b"", b"7"])
def test_what_is_no_object_comes_from_another_server(body: bytes) -> None:
    told = _raised(httpx.Response(200, content=body))
    assert type(told) is Unavailable
    assert "not graph-memory" in told.detail


@pytest.mark.parametrize(
    ("error", "named", "words"),
    [
        (httpx.ConnectError("refused"), Unavailable, "graph-memory serve"),
        (httpx.ConnectTimeout("slow"), Unavailable, "graph-memory serve"),
        (httpx.UnsupportedProtocol("no http://"), Unavailable, "no http://"),
        (httpx.ReadTimeout("slow"), TimedOut, "timeout_seconds"),
        (httpx.RemoteProtocolError("cut off"), Unavailable, "cut off"),
        (httpx.DecodingError("not gzip"), Unavailable, "not gzip"),
    ],
)
def test_no_answer_is_named_and_nothing_is_sent_twice(
    error: httpx.RequestError, named: type[ClientError], words: str
) -> None:
    sent = []

    def fail(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        raise error

    with _client(fail) as memory, pytest.raises(ClientError, match=words) as told:
        memory.store_memory("once")
    assert (type(told.value), len(sent)) == (named, 1)


@dataclass
class _Alive:
    url: str = ""

    def answer(self, asked: Asked) -> Answer:
        return Answer({"status": "alive" if asked.path == "/health/live" else "lost"})


@pytest.mark.anyio
async def test_no_proxy_stands_between_programs_of_one_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("http_proxy", "all_proxy", "no_proxy", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    service = _Alive()
    with serving(service):
        with GraphMemory(service.url, key="gm_secret") as memory:
            assert memory.live() == {"status": "alive"}
        async with AsyncGraphMemory(service.url, key="gm_secret") as memory_too:
            assert await memory_too.live() == {"status": "alive"}
    with GraphMemory("http://memory.example") as far, pytest.raises(Unavailable, match="refused"):
        far.live()


@pytest.mark.parametrize("key", ["gm_schlüssel", "gm_key\u200b", "gm_key\n", "gm_\r\nX: y", "gm_ "])
@pytest.mark.parametrize("client", [GraphMemory, AsyncGraphMemory])
def test_a_key_that_no_header_can_carry_is_refused_and_not_repeated(
    client: type[GraphMemory | AsyncGraphMemory], key: str
) -> None:
    with pytest.raises(ValueError, match=r"^`key` holds letters, line ends .*anew$") as refused:
        client("http://memory.example", key=key)
    assert type(refused.value) is ValueError
    assert key not in str(refused.value)


def test_what_is_not_ready_is_an_answer() -> None:
    told: dict[str, Any] = {
        "status": "degraded",
        "checks": {},
        "reasons": ["no embedder"],
        "index": None,
    }
    with _client(lambda _: httpx.Response(503, json=told)) as memory:
        assert memory.ready()["reasons"] == ["no embedder"]
        with pytest.raises(Problem):
            memory.live()
    with (
        _client(lambda _: httpx.Response(503, json=PROBLEM, headers=_TYPE)) as memory,
        pytest.raises(Problem),
    ):
        memory.ready()


def test_moments_lists_and_names_arrive_as_they_were_meant() -> None:
    sent: list[httpx.Request] = []

    def keep(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(200, json={})

    moment = datetime(2026, 2, 13, 10, tzinfo=timezone(timedelta(hours=9)))
    with _client(keep) as memory:
        memory.search("안녕", since=moment, scope=None)
        memory.list_memories(kinds=["note", "fact"], since=moment, scope=None, pinned=True)  # type: ignore[call-arg]
        memory.change_memory("a/b?c#d", agent="x", title=None)
        memory.read_document("memory/2026-02-13.md", from_line=3)
        memory.scan()
    assert orjson.loads(sent[0].content) == {
        "query": "안녕",
        "since": "2026-02-13T10:00:00+09:00",
        "scope": None,
    }
    assert sent[1].url.params.multi_items() == [
        ("kinds", "note"),
        ("kinds", "fact"),
        ("since", "2026-02-13T10:00:00+09:00"),
        ("pinned", "true"),
    ]
    assert sent[2].url.raw_path == b"/memories/a%2Fb%3Fc%23d?agent=x"
    assert orjson.loads(sent[2].content) == {"title": None}
    assert dict(sent[3].url.params) == {
        "path": "memory/2026-02-13.md",
        "from": "3",
    }
    seconds = [request.extensions["timeout"] for request in sent]
    assert [(s["connect"], s["read"]) for s in seconds] == [(5, 60)] * 4 + [(5, 600)]


def test_a_name_leads_to_no_other_endpoint() -> None:
    sent: list[bytes] = []

    def keep(request: httpx.Request) -> httpx.Response:
        sent.append(request.url.raw_path)
        return httpx.Response(200, json={})

    with _client(keep) as memory:
        memory.read_session("../stats")
        memory.read_session("s1/sub agent?x")
        memory.delete_memory("..")
        memory.read_memory(".")
    assert sent == [
        b"/sessions/%2E%2E%2Fstats",
        b"/sessions/s1%2Fsub%20agent%3Fx",
        b"/memories/%2E%2E",
        b"/memories/%2E",
    ]


def test_what_is_no_json_is_not_sent() -> None:
    with _client(lambda _: httpx.Response(200, json={})) as memory, pytest.raises(TypeError):
        memory.store_memory("x", importance={1}, occurred_at=datetime.now(UTC))  # type: ignore[arg-type]


def test_certificates_are_read_for_https_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[ssl.SSLContext] = []

    def note(*_: object, **__: object) -> ssl.SSLContext:
        read.append(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
        return read[-1]

    monkeypatch.setattr(ssl, "create_default_context", note)
    GraphMemory("http://memory").close()
    assert read == []
    GraphMemory("https://memory").close()
    assert len(read) == 1


def test_the_class_shows_what_its_methods_do() -> None:
    assert GraphMemory.search is Endpoints.search is AsyncGraphMemory.search
    assert GraphMemory.search(None, "x").body == {"query": "x"}
    assert (GraphMemory.stats.__doc__ or "").startswith("Count what an agent remembers")
    assert GraphMemory("http://memory").stats.__doc__ == GraphMemory.stats.__doc__


@pytest.mark.parametrize("kind", [GraphMemory, AsyncGraphMemory])
@pytest.mark.parametrize("client", ["n\u00e4chte", "a\nb", " a", "\u65e5"])
def test_a_name_that_no_header_carries_is_told_at_once(kind: Any, client: str) -> None:
    with pytest.raises(ValueError, match=r"`client` .* write it in ASCII"):
        kind("http://memory", client=client)
