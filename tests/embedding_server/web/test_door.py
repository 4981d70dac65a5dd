"""The embedding server's door over raw sockets, and the address that needs a key."""

import subprocess
import sys

import httpx
import pytest

from embedding_server.app import create_app
from embedding_server.settings import Settings
from tests.embedding_server.running import serve, wait_until_ready
from tests.servers.door import REFUSED, Line, expected, headers_of, pairs
from tests.servers.running import REPOSITORY

ROUTES = (
    ("POST", "/v1/embeddings"), ("POST", "/embeddings"), ("GET", "/v1/models"), ("GET", "/models"),
    ("GET", "/v1/models/x"), ("GET", "/health"), ("GET", "/metrics"), ("GET", "/openapi.json"),
)  # fmt: skip
BODY = b'{"input": "a", "model": "no-such-model"}'
ANYWHERE = ".".join("0000")


def test_every_route_keeps_the_rules_of_the_door(hashing_url: str) -> None:
    line, wrong = Line(hashing_url), []
    for method, path in ROUTES:
        for chosen in pairs():
            host, origin, site, kind = chosen
            status = line.ask(
                method, path, headers_of(host, origin, site, kind), b"" if kind == "-" else BODY
            )
            refusal = expected(host, origin, site, kind)
            # Without a body a POST is one that does not fit: 400; without a host none is HTTP.
            is_right = status == refusal if refusal else status not in REFUSED - {400}
            is_right |= host is None and status == 400
            if not is_right or status >= 500:
                wrong.append((method, path, chosen, status, refusal))
    line.close()
    assert wrong == []


def test_the_routes_are_all_that_there_are(hashing_url: str) -> None:
    paths = httpx.get(f"{hashing_url}/openapi.json").json()["paths"]
    described = {(method.upper(), path) for path, told in paths.items() for method in told}
    assert {(method, path.replace("{model}", "x")) for method, path in described} - set(ROUTES) <= {
        ("GET", path) for _, path in described if "{" in path
    }


@pytest.mark.parametrize("name", ["Host", "Origin", "Content-Type", "Authorization"])
def test_a_header_that_stands_twice_is_refused(hashing_url: str, name: str) -> None:
    line = Line(hashing_url)
    value = {"Host": "127.0.0.1:*", "Origin": "http://127.0.0.1:*"}.get(name, "application/json")
    assert (
        line.ask("GET", "/health", [("Host", "127.0.0.1:*"), (name, value), (name, value)]) == 400
    )
    line.close()


@pytest.mark.parametrize("header", ["Forwarded", "X-Forwarded-For", "X-Real-IP", "Via"])
def test_what_a_proxy_hands_on_needs_a_key(hashing_url: str, header: str) -> None:
    body = {"input": "a", "model": "hashing-256"}
    refused = httpx.post(f"{hashing_url}/v1/embeddings", json=body, headers={header: "10.0.0.1"})
    assert refused.status_code == 401
    assert refused.json()["error"]["code"] == "invalid_api_key"
    assert httpx.get(f"{hashing_url}/health", headers={header: "10.0.0.1"}).status_code == 200


def test_a_host_that_is_named_is_answered() -> None:
    settings = Settings(_env_file=None, model="hashing-256", allowed_hosts="Embeddings, b.example")
    there = Settings(_env_file=None, host="2001:DB8::5", allowed_hosts="B.example")
    assert there.host_names == {"2001:db8::5", "[2001:db8::5]", "b.example"}
    assert Settings(_env_file=None, host=ANYWHERE).host_names == set()
    with serve(create_app(settings)) as url:
        wait_until_ready(url)
        for host, status in (("embeddings:8001", 200), ("b.example", 200), ("c.example", 421)):
            assert httpx.get(f"{url}/v1/models", headers={"Host": host}).status_code == status


def test_an_address_for_other_machines_needs_a_key() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "embedding_server"], cwd=REPOSITORY, capture_output=True, text=True,
        env={"PATH": "", "EMBEDDING_HOST": ANYWHERE, "EMBEDDING_MODEL": "hashing-256"},
        timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "set EMBEDDING_API_KEY" in done.stderr
