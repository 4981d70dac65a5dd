"""The door over raw sockets: every route, from every host, page and kind of body.

What is expected stands in a few rules here, apart from the code: a new route is asked as well.
"""

import gzip
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from tests.conftest import Start
from tests.servers.door import BODY, REFUSED, Line, expected, headers_of, pairs
from tests.servers.keyed import keyed_service
from tests.servers.raw import raw_client
from tests.servers.running import RunningService

ENGINES = ("resident",)


@pytest.fixture(scope="module")
def line(service: RunningService) -> Iterator[Line]:
    one = Line(service.url)
    yield one
    one.close()


def _routes(client: httpx.Client) -> list[tuple[str, str]]:
    paths = client.get("/openapi.json").json()["paths"]
    described = [(method.upper(), path) for path, told in paths.items() for method in told]
    return [*described, ("GET", "/openapi.json"), ("GET", "/docs"), ("GET", "/redoc")]


def test_every_route_keeps_the_rules_of_the_door(line: Line, client: httpx.Client) -> None:
    chosen_pairs, wrong, asked = pairs(), [], 0
    for method, path in _routes(client):
        place = path.replace("{id}", "no-such-id")
        for chosen in chosen_pairs:
            host, origin, site, kind = chosen
            body = b"" if kind == "-" else BODY
            status = line.ask(method, place, headers_of(host, origin, site, kind), body)
            refusal, asked = expected(host, origin, site, kind), asked + 1
            is_right = status == refusal if refusal else status not in REFUSED
            if not is_right or (status >= 500 and path != "/health/ready"):
                wrong.append((method, path, chosen, status, refusal))
    assert wrong == []
    assert asked > 15_000


