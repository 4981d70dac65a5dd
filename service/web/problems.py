"""Errors as application/problem+json (RFC 9457); the only place where they are rendered."""

import logging
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final
from uuid import uuid4

import orjson
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

from service.access.errors import Unauthorized
from service.errors import FieldError, ServiceError

_CAPITAL: Final = re.compile(r"(?<!^)(?=[A-Z])")
_REQUEST_ID: Final = re.compile(r"[\w.:-]{1,100}")

log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"

# Of every answer: it is no page, and no cache of a browser or a proxy keeps it.
TOLD: Final = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}

# Where errors are JSON-RPC's, as its clients read them; the problem goes along as their data.
RPC_PATHS: Final = frozenset({"/mcp", "/mcp/"})
_RPC_REFUSED, _RPC_FAILED = -32600, -32603

# Those that HTTP knows, beside any of its own that somebody tries.
_METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")


def install_problems(app: FastAPI) -> None:
    """Make every failure of `app` answer as a problem, the unexpected ones too."""
    app.add_exception_handler(ServiceError, _service_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _unexpected_error)


def problem(request: Request, error: ServiceError) -> Response:
    """Render one named error as a response."""
    headers = {}
    if isinstance(error, Unauthorized):
        headers["WWW-Authenticate"] = 'Bearer realm="graph-memory"'
    if error.retry_after_seconds is not None:
        headers["Retry-After"] = str(error.retry_after_seconds)
    slug = _CAPITAL.sub("-", type(error).__name__).lower()
    body = _body(request, error.status, error.title(), error.detail, slug)
    faults = error.errors
    if error.status == HTTPStatus.UNPROCESSABLE_ENTITY and not faults:
        faults = (FieldError("", error.detail),)
    if faults:
        body["errors"] = [{"pointer": each.pointer, "detail": each.detail} for each in faults]
    return _respond(error.status, body, headers)


def request_id(request: Request) -> str:
    """Return the id of this request: the caller's X-Request-ID or a new one."""
    if not hasattr(request.state, "request_id"):
        given = request.headers.get("x-request-id", "")
        request.state.request_id = given if _REQUEST_ID.fullmatch(given) else uuid4().hex
    return str(request.state.request_id)


def _body(
    request: Request, status: int, title: str, detail: str, slug: str | None = None
) -> dict[str, Any]:
    return {
        "type": f"/problems/{slug}" if slug else "about:blank",
        "title": title,
        "status": status,
        "detail": detail,
        "instance": request.scope["path"],
        "request_id": request_id(request),
    }


def _respond(
    status: int, body: dict[str, Any], headers: Mapping[str, str] | None = None
) -> Response:
    is_rpc = body["instance"] in RPC_PATHS
    told = _as_rpc(status, body) if is_rpc else body
    # A lone surrogate in the caller's own text cannot be encoded as UTF-8; show it escaped.
    try:
        content = orjson.dumps(told)
    except TypeError:
        content = orjson.dumps({**body, "detail": ascii(body["detail"]), "errors": []})
    return Response(
        content,
        status_code=status,
        media_type="application/json" if is_rpc else MEDIA_TYPE,
        headers={**TOLD, **(headers or {}), "X-Request-ID": str(body["request_id"])},
    )


def _as_rpc(status: int, body: dict[str, Any]) -> dict[str, Any]:
    """Return a problem as an error of JSON-RPC; whose message it answers is not known yet."""
    code = _RPC_FAILED if status >= HTTPStatus.INTERNAL_SERVER_ERROR else _RPC_REFUSED
    error = {"code": code, "message": f"{body['title']}: {body['detail']}", "data": body}
    return {"jsonrpc": "2.0", "id": None, "error": error}


async def _service_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ServiceError)  # noqa: S101 - registered for this class only
    if error.status >= 500:
        # Of a path its template: an id in it may be a word of somebody's.
        route = getattr(request.scope.get("route"), "path", "a path without a route")
        name = request_id(request)
        log.warning("request %s, %s %s: %s", name, request.method, route, error.logged)
        log.debug("request %s: %s", name, error.detail)
    return problem(request, error)


