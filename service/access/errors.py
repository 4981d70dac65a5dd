"""What the door answers to whoever may not come in, or not do this; pure.

ServiceError
├── HeadersRefused           400
├── KeyInUrl                 400
├── Unauthorized             401
├── Forbidden                403
├── ForeignPage              403
├── OwnMemories              409
├── KeyPast                  409
├── KeyEnded                 409
├── NotJson                  415
├── MisdirectedRequest       421
├── CodingUnknown            501
├── TooManyRequests          429   (with Retry-After)
└── NotFound                 404
    ├── KeyNotFound
    └── GrantNotFound
"""

import math

from service.errors import NotAsThingsStand, NotFound, ServiceError


class Unauthorized(ServiceError):
    """A key is needed."""

    status = 401


class Forbidden(ServiceError):
    """The key does not allow this."""

    status = 403


class TooManyRequests(ServiceError):
    """More was asked than may be asked in this time."""

    status = 429
    retry_after_seconds = 1

    def __init__(self, detail: str = "", seconds: float = 1.0) -> None:
        super().__init__(detail)
        self.retry_after_seconds = max(1, math.ceil(seconds))


class KeyNotFound(NotFound):
    """There is no key with this id."""


class GrantNotFound(NotFound):
    """There is no grant with this id."""


class HeadersRefused(ServiceError):
    """The request's headers say two things at once."""

    status = 400


class KeyInUrl(ServiceError):
    """A key stands in the URL."""

    status = 400


class ForeignPage(ServiceError):
    """A page of another origin sent this."""

    status = 403


class OwnMemories(NotAsThingsStand):
    """An agent reads its own memories anyway."""


class KeyPast(NotAsThingsStand):
    """The key would be past its time already."""


class KeyEnded(NotAsThingsStand):
    """The key was revoked, or is past its time."""


class NotJson(ServiceError):
    """The body is not JSON."""

    status = 415


class MisdirectedRequest(ServiceError):
    """The request means another host."""

    status = 421


class CodingUnknown(ServiceError):
    """The body is sent in a coding that is not read here."""

    status = 501
