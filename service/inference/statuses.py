"""What the status of an embedding server's answer means; no I/O here."""

from typing import Any, Final, NamedTuple

from service.errors import EmbedderForbids, EmbedderRefused
from service.inference.answers import cut_in, read_object, read_vectors
from service.inference.asking import Answer
from service.records import Vector

# What openai-python retries too: time-outs, lost races, busy servers.
_PASSING: Final = frozenset({408, 409, 429, 500, 502, 503, 504})
# What some servers say to a text that is too long for them, whenever they are asked; and gateways
# (408, 504) to a batch that takes them too long.
_OF_TEXTS: Final = frozenset({408, 500, 502, 504})
# What a server says to every text, so that asking for each by itself is of no use; and what of
# ours may be wrong.
_FORBIDDING: Final = {
    401: "MEMORY_EMBEDDING_API_KEY", 403: "MEMORY_EMBEDDING_API_KEY",
    404: "MEMORY_EMBEDDING_URL and MEMORY_EMBEDDING_MODEL", 405: "MEMORY_EMBEDDING_URL",
    407: "HTTP_PROXY and NO_PROXY",
}  # fmt: skip


class PassingFailure(Exception):
    """A failure that may be gone at the next try; one that lies in the texts never is."""

    def __init__(
        self,
        detail: str,
        said: str,
        wait_seconds: float | None = None,
        *,
        may_lie_in_the_texts: bool = True,
    ) -> None:
        self.detail = detail
        self.said = said
        self.wait_seconds = wait_seconds
        self.may_lie_in_the_texts = may_lie_in_the_texts
        super().__init__(detail)


def may_lie_in_texts(cause: BaseException | None) -> bool:
    """Say whether texts may be what a server failed at, or took too long for."""
    if isinstance(cause, PassingFailure):
        return cause.may_lie_in_the_texts
    return isinstance(cause, TimeoutError)


def accepted(answer: Answer) -> Answer:
    """Return a good answer; raises EmbedderForbids, EmbedderRefused or PassingFailure."""
    if answer.status == 200:
        return answer
    detail, said = f"The embedding server answered {answer.status}", answer.refusal()
    if 300 <= answer.status < 400:
        detail += ", and no redirect is followed: set MEMORY_EMBEDDING_URL to where it leads"
        raise EmbedderForbids(detail, said=answer.headers.get("location", ""))
    is_final = answer.headers.get("x-should-retry") == "false"
    if answer.status in _FORBIDDING:
        at = f"Look at {_FORBIDDING[answer.status]}"
        raise EmbedderForbids(f"{at}: the embedding server answered {answer.status}", said=said)
    if is_final or answer.status not in _PASSING:
        raise EmbedderRefused(detail, said=said)
    wait_seconds = _seconds(answer.headers.get("retry-after"))
    is_of_texts = answer.status in _OF_TEXTS
    raise PassingFailure(detail, said, wait_seconds, may_lie_in_the_texts=is_of_texts)


def object_of(answer: Answer) -> dict[str, Any]:
    """Return what a good answer holds; raises EmbedderRefused, also for an error called good.

    So some gateways tell what the server behind them said.
    """
    told = read_object(answer.content)
    if told.get("error") and not told.get("data"):
        detail = f"The embedding server answered {answer.status} with an error"
        raise EmbedderRefused(detail, said=answer.refusal())
    return told


class ReadVectors(NamedTuple):
    """What a good answer holds of some texts: `cut` of them were longer than the model reads."""

    model: object
    vectors: list[Vector]
    cut: int


def embedded_in(answer: Answer, count: int, dimensions: int) -> ReadVectors:
    """Return the vectors of so many texts; raises EmbedderRefused."""
    told = object_of(answer)
    return ReadVectors(
        told.get("model"), read_vectors(told, count, dimensions), cut_in(told, count)
    )


def _seconds(header: str | None) -> float | None:
    return float(header) if header and header.replace(".", "", 1).isdecimal() else None
