"""Every failure the embedding server can name; an HTTP status is all it knows of the web.

ApiError
├── InvalidRequest           400
│   └── InputTooLong
├── KeyRefused               401
├── UnknownModel             404
├── EmbeddingFailed          500   (would fail again: clients are told not to retry)
└── ModelUnavailable         503   (with Retry-After)
    ├── ModelLoading
    └── ModelGone
CannotStart                  –     (start-up only: one line on stderr and exit status 1)
"""

from collections.abc import Mapping
from typing import ClassVar


class ApiError(Exception):
    """A request that is answered with an error body in OpenAI's shape."""

    status: ClassVar[int]
    type: ClassVar[str] = "invalid_request_error"
    code: ClassVar[str | None] = None
    headers: ClassVar[Mapping[str, str]] = {}

    def __init__(self, message: str, param: str | None = None) -> None:
        self.message = message
        self.param = param
        super().__init__(message)


class InvalidRequest(ApiError):
    """The request does not fit the contract."""

    status = 400


class InputTooLong(InvalidRequest):
    """An input has more tokens than the model takes."""

    code = "context_length_exceeded"


class KeyRefused(ApiError):
    """The API key is missing or wrong."""

    status = 401
    code = "invalid_api_key"
    headers: ClassVar[Mapping[str, str]] = {"WWW-Authenticate": "Bearer"}


class UnknownModel(ApiError):
    """The server does not serve a model of this name."""

    status = 404
    code = "model_not_found"


class EmbeddingFailed(ApiError):
    """The model failed on this input; the same input would fail again."""

    status = 500
    type = "server_error"
    code = "embedding_failed"
    headers: ClassVar[Mapping[str, str]] = {"x-should-retry": "false"}


class ModelUnavailable(ApiError):
    """The model cannot answer at this moment."""

    status = 503
    type = "server_error"


class ModelLoading(ModelUnavailable):
    """The model is being loaded."""

    code = "model_loading"
    # A small model loads in about five seconds; a client that waits two gets in with few tries.
    headers: ClassVar[Mapping[str, str]] = {"Retry-After": "2"}


class ModelGone(ModelUnavailable):
    """The model could not be loaded, or the thread that runs it has ended."""

    code = "model_unavailable"
    headers: ClassVar[Mapping[str, str]] = {"Retry-After": "30"}


class CannotStart(Exception):
    """The server cannot start with these settings."""
