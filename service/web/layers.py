"""What every request passes before the gate: it is named, and counted once it is answered."""

import time
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.web.problems import request_id

# From a search of a small store to a scan that is waited for.
_SECONDS: Final = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300)


class Requests:
    """What is counted of requests, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.answered = Counter(
            "graph_memory_requests", "Answered requests, by route, method and status.",
            ("route", "method", "status"), registry=self.registry,
        )  # fmt: skip
        self.seconds = Histogram(
            "graph_memory_request_duration_seconds",
            "Time from a request's headers to the end of its answer, waiting included.",
            ("route",), buckets=_SECONDS, registry=self.registry,
        )  # fmt: skip


class CountRequests:
    """Counts each answer under the template of its route: no name that a caller chose."""

    def __init__(self, app: ASGIApp, requests: Requests) -> None:
        self.app = app
        self.requests = requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; count its answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        # An unexpected failure is answered by a layer outside of this one.
        begun, status = time.perf_counter(), 500

        async def noted(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self.app(scope, receive, noted)
        finally:
            # Without a route nothing was found under the path, or the gate let nobody in.
            route = getattr(scope.get("route"), "path", "none")
            method = scope["method"] if route != "none" else "any"
            self.requests.answered.labels(route, method, str(status)).inc()
            self.requests.seconds.labels(route).observe(time.perf_counter() - begun)


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
