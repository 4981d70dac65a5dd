"""Every failure as an answer in OpenAI's error shape."""

import asyncio
from collections.abc import Mapping
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from embedding_server.errors import ApiError, ModelGone
from embedding_server.web.protocol import ErrorBody, ErrorDetail
from embedding_server.web.request_log import find_record, note_error

# The first word of pydantic's error types → OpenAI's code; every other is an invalid value.
CODES = {"missing": "missing_required_parameter", "json_invalid": "invalid_json"}


def install_error_handlers(app: FastAPI) -> None:
    """Make the app answer every failure in OpenAI's shape, those of the framework as well."""
    app.exception_handler(ApiError)(_render_api_error)
    app.exception_handler(RequestValidationError)(_render_validation)
    app.exception_handler(HTTPException)(_render_http)
    app.exception_handler(Exception)(_render_unexpected)


class StopAnswer:
    """Answers 503 where the web server cancels a request that has not ended in time for a stop."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request; only the web server cancels it as a whole."""
        try:
            await self.app(scope, receive, send)
        except asyncio.CancelledError:
            record = find_record()
            if record is None or record.status is not None:
                raise
            await render_error(ModelGone("The server is stopping."))(scope, receive, send)


def describe_error(error: ApiError) -> ErrorDetail:
    """Return the four fields of OpenAI's error object."""
    return ErrorDetail(message=error.message, type=error.type, param=error.param, code=error.code)


def render_error(error: ApiError) -> JSONResponse:
    """Return the answer to a request that failed in a way that the server can name."""
    return _respond(error.status, describe_error(error), error.headers)


def _respond(
    status: int, detail: ErrorDetail, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    note_error(detail.code)
    return JSONResponse(ErrorBody(error=detail).model_dump(), status, dict(headers or {}))


async def _render_api_error(_request: Request, error: ApiError) -> JSONResponse:
    return render_error(error)


async def _render_validation(_request: Request, error: RequestValidationError) -> JSONResponse:
    """Answer 400 with the first fault, as OpenAI does, where the framework would answer 422."""
    first = error.errors()[0]
    kind, location = str(first["type"]), [str(part) for part in first["loc"][1:]]
    param = location[0] if location and kind != "json_invalid" else None
    detail = ErrorDetail(
        message=_explain(kind, param, first),
        type="invalid_request_error",
        param=param,
        code=_code(kind),
    )
    return _respond(HTTPStatus.BAD_REQUEST, detail)


def _explain(kind: str, param: str | None, fault: Mapping[str, object]) -> str:
    message = str(fault["msg"])
    if kind == "json_invalid":
        context = fault.get("ctx")
        reason = context.get("error") if isinstance(context, Mapping) else message
        return f"The body is not valid JSON: {reason}."
    if param is None:
        return "The body must be a JSON object, sent with Content-Type: application/json."
    if kind == "missing":
        return f"Missing required parameter: '{param}'."
    return message if kind == "input" else f"Invalid '{param}': {message}."


def _code(kind: str) -> str:
    if kind in CODES:
        return CODES[kind]
    return "invalid_type" if kind.endswith("_type") else "invalid_value"


async def _render_http(request: Request, error: HTTPException) -> JSONResponse:
    """Answer what the framework itself refuses: unknown paths, wrong methods, unreadable bodies."""
    detail = ErrorDetail(
        message=_explain_status(request, error),
        type="invalid_request_error" if error.status_code < 500 else "server_error",
        param=None,
        code=None,
    )
    return _respond(error.status_code, detail, error.headers)


def _explain_status(request: Request, error: HTTPException) -> str:
    if error.status_code == HTTPStatus.NOT_FOUND:
        return f"Invalid URL ({request.method} {request.url.path})"
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        return f"Not allowed to {request.method} on {request.url.path}"
    return str(error.detail)


async def _render_unexpected(_request: Request, _error: Exception) -> JSONResponse:
    """Answer 500 without a word of the inside; the web server logs the traceback."""
    detail = ErrorDetail(
        message="The server had an error while processing the request.",
        type="server_error",
        param=None,
        code="internal_error",
    )
    return _respond(HTTPStatus.INTERNAL_SERVER_ERROR, detail)
