"""Every failure the embedding server can name; an HTTP status is all it knows of the web.

ApiError
├── InvalidRequest           400
│   ├── InputTooLong
│   └── RequestTooLong
├── KeyRefused               401
├── ForeignPage              403
├── UnknownModel             404
├── BodyTooSlow              408
├── BodyTooLarge             413
├── NotJson                  415
├── MisdirectedRequest       421
├── ServerBusy               429   (with Retry-After)
├── ClientDisconnected       499   (nobody reads the answer; the log and the metrics tell it)
├── EmbeddingFailed          500   (would fail again: clients are told not to retry)
│   └── OutOfMemory
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
    headers: Mapping[str, str] = {}

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


class RequestTooLong(InvalidRequest):
    """The inputs of one request have more tokens together than a request may have."""

    code = "request_too_long"


class KeyRefused(ApiError):
    """The API key is missing or wrong."""

    status = 401
    code = "invalid_api_key"
    headers: Mapping[str, str] = {"WWW-Authenticate": "Bearer"}


class ForeignPage(ApiError):
    """A page of another origin asks."""

    status = 403
    code = "foreign_origin"


class UnknownModel(ApiError):
    """The server does not serve a model of this name."""

    status = 404
    code = "model_not_found"


class BodyTooSlow(ApiError):
    """The body did not arrive in time."""

    status = 408
    code = "request_too_slow"
    headers: Mapping[str, str] = {"Connection": "close"}


class BodyTooLarge(ApiError):
    """The body has more bytes than the server reads."""

    status = 413
    code = "request_too_large"


class NotJson(ApiError):
    """The body is not JSON."""

    status = 415
    code = "unsupported_media_type"


class MisdirectedRequest(ApiError):
    """The request means another host."""

    status = 421
    code = "unknown_host"


class ServerBusy(ApiError):
    """So much waits for the model that the request is not taken."""

    status = 429
    type = "rate_limit_error"
    code = "server_busy"

    def __init__(self, message: str, retry_after_seconds: int) -> None:
        super().__init__(message)
        # OpenAI's client gives up when it is told to wait longer than 120 s.
        self.headers = {"Retry-After": str(max(1, min(retry_after_seconds, 60)))}


class ClientDisconnected(ApiError):
    """The client closed its connection before it was answered; the number is nginx's."""

    status = 499
    code = "client_left"


class EmbeddingFailed(ApiError):
    """The model failed on this input; the same input would fail again."""

    status = 500
    type = "server_error"
    code = "embedding_failed"
    headers: Mapping[str, str] = {"x-should-retry": "false"}


class OutOfMemory(EmbeddingFailed):
    """The input does not fit into memory, even alone in its forward pass."""

    code = "out_of_memory"


class ModelUnavailable(ApiError):
    """The model cannot answer at this moment."""

    status = 503
    type = "server_error"


class ModelLoading(ModelUnavailable):
    """The model is being loaded."""

    code = "model_loading"
    # A small model loads in about five seconds; a client that waits two gets in with few tries.
    headers: Mapping[str, str] = {"Retry-After": "2"}


class ModelGone(ModelUnavailable):
    """The model could not be loaded, or the thread that runs it has ended."""

    code = "model_unavailable"
    headers: Mapping[str, str] = {"Retry-After": "30"}


class CannotStart(Exception):
    """The server cannot start with these settings."""