async def _validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for this class only
    fields = [FieldError(_pointer(e), advice(e)) for e in error.errors()]
    first = f"{fields[0].pointer}: {fields[0].detail}".removeprefix(": ")
    more = f" (and {len(fields) - 1} more)" if len(fields) > 1 else ""
    body = _body(
        request, 422, "The request does not fit the contract", first + more, "invalid-request"
    )
    body["errors"] = [{"pointer": f.pointer, "detail": f.detail} for f in fields]
    return _respond(422, body)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class only
    title, headers = HTTPStatus(error.status_code).phrase, dict(error.headers or {})
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        headers["Allow"] = ", ".join(_taken(request))
    advised = _HTTP_ADVICE.get(error.status_code)
    place = {"method": request.method, "path": request.scope["path"]}
    detail = advised.format(**place) if advised else str(error.detail)
    return _respond(error.status_code, _body(request, error.status_code, title, detail), headers)


def _taken(request: Request) -> list[str]:
    """Return the methods that the path takes by any route: each route knows its own alone.

    A path that is described is no id of another: nothing is read at /memories/batch.
    """
    told = request.app.state.operations.get(request.scope["path"])
    # Where there is a GET its HEAD is not described beside it.
    described = {method.upper() for method in told} if told else set(_METHODS)
    described |= {"HEAD"} if "GET" in described else set()
    routes = request.app.router.routes
    return [
        method
        for method in _METHODS
        if method in described
        and any(
            route.matches({**request.scope, "method": method})[0] is Match.FULL for route in routes
        )
    ]


async def _unexpected_error(request: Request, error: Exception) -> Response:
    log.error("request %s failed", request_id(request), exc_info=error)
    detail = "The service failed; its log names this request id."
    return _respond(500, _body(request, 500, "Something went wrong inside", detail))


_HTTP_ADVICE: Final = {
    400: "The body cannot be read: send JSON in UTF-8, not nested a thousand levels deep, without "
    "numbers of thousands of digits.",
    404: "There is no endpoint {path}; GET /openapi.json lists those there are.",
    405: "{path} does not take {method}; GET /openapi.json lists what it takes.",
}


def _pointer(error: Mapping[str, Any]) -> str:
    """Turn pydantic's location into a JSON pointer; query parameters read `?name`.

    The empty pointer is the whole body (RFC 6901).
    """
    location = tuple(error["loc"])
    if error["type"] == "json_invalid" or len(location) == 1:
        return ""
    if location[0] == "query":
        return "?" + ".".join(map(str, location[1:]))
    parts = [str(p) for p in location[1:]]
    return "/" + "/".join(p.replace("~", "~0").replace("/", "~1") for p in parts)


_ADVICE: Final = {
    **dict.fromkeys(
        ("model_attributes_type", "model_type", "dict_type"),
        "Send a JSON object here, with Content-Type: application/json.",
    ),
    "string_unicode": "Holds half a character (a lone surrogate); send valid Unicode.",
}


def advice(error: Mapping[str, Any]) -> str:
    """Say what is wrong with one field: pydantic's own words, made a sentence that helps."""
    if error["type"] == "json_invalid":
        reason = error.get("ctx", {}).get("error", "malformed")
        return f"The body is not JSON ({reason}). Send one JSON object."
    if error["type"] == "missing" and tuple(error["loc"]) == ("body",):
        return "The body is missing. Send a JSON object."
    if error["type"] in _ADVICE:
        return _ADVICE[error["type"]]
    if error["type"] == "string_too_long":
        most, sent = error["ctx"]["max_length"], len(error["input"])
        return f"Send at most {most:,} characters; these are {sent:,}."
    if error["type"] == "too_short" and not error["input"]:
        return "Is empty; send at least one, or leave it out where it is optional."
    message = str(error["msg"]).removeprefix("Value error, ")
    if error["type"].startswith("datetime_"):
        message += "; write 2026-02-13 or 2026-02-13T10:00:00Z"
    return message[:1].upper() + message[1:] + ("" if message.endswith(".") else ".")
