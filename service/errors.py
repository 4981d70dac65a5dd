"""Every failure the service can name; an HTTP status is all it knows of the web.

Those of the door are in service/access/errors.py.

ServiceError
├── QueryFailed              500   (a defect of ours)
├── NotFound                 404
│   ├── MemoryNotFound
│   ├── DocumentNotFound
│   ├── ConceptNotFound
│   ├── JobNotFound
│   ├── PlanNotFound
│   ├── RunNotFound
│   ├── PathOutsideSources
│   └── AgentUnknown
├── Refused                  422   (well-formed JSON, but not something we can do)
│   ├── InvalidRequest
│   ├── NotText
│   └── TextRefused
├── NotAsThingsStand         409   (well-formed, and another service or memory would do it)
│   ├── NoSources
│   ├── NoResidentIndex
│   └── ToldElsewhere
├── AgentNotReadable         403
├── SourceTooLarge           413
├── RequestTooLarge          413
├── WriteConflict            409
│   ├── StaleRead            409
│   └── PlanStale            409
├── BodyTooSlow              408
├── Unavailable              503   (with Retry-After)
│   ├── StoreUnavailable
│   │   └── StoreFull        507
│   ├── EmbedderUnavailable
│   ├── Overloaded
│   ├── TookTooLong
│   └── Stopping
├── QuotaFull                507
├── EmbedderRefused          502
│   └── EmbedderForbids      502
├── VectorsUnfit             503
│   ├── FingerprintMismatch
│   │   └── ModelSwapped
│   └── VectorFormMismatch
└── CannotStart              –     (start-up only: one line on stderr and exit status 1)
    ├── StoreInUse
    ├── StoreNotWritable
    ├── StoreRefused
    └── TextIndexMissing
"""

from dataclasses import dataclass
from typing import ClassVar

from service.redaction import redacted


@dataclass(frozen=True, slots=True)
class FieldError:
    """One wrong field: where it stands (a JSON pointer) and what to do about it."""

    pointer: str
    detail: str


class ServiceError(Exception):
    """Something went wrong inside.

    `detail` is what the caller is told. `said` are another program's own words, at its end: they
    may repeat what it was sent, so that `logged`, which is for logs, is without them.
    """

    status: ClassVar[int] = 500
    retry_after_seconds: int | None = None

    def __init__(
        self, detail: str = "", errors: tuple[FieldError, ...] = (), *, said: str = ""
    ) -> None:
        # Whatever repeats it, a server's own words or a URL in it must tell no secret.
        self.logged = redacted(detail) or self.title()
        self.said = said
        self.detail = f"{self.logged}: {redacted(said)}" if said else self.logged
        self.errors = errors
        super().__init__(self.detail)

    @classmethod
    def title(cls) -> str:
        """Return the first line of the class's docstring: the problem's title."""
        return (cls.__doc__ or cls.__name__).strip().splitlines()[0].rstrip(".")


class QueryFailed(ServiceError):
    """The database refused a query."""


class NotFound(ServiceError):
    """There is nothing with this name."""

    status = 404


class MemoryNotFound(NotFound):
    """There is no memory with this id."""


class DocumentNotFound(NotFound):
    """No document with this path was ever ingested."""


class ConceptNotFound(NotFound):
    """There is no concept with this id."""


class JobNotFound(NotFound):
    """There is no job with this id."""


class PlanNotFound(NotFound):
    """There is no plan with this id."""


class RunNotFound(NotFound):
    """There is no consolidation with this id."""


class PathOutsideSources(NotFound):
    """The path lies outside the configured folders."""


class AgentUnknown(NotFound):
    """This agent has never stored a memory."""


class Refused(ServiceError):
    """The request is well-formed but cannot be carried out."""

    status = 422


class InvalidRequest(Refused):
    """The request does not fit the contract."""


class NotText(Refused):
    """The file is not a text file in UTF-8."""


class TextRefused(Refused):
    """The text holds a secret or instructions, which the settings refuse."""


class NotAsThingsStand(ServiceError):
    """The request is right, but cannot be carried out as things stand here."""

    status = 409


class NoSources(NotAsThingsStand):
    """No folder is configured to scan."""


class NoResidentIndex(NotAsThingsStand):
    """No index is held in RAM."""


class ToldElsewhere(NotAsThingsStand):
    """What is said of this memory is told by a file or by other memories."""


class AgentNotReadable(ServiceError):
    """This agent may not read the memories of the other."""

    status = 403


class SourceTooLarge(ServiceError):
    """The text is larger than this service takes."""

    status = 413


class RequestTooLarge(ServiceError):
    """The request is larger than this service takes."""

    status = 413


class BodyTooSlow(ServiceError):
    """The request's body did not arrive in time."""

    status = 408


class WriteConflict(ServiceError):
    """Another writer changed the same memories at the same time."""

    status = 409


class StaleRead(WriteConflict):
    """Another writer came in between reading and writing."""


class PlanStale(WriteConflict):
    """Memories changed since the plan was made."""


class Unavailable(ServiceError):
    """Something the service depends on does not answer."""

    status = 503
    retry_after_seconds = 2


class StoreUnavailable(Unavailable):
    """The database cannot be reached."""


class StoreFull(StoreUnavailable):
    """The disk of the store is full."""

    status = 507
    retry_after_seconds = 30


class EmbedderUnavailable(Unavailable):
    """The embedding server cannot be reached."""


class Overloaded(Unavailable):
    """The service has more to do than it takes on at once."""

    retry_after_seconds = 1


class TookTooLong(Unavailable):
    """The request took longer than it may."""


class Stopping(Unavailable):
    """The service is being stopped."""


class QuotaFull(ServiceError):
    """As much is stored as may be."""

    status = 507


class EmbedderRefused(ServiceError):
    """The embedding server answered something that cannot be used."""

    status = 502


class EmbedderForbids(EmbedderRefused):
    """The embedding server refuses every request: its key, URL or model is wrong."""


class VectorsUnfit(ServiceError):
    """The stored vectors do not fit what the service was started with."""

    status = 503


class FingerprintMismatch(VectorsUnfit):
    """The stored vectors were made by another embedding model."""


class ModelSwapped(FingerprintMismatch):
    """The embedding server serves another model under the old name."""


class VectorFormMismatch(VectorsUnfit):
    """The stored vectors have a form that this search engine cannot search."""


class CannotStart(ServiceError):
    """The service cannot start."""


class StoreInUse(CannotStart):
    """Another process holds this store."""


class StoreNotWritable(CannotStart):
    """The store's folder cannot be written."""


class StoreRefused(CannotStart):
    """The database refused the user or the schema."""


class TextIndexMissing(CannotStart):
    """The store has no full-text index, and the search engine needs one."""
