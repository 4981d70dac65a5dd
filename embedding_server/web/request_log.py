"""Each request's id, its line in the log, and its count; one pure ASGI layer round everything."""

import logging
import time
from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from urllib.parse import quote
from uuid import uuid4

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from embedding_server.errors import ClientDisconnected, ModelLoading
from embedding_server.instruments import Instruments

# Collectors pick the lines of requests by this name.
logger = logging.getLogger("embedding_server.request_log")

MAX_ID_CHARACTERS = 128
# What supervisors and collectors ask every few seconds would drown the requests of clients.
OPERATORS_PATHS = frozenset({"/health", "/metrics"})
MAX_PATH_CHARACTERS = 200


@dataclass(slots=True)
class RequestRecord:
    """What is known of a request by the time it is answered; never a text, never a key."""

    id: str
    status: int | None = None
    texts: int = 0
    tokens: int = 0
    error: str | None = None


_current: ContextVar[RequestRecord | None] = ContextVar("request_record", default=None)


def find_record() -> RequestRecord | None:
    """Return the record of the request that this code runs for, if it runs for one."""
    return _current.get()


def note_input(texts: int, tokens: int) -> None:
    """Put the size of the input into the request's record."""
    if (record := find_record()) is not None:
        record.texts, record.tokens = texts, tokens


def note_error(code: str | None) -> None:
    """Put the code of the failure into the request's record."""
    if (record := find_record()) is not None:
        record.error = code


class RequestLog:
    """Names, times, counts and logs every request, those that fail unexpectedly as well.

    Every answer carries x-request-id, the client's own if it is sane, and openai-processing-ms.
    """

    def __init__(self, app: ASGIApp, instruments: Instruments) -> None:
        self.app = app
        self.instruments = instruments

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request and log it once it is answered, or given up."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start = time.perf_counter()
        record = RequestRecord(_choose_id(scope["headers"]))
        # Not reset afterwards: the web server logs a traceback when this has been left. Each
        # request runs in a task of its own, so it cannot leak into the next one.
        _current.set(record)

        async def send_marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                record.status = message["status"]
                milliseconds = int(1000 * (time.perf_counter() - start))
                message["headers"] = [
                    *message.get("headers", ()),
                    (b"x-request-id", record.id.encode()),
                    (b"openai-processing-ms", str(milliseconds).encode()),
                ]
            await send(message)

        status = 500
        try:
            await self.app(scope, receive, send_marked)
            status = ClientDisconnected.status
        finally:
            record.status = record.status or status
            self._finish(scope, record, time.perf_counter() - start)

    def _finish(self, scope: Scope, record: RequestRecord, seconds: float) -> None:
        status = record.status or 0
        level = _choose_level(status, record.error)
        if scope["path"] in OPERATORS_PATHS:
            level = logging.DEBUG
        else:
            self.instruments.requests.labels(str(status)).inc()
            self.instruments.request_seconds.observe(seconds)
        if status == ClientDisconnected.status:
            self.instruments.cancelled.inc()
        _log(level, scope, record, seconds)


def _choose_id(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """Return the client's id if it can go into a header and a log line, else a new one."""
    given = dict(headers).get(b"x-request-id", b"").decode("latin-1").strip()
    is_sane = given.isascii() and given.isprintable() and 0 < len(given) <= MAX_ID_CHARACTERS
    return given if is_sane else uuid4().hex


def _choose_level(status: int, error: str | None) -> int:
    # Whoever starts with the server asks it until it is ready: several lines at every start.
    if status < 400 or error == ModelLoading.code:
        return logging.DEBUG
    return logging.INFO if status < 500 else logging.WARNING


def _log(level: int, scope: Scope, record: RequestRecord, seconds: float) -> None:
    if not logger.isEnabledFor(level):
        return
    fields: dict[str, object] = {
        "method": scope["method"],
        # Percent-encoded, or a path with a line break in it could forge lines; without the query,
        # for some clients put a key there.
        "path": quote(scope["path"])[:MAX_PATH_CHARACTERS],
        "status": record.status,
        "milliseconds": round(1000 * seconds, 1),
        "texts": record.texts,
        "tokens": record.tokens,
    }
    if record.error is not None:
        fields["error"] = record.error
    words = "{method} {path} {status}, {milliseconds} ms, {texts} texts, {tokens} tokens"
    line = words.format_map(fields) + (f", {record.error}" if record.error else "")
    logger.log(level, "%s", line, extra=fields)
