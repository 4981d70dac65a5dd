"""The door by itself: whatever the headers are it answers, and it never says a key again."""

import asyncio
import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Message, Receive, Scope, Send

from service.settings import Settings
from service.web.door import Door

Headers = Sequence[tuple[bytes, bytes]]

LOOPBACK: Final = (b"host", b"127.0.0.1:8080")
KEY: Final = "gm_0123456789ab_" + "Secret-" * 6 + "x"
APP: Final = SimpleNamespace(state=SimpleNamespace())


class Inside:
    """Answers 200, and keeps what came in."""

    def __init__(self) -> None:
        self.scope: Scope | None = None

    async def __call__(self, scope: Scope, _: Receive, send: Send) -> None:
        self.scope = scope
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})


def ask(headers: Headers, **more: Any) -> tuple[int, bytes, Inside]:
    """Return the status, the answer's bytes, headers included, and what is inside of the door."""
    inside, sent = Inside(), list[Message]()

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    host = more.pop("listens", "127.0.0.1")
    scope = {
        "type": "http", "app": APP, "method": "GET", "scheme": "http", "root_path": "",
        "path": "/memories", "query_string": b"", "headers": list(headers),
        "client": ("127.0.0.1", 50_000), "server": ("127.0.0.1", 8080),
    } | more  # fmt: skip
    door = Door(inside, Settings(_env_file=None, host=host))
    asyncio.run(door(scope, receive, send))
    answered = b"".join(value for _, value in sent[0]["headers"]) + sent[1]["body"]
    return sent[0]["status"], answered, inside


NAMES = st.sampled_from(
    [b"host", b"origin", b"sec-fetch-site", b"content-type", b"content-length", b"authorization",
     b"transfer-encoding", b"forwarded", b"x-forwarded-for", b"via", b"x-request-id", b"cookie"]
)  # fmt: skip
VALUES = st.one_of(
    st.binary(max_size=60),
    st.sampled_from(
        [b"127.0.0.1", b"localhost", b"[::1]:8080", b"evil.example", b"http://127.0.0.1", b"null",
         b"same-site", b"application/json", b"application/json; charset=\xff", b"0", b"7", b"[",
         b"]", b"[::1", b"http://[", b"\xc2\xb2", b"application/json;charset=", KEY.encode()]
    ),
)  # fmt: skip
HEADERS = st.lists(st.tuples(NAMES, VALUES), max_size=8)


@given(HEADERS, st.text(max_size=30), st.binary(max_size=40))
def test_whatever_comes_is_answered(headers: Headers, path: str, query: bytes) -> None:
    status, _, inside = ask(headers, path=f"/{path}", query_string=query)
    assert status in {200, 400, 403, 415, 421, 501}
    assert (inside.scope is not None) == (status == 200)


@given(HEADERS)
def test_nobody_comes_in_who_does_not_name_this_machine_once(headers: Headers) -> None:
    if ask(headers)[0] == 200:
        [host] = [value.strip() for name, value in headers if name == b"host"]
        assert host in {b"127.0.0.1", b"localhost", b"[::1]:8080"}


@given(HEADERS)
def test_no_page_comes_in_that_is_not_the_services_own(headers: Headers) -> None:
    others = [one for one in headers if one[0] != b"host"]
    if ask([LOOPBACK, *others])[0] == 200:
        assert not any(value.strip(b" \t") for name, value in others if name == b"origin")


@pytest.mark.parametrize(
    ("path", "query"),
    [
        (f"/memories/{KEY}", ""), ("/memories", f"q={KEY}"), (f"/{KEY}", "a=b"),
        ("/memories", "q=%67m_0123456789ab_Secret-"), ("/memories", f"{KEY}=1"),
        ("/memories", "q=gm%5F0123456789ab%5fSecret-"), ("/memories", f"a=1;b={KEY}"),
        ("/memories", "api%5Fkey=Secret-"), (f"/a/{KEY}/b", f"q={KEY}"),
    ],
)  # fmt: skip
def test_a_key_in_a_url_is_refused_and_not_said_again(path: str, query: str) -> None:
    status, answered, inside = ask([LOOPBACK], path=path, query_string=query.encode())
    assert (status, inside.scope) == (400, None)
    assert b"key-in-url" in answered
    assert b"Secret-" not in answered
    assert b"0123456789ab" not in answered


