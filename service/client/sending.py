"""Requests as values, and the two who send them: one waits, the other is awaited.

Nothing is sent twice: a request that was cut off may have been carried out.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from types import TracebackType
from typing import Any, Final, Generic, Self, TypeVar
from urllib.parse import quote

import httpx

from service.access.addresses import is_loopback
from service.access.bearer import check_sendable
from service.client.errors import Problem, Refusal, TimedOut, Unavailable
from service.errors import FieldError

Answer = TypeVar("Answer")

DEFAULT_URL: Final = "http://127.0.0.1:8080"
# What a program is called that does not name itself.
CLIENT: Final = "graph-memory-python"
_CONNECT_SECONDS: Final = 5.0
# Scans, consolidations and reports read a whole store: minutes, for a large one.
_LONG_SECONDS: Final = 600.0
_SENT: Final = {"Content-Type": "application/json"}


def part(name: str) -> str:
    """Return one part of a path: no slash, question mark or dots of a name lead elsewhere."""
    return quote(name, safe="").replace(".", "%2E")


@dataclass(frozen=True, slots=True)
class Request(Generic[Answer]):
    """One request of the contract, and by its type what it answers.

    `params` that are None are left out; a None in `body` is sent as null. `is_long` says that it
    may take minutes. Statuses of `answered` bear the answer although they are no success.
    """

    method: str
    path: str
    body: Mapping[str, Any] | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    is_long: bool = False
    answered: frozenset[int] = frozenset()

    def arguments(self, timeout_seconds: float) -> dict[str, Any]:
        """Return what httpx wants to know."""
        seconds = max(timeout_seconds, _LONG_SECONDS) if self.is_long else timeout_seconds
        return {
            "method": self.method,
            "url": self.path,
            "content": None if self.body is None else json.dumps(self.body, default=_written),
            "headers": None if self.body is None else _SENT,
            "params": {
                name: _written(value) if isinstance(value, datetime) else value
                for name, value in self.params.items()
                if value is not None
            },
            "timeout": httpx.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS)),
        }

    def read(self, response: httpx.Response) -> Answer:
        """Return the answer; raises Problem, and Unavailable for what no service of ours says."""
        is_answer = response.is_success or response.status_code in self.answered
        if not is_answer or _is_problem(response):
            raise Problem(_refusal(response))
        answer: Any = None
        if response.status_code != httpx.codes.NO_CONTENT:
            answer = _object(response)
            if answer is None:
                raise Unavailable(f"What answers at {response.url} is not graph-memory.")
        found: Answer = answer
        return found


class Sender:
    """Sends requests and waits for their answers; close it, or use it in a `with`.

    `key` is a key of the service, where it asks for one; ValueError for one that cannot be sent.
    `client` is what the program calls itself, in one word: without keys its memories say so;
    ValueError for one that cannot be sent.
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        key: str | None = None,
        timeout_seconds: float = 60.0,
        transport: httpx.BaseTransport | None = None,
        client: str = CLIENT,
    ) -> None:
        self.url = url
        self.timeout_seconds = timeout_seconds
        self._client = httpx.Client(
            base_url=url, verify=_is_secret(url), transport=transport, trust_env=not is_here(url),
            headers=_headers(key, client),
        )  # fmt: skip

    def send(self, request: Request[Answer]) -> Answer:
        """Send one request; raises Problem, Unavailable or TimedOut."""
        with _named(self.url):
            response = self._client.request(**request.arguments(self.timeout_seconds))
        return request.read(response)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class AsyncSender:
    """Sends requests, to be awaited; close it, or use it in an `async with`.

    `key` and `client` as in Sender.
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        key: str | None = None,
        timeout_seconds: float = 60.0,
        transport: httpx.AsyncBaseTransport | None = None,
        client: str = CLIENT,
    ) -> None:
        self.url = url
        self.timeout_seconds = timeout_seconds
        self._client = httpx.AsyncClient(
            base_url=url, verify=_is_secret(url), transport=transport, trust_env=not is_here(url),
            headers=_headers(key, client),
        )  # fmt: skip

    async def send(self, request: Request[Answer]) -> Answer:
        """Send one request; raises Problem, Unavailable or TimedOut."""
        with _named(self.url):
            response = await self._client.request(**request.arguments(self.timeout_seconds))
        return request.read(response)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


@contextmanager
def _named(url: str) -> Iterator[None]:
    """Name what httpx raises when no answer comes."""
    try:
        yield
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol) as error:
        msg = (
            f"No service answers at {url}: start it with `graph-memory serve`, or give the "
            f"address where it runs ({error})."
        )
        raise Unavailable(msg) from error
    except httpx.TimeoutException as error:
        msg = (
            f"The service at {url} took too long; what was asked for may still be done. Wait "
            "longer by `timeout_seconds`."
        )
        raise TimedOut(msg) from error
    except httpx.RequestError as error:
        msg = f"The service at {url} broke off ({error}): look at its log, and ask again."
        raise Unavailable(msg) from error


def _refusal(response: httpx.Response) -> Refusal:
    """Read a problem; of another server's page, its status says what it means."""
    told = _object(response) or {}
    meaning = f"{response.status_code} {response.reason_phrase}".strip()
    foreign = f"{meaning}: that is not graph-memory, or something stands before it."
    return Refusal(
        type=str(told.get("type", "about:blank")),
        title=str(told.get("title", meaning)),
        status=response.status_code,
        detail=str(told.get("detail", meaning)) if _is_problem(response) else foreign,
        request_id=response.headers.get("x-request-id"),
        errors=tuple(
            FieldError(str(one.get("pointer")), str(one.get("detail")))
            for one in (told.get("errors") or [] if _is_problem(response) else [])
        ),
        retry_after_seconds=_seconds(response.headers.get("retry-after")),
    )


def _is_problem(response: httpx.Response) -> bool:
    return str(response.headers.get("content-type")).startswith("application/problem+json")


def _object(response: httpx.Response) -> dict[str, Any] | None:
    try:
        found = response.json()
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _headers(key: str | None, client: str) -> dict[str, str]:
    try:
        check_sendable(client)
    except ValueError:
        msg = f"`client` {client!r} is no name that a header can carry; write it in ASCII"
        raise ValueError(msg) from None
    named = {"User-Agent": client}
    if not key:
        return named
    try:
        check_sendable(key)
    except ValueError as error:
        msg = f"`key` {error}"
        raise ValueError(msg) from None
    return named | {"Authorization": f"Bearer {key}"}


def _seconds(header: str | None) -> float | None:
    return float(header) if header and header.isdecimal() else None


def _written(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    msg = f"cannot send {type(value).__name__} as JSON"
    raise TypeError(msg)


def is_here(url: str) -> bool:
    """Return whether a service is on this machine: no proxy leads there, nor is one told a key."""
    return not _is_secret(url) and is_loopback(httpx.URL(url).host)


def _is_secret(url: str) -> bool:
    """Return whether certificates are needed; they are read only then, as it takes 20 ms."""
    return not url.startswith("http:")
