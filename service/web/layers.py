"""What every request passes before FastAPI sees it: a bound on its size, and its id."""

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.errors import RequestTooLarge
from service.web.problems import problem, request_id


class RequestSizeLimit:
    """Answers 413 to a body larger than `max_bytes`, before more of it is read into memory."""

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self.app = app
        self.max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body up to the limit and hand it on whole."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        size, parts, more = 0, [], True
        announced = request.headers.get("content-length", "")
        is_large = announced.isdigit() and int(announced) > self.max_bytes
        while more and not is_large:
            message = await receive()
            if message["type"] != "http.request":
                return
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            more, is_large = message.get("more_body", False), size > self.max_bytes
        if is_large:
            msg = f"Send at most {self.max_bytes:,} bytes at once (MEMORY_MAX_REQUEST_BYTES)."
            await problem(request, RequestTooLarge(msg))(scope, receive, send)
            return
        whole: Message = {"type": "http.request", "body": b"".join(parts), "more_body": False}
        waiting = [whole]

        async def replay() -> Message:
            return waiting.pop() if waiting else await receive()

        await self.app(scope, replay, send)


class RequestNames:
    """Puts the request's id on every answer, in X-Request-ID."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; name the answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        name = request_id(Request(scope))

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["X-Request-ID"] = name
            await send(message)

        await self.app(scope, receive, named)