def test_what_looks_a_little_like_a_key_is_none() -> None:
    for query in (b"q=gm_notes", b"q=keys+of+a+piano", b"keyword=x", b"q=gm_0123456789AB_x"):
        assert ask([LOOPBACK], query_string=query)[0] == 200


def test_only_a_service_on_a_socket_takes_any_host() -> None:
    other = [(b"host", b"evil.example")]
    assert ask(other, listens="unix:/run/user/1/memory.sock")[0] == 200
    # A server that does not tell its address is no socket.
    assert ask(other, server=None)[0] == 421
    assert ask(other, server=("evil.example", None))[0] == 421


@pytest.mark.parametrize(
    ("listens", "host"),
    [("10.0.0.5", "10.0.0.5:8080"), ("2001:DB8::5", "[2001:db8::5]:8080"), ("::1", "[::1]"),
     ("box.example", "Box.example:8080")],
)  # fmt: skip
def test_the_address_that_is_listened_on_may_be_asked(listens: str, host: str) -> None:
    assert ask([(b"host", host.encode())], listens=listens)[0] == 200
    assert ask([(b"host", b"10.0.0.6")], listens=listens)[0] == 421


def test_an_address_that_means_every_one_names_none() -> None:
    for listens in (".".join("0000"), "::"):
        for host in (b"0.0.0.0", b"[::]", b"10.0.0.5"):
            assert ask([(b"host", host)], listens=listens)[0] == 421


@pytest.mark.parametrize(
    ("client", "headers", "needs_key"),
    [
        (("127.0.0.1", 1), [], False), (("127.9.9.9", 1), [], False), (("::1", 1), [], False),
        (("10.0.0.7", 1), [], True), (("", 1), [], True), (None, [], True),
        (("::ffff:10.0.0.7", 1), [], True), (("localhost.evil.example", 1), [], True),
        (("127.0.0.1", 1), [(b"X-Forwarded-For", b"127.0.0.1")], True),
        (("127.0.0.1", 1), [(b"forwarded", b"")], True),
        (("127.0.0.1", 1), [(b"via", b"1.1 a")], True),
        (("127.0.0.1", 1), [(b"cf-connecting-ip", b"10.0.0.7")], True),
        (("127.0.0.1", 1), [(b"True-Client-IP", b"10.0.0.7")], True),
        (("127.0.0.1", 1), [(b"x-request-id", b"a"), (b"user-agent", b"via")], False),
    ],
)  # fmt: skip
def test_who_may_be_elsewhere_needs_a_key(
    client: tuple[str, int] | None, headers: Headers, *, needs_key: bool
) -> None:
    _, _, inside = ask([LOOPBACK, *headers], client=client)
    assert inside.scope is not None
    assert inside.scope["state"]["needs_key"] is needs_key


def test_over_a_socket_a_proxy_needs_a_key_and_nobody_else() -> None:
    listens = "unix:/run/user/1/memory.sock"
    for headers, needs_key in (([], False), ([(b"x-real-ip", b"10.0.0.7")], True)):
        _, _, inside = ask(headers, client=None, listens=listens)
        assert inside.scope is not None
        assert inside.scope["state"]["needs_key"] is needs_key


def test_a_refusal_says_what_to_do() -> None:
    told = {
        421: [(b"host", b"evil.example")],
        403: [LOOPBACK, (b"origin", b"null")],
        415: [LOOPBACK, (b"content-length", b"2"), (b"content-type", b"text/plain")],
        400: [LOOPBACK, LOOPBACK],
        501: [LOOPBACK, (b"transfer-encoding", b"gzip, chunked")],
    }
    words = {421: "MEMORY_ALLOWED_HOSTS", 403: "MEMORY_ALLOWED_ORIGINS", 415: "application/json",
             400: "host once", 501: "chunked alone"}  # fmt: skip
    for status, headers in told.items():
        answer = ask(headers)
        assert answer[0] == status
        body = json.loads(answer[1][answer[1].index(b'{"type"') :])
        assert words[status] in body["detail"]
