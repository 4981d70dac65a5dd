"""How large a request's body may be."""

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from embedding_server.errors import BodyTooLarge
from embedding_server.web.error_responses import render_error

# The 300,000 tokens that OpenAI takes in a request are about 1.5 MB of text; even where JSON
# escapes each character (six bytes), it is half of this.
MAX_BODY_BYTES = 16 * 2**20


class BodyLimit:
    """Answers 413 to a body larger than `max_bytes`, before more of it is read into memory."""

    def __init__(self, app: ASGIApp, max_bytes: int = MAX_BODY_BYTES) -> None:
        self.app = app
        self.max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body up to the limit and hand it on whole."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        announced = Request(scope).headers.get("content-length", "")
        is_large = announced.isdecimal() and int(announced) > self.max_bytes
        # A body sent in chunks announces nothing, so what arrives is counted as well.
        size, parts, has_more = 0, [], True
        while has_more and not is_large:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            has_more, is_large = message.get("more_body", False), size > self.max_bytes
        if is_large:
            error = BodyTooLarge(
                f"The body has more than {self.max_bytes:,} bytes. Send fewer texts at once."
            )
            await render_error(error)(scope, receive, send)
            return
        whole: list[Message] = [{"type": "http.request", "body": b"".join(parts)}]
        parts.clear()

        async def replay() -> Message:
            return whole.pop() if whole else await receive()

        await self.app(scope, replay, send)