@pytest.mark.parametrize("offered", ["h2c", "websocket"])
@pytest.mark.parametrize("pieces", [1, 3, 10_000])
def test_an_offer_of_another_protocol_changes_nothing(
    service: RunningService, offered: str, pieces: int
) -> None:
    body = b'{"text": "A crane that is offered."}'
    head = (
        "POST /memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: {offered}\r\nHTTP2-Settings: AAMA\r\n"
    )
    whole = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
    parts = f"{head}Transfer-Encoding: chunked\r\n\r\n{len(body):x}\r\n".encode()
    chunked = parts + body + b"\r\n0\r\n\r\n"
    silent = f"GET /health/live HTTP/1.1\r\nHost: localhost\r\n{head.partition('json')[2][2:]}\r\n"
    # On one connection, and as they come: by the byte, in pieces, all at once.
    sent = whole + chunked + silent.encode() * 2 + whole
    sent += b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    size = -(-len(sent) // pieces)
    with raw_client(service.url) as client:
        for start in range(0, len(sent), size):
            client.send(sent[start : start + size])
        said, _ = client.until_closed()
    statuses = [int(one[:3]) for one in said.split(b"HTTP/1.1 ")[1:]]
    assert statuses == [201, 201, 200, 200, 201, 200], said


@pytest.mark.parametrize(("version", "connection"), [("1.1", "Upgrade, close"), ("1.0", "Upgrade")])
def test_an_offer_on_a_connection_that_ends_is_answered(
    service: RunningService, version: str, connection: str
) -> None:
    head = f"GET /health/live HTTP/{version}\r\nHost: localhost\r\nConnection: {connection}\r\n"
    with raw_client(service.url) as client:
        client.send(f"{head}Upgrade: h2c\r\n\r\n")
        said, seconds = client.until_closed()
    assert b" 200 OK\r\n" in said
    assert seconds < 5


@pytest.mark.parametrize("coding", ["gzip, chunked", "identity, chunked", "gzip\r\n{}: Chunked"])
def test_a_body_in_another_coding_than_chunks_is_not_taken_as_if_it_were_plain(
    service: RunningService, coding: str
) -> None:
    """RFC 9112, 6.1: 501. The next request on the connection is read as ever."""
    body = b'{"text": "A crane that is coded."}'
    head = "POST /memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    name = "Transfer-Encoding"
    sent = f"{head}{name}: {coding.format(name)}\r\n\r\n{len(body):x}\r\n".encode()
    sent += body + b"\r\n0\r\n\r\n"
    sent += b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    with raw_client(service.url) as client:
        client.send(sent)
        said, _ = client.until_closed()
    assert [int(one[:3]) for one in said.split(b"HTTP/1.1 ")[1:]] == [501, 200]
    assert b"content-type: application/problem+json" in said
    assert b'"type":"/problems/coding-unknown"' in said


def test_a_packed_body_is_told_so(client: httpx.Client) -> None:
    """Nor is one taken that only says so: 415, as RFC 9110 has it."""
    said = b'{"text": "A crane that is packed."}'
    for coding, body in (("gzip", gzip.compress(said)), ("br", said), ("gzip, identity", said)):
        headers = {"Content-Type": "application/json", "Content-Encoding": coding}
        refused = client.post("/memories", content=body, headers=headers)
        assert (refused.status_code, refused.json()["type"]) == (415, "/problems/not-json")
        assert "Content-Encoding" in refused.json()["detail"]
    plain = {"Content-Type": "application/json", "Content-Encoding": "identity"}
    assert client.post("/memories", content=said, headers=plain).status_code == 201


@pytest.mark.parametrize("name", ["Host", "Origin", "Content-Type", "Authorization"])
def test_a_header_that_stands_twice_is_refused(line: Line, name: str) -> None:
    value = {"Host": "127.0.0.1:*", "Origin": "http://127.0.0.1:*"}.get(name, "application/json")
    headers = [("Host", "127.0.0.1:*"), (name, value), (name, value)]
    assert line.ask("GET", "/health/live", headers) == 400


@pytest.mark.parametrize(
    "query",
    [
        "key=gm_0123456789ab_x", "api_key=x", "APIKEY=x", "token=x", "access_token=x",
        "authorization=Bearer%20x", "q=gm_0123456789ab_secret", "a=1&Token=", "auth=x",
    ],
)  # fmt: skip
def test_a_key_in_the_url_is_refused_and_not_repeated(client: httpx.Client, query: str) -> None:
    refused = client.get(f"/search?{query}")
    assert refused.status_code == 400
    assert refused.json()["type"] == "/problems/key-in-url"
    assert "gm_0123456789ab" not in refused.text
    assert "gm_0123456789ab" not in client.get("/metrics").text


@pytest.mark.parametrize(
    "header", ["Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via",
               "X-Forwarded-Proto", "x-forwarded-anything"],
)  # fmt: skip
def test_what_a_proxy_hands_on_needs_a_key(client: httpx.Client, header: str) -> None:
    told = {header: "for=127.0.0.1"}
    refused = client.get("/memories", headers=told)
    assert (refused.status_code, "keys create" in refused.json()["detail"]) == (401, True)
    assert client.get("/health/live", headers=told).status_code == 200
    assert client.get("/health/ready", headers=told).json()["checks"] == {}


def test_what_a_proxy_hands_on_with_a_key_is_answered(tmp_path: Path, embedding_url: str) -> None:
    settings = {"embedding_url": embedding_url, "allowed_hosts": "memory.example"}
    with keyed_service(data_dir=tmp_path, **settings) as keyed, keyed.client() as client:
        told = {"X-Forwarded-For": "10.0.0.7", "Host": "memory.example"}
        assert client.get("/memories", headers=told).status_code == 200
        assert client.get("/memories", headers={"Host": "other.example"}).status_code == 421


def test_a_page_that_is_named_may_ask_and_no_other(start: Start) -> None:
    client = start(allowed_origins="https://app.example").client
    preflight = {
        "Origin": "https://app.example", "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type",
    }  # fmt: skip
    allowed = client.options("/search", headers=preflight)
    assert allowed.status_code == 200
    assert allowed.headers["access-control-allow-origin"] == "https://app.example"
    assert "Origin" in allowed.headers["vary"]
    assert "access-control-allow-credentials" not in allowed.headers
    site = {"Origin": "https://app.example", "Sec-Fetch-Site": "cross-site"}
    asked = client.post("/search", json={"query": "crane"}, headers=site)
    assert asked.status_code == 200
    assert asked.headers["access-control-allow-origin"] == "https://app.example"
    for origin in ("https://app.example.evil", "http://app.example", "https://evil.example"):
        other = client.options("/search", headers=preflight | {"Origin": origin})
        assert other.status_code == 403
        assert "access-control-allow-origin" not in other.headers


def test_no_page_is_named_by_itself(client: httpx.Client) -> None:
    answer = client.get("/health/live")
    assert not [name for name in answer.headers if name.startswith("access-control")]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize("path", ["/docs", "/redoc"])
def test_a_page_of_the_service_loads_nothing_from_elsewhere(
    client: httpx.Client, path: str
) -> None:
    page = client.get(path)
    assert page.status_code == 200
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert page.headers["x-frame-options"] == "DENY"
    loaded = re.findall(r'(?:src|href)="([^"]*)"', page.text)
    assert loaded
    assert not [one for one in loaded if not one.startswith("/")]
    assert not re.search(r"<script>|onload=|https?://", page.text)
    for one in loaded:
        assert client.get(one).status_code == 200, one
    assert client.get("/docs/../../etc/passwd").status_code == 404
    none = client.get("/docs/none.js")
    assert (none.status_code, none.json()["type"]) == (404, client.get("/none").json()["type"])


# What was open before there was a door, by what it did.
SEEN: Final[Mapping[str, tuple[str, str, dict[str, Any]]]] = {
    "a rebinding host stores": ("POST", "/memories", {
        "headers": {"Host": "evil.example", "Origin": "http://evil.example"},
        "json": {"text": "Planted."}}),
    "a rebinding host deletes": ("DELETE", "/memories/x", {"headers": {"Host": "evil.example"}}),
    "a rebinding host reads": ("GET", "/memories", {"headers": {"Host": "evil.example:8080"}}),
    "a form wakes the hook": ("POST", "/hooks/session-start", {
        "content": b"a=b", "headers": {"Content-Type": "application/x-www-form-urlencoded"}}),
    "a page wakes the hook": ("POST", "/hooks/session-start", {
        "headers": {"Origin": "http://evil.example"}}),
    "an empty post scans": ("POST", "/ingest/scan", {"headers": {"Origin": "null"}}),
    "an empty post rebuilds": ("POST", "/index/rebuild", {
        "headers": {"Sec-Fetch-Site": "cross-site"}}),
    "an empty post consolidates": ("POST", "/consolidate", {
        "headers": {"Origin": "http://localhost:3000"}}),
    "a text of a page stores": ("POST", "/memories", {
        "content": b'{"text": "Planted."}', "headers": {"Content-Type": "text/plain"}}),
    "an image of a page asks": ("GET", "/search?q=crane", {
        "headers": {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}}),
}  # fmt: skip


@pytest.mark.parametrize("how", SEEN)
def test_what_was_open_is_closed(client: httpx.Client, how: str) -> None:
    method, path, told = SEEN[how]
    before = client.get("/stats").json()
    assert client.request(method, path, **told).status_code in {403, 415, 421}
    assert client.get("/stats").json() == before
