"""What can go wrong when the service is asked.

ClientError
├── Problem       the service answered, and refused: status, title, detail, errors
└── Unavailable   no answer came, or none that the service would give
    └── TimedOut  it took longer than was waited; what was asked for may still be done
"""

from dataclasses import dataclass

from service.errors import FieldError


class ClientError(Exception):
    """The service did not do what it was asked; `detail` says why, and what to do."""

    def __init__(self, detail: str) -> None:
        self.detail = detail
        super().__init__(detail)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A problem as the service tells it (RFC 9457); `type` is `/problems/…` and stays the same.

    `errors` names wrong fields. `retry_after_seconds` is None where waiting would not help.
    """

    type: str
    title: str
    status: int
    detail: str
    request_id: str | None = None
    errors: tuple[FieldError, ...] = ()
    retry_after_seconds: float | None = None


class Problem(ClientError):
    """The service answered with a problem."""

    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal
        super().__init__(refusal.detail)

    @property
    def status(self) -> int:
        """The HTTP status, such as 404 or 422."""
        return self.refusal.status

    @property
    def title(self) -> str:
        """What kind of problem it is, in one line."""
        return self.refusal.title

    @property
    def errors(self) -> tuple[FieldError, ...]:
        """The wrong fields of a request that does not fit the contract."""
        return self.refusal.errors


class Unavailable(ClientError):
    """No service answers at this address."""


class TimedOut(Unavailable):
    """The service took too long; what was asked for may still be done."""
