"""What answers may be beside the good ones, as /openapi.json declares it: problems and links."""

from collections.abc import Mapping
from typing import Any, Final

from service.errors import ServiceError
from service.web.problems import MEDIA_TYPE

Responses = dict[int | str, dict[str, Any]]

_TEXT: Final = {"type": "string"}
_SCHEMA: Final = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "instance", "request_id"],
    "properties": {
        "type": _TEXT,
        "title": _TEXT,
        "status": {"type": "integer"},
        "detail": _TEXT,
        "instance": _TEXT,
        "request_id": _TEXT,
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["pointer", "detail"],
                "properties": {"pointer": _TEXT, "detail": _TEXT},
            },
        },
    },
}
_EXAMPLE: Final = {
    "type": "/problems/invalid-request",
    "title": "The request does not fit the contract",
    "status": 422,
    "detail": "/limit: Input should be greater than or equal to 1.",
    "instance": "/search",
    "request_id": "5f0c",
    "errors": [{"pointer": "/limit", "detail": "Input should be greater than or equal to 1."}],
}
_RETRY_AFTER: Final = {
    "Retry-After": {
        "description": "Seconds to wait before asking again.",
        "schema": {"type": "integer", "minimum": 0},
    }
}
# Of every operation.
PROBLEM_RESPONSES: Final[Responses] = {
    422: {
        "description": "The request does not fit the contract; `errors` says where.",
        "content": {MEDIA_TYPE: {"schema": _SCHEMA, "example": _EXAMPLE}},
    },
    "default": {
        "description": "What went wrong, and what to do about it.",
        "content": {MEDIA_TYPE: {"schema": _SCHEMA}},
    },
}


def problems(*errors: type[ServiceError]) -> Responses:
    """Declare the problems that an operation has of its own, each by its title."""
    declared: Responses = {}
    for error in errors:
        known = declared.get(error.status, {}).get("description")
        told = declared[error.status] = {
            "description": f"{known}; or: {error.title()}" if known else error.title(),
            "content": {MEDIA_TYPE: {"schema": _SCHEMA}},
        }
        if error.retry_after_seconds is not None:
            told["headers"] = _RETRY_AFTER
    return declared


def links(status: int, **operations: Mapping[str, str]) -> Responses:
    """Declare which operations take what an answer of this status has, by its JSON pointer.

    `read_memory={"id": "/id"}`: its parameter `id` is this answer's `id`.
    """
    return {
        status: {
            "links": {
                name: {
                    "operationId": name,
                    "parameters": {
                        parameter: f"$response.body#{pointer}"
                        for parameter, pointer in parameters.items()
                    },
                }
                for name, parameters in operations.items()
            }
        }
    }
