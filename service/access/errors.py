"""What the door answers to whoever may not come in, or not do this; pure.

ServiceError
├── Unauthorized             401
├── Forbidden                403
├── TooManyRequests          429   (with Retry-After)
└── NotFound                 404
    ├── KeyNotFound
    └── GrantNotFound
"""

import math

from service.errors import NotFound, ServiceError


class Unauthorized(ServiceError):
    """A key is needed."""

    status = 401


class Forbidden(ServiceError):
    """The key does not allow this."""

    status = 403


class TooManyRequests(ServiceError):
    """This key sends more requests than it may."""

    status = 429
    retry_after_seconds = 1

    def __init__(self, detail: str = "", seconds: float = 1.0) -> None:
        super().__init__(detail)
        self.retry_after_seconds = max(1, math.ceil(seconds))


class KeyNotFound(NotFound):
    """There is no key with this id."""


class GrantNotFound(NotFound):
    """There is no grant with this id."""
