"""What a cascade and a session's end answer."""

from collections.abc import Sequence
from typing import Literal, TypedDict

from service.client.answers import Hit
from service.client.conversations import Message
from service.client.options import AskingOptions, Project
from service.client.reflections import Worth


class AskedTier(TypedDict):
    """A tier that was asked: how sure it is, how much it found, what that took."""

    tier: Literal["context", "ephemeral", "session", "long_term"]
    confidence: float
    found: int
    took_ms: float


class CascadeAnswer(TypedDict):
    """What the first tier that is sure says: texts, or memories, the best first."""

    tier: Literal["context", "ephemeral", "session", "long_term"] | None
    confidence: float
    texts: list[str]
    results: list[Hit]
    asked: list[AskedTier]
    took_ms: float
    fallback_reason: str | None


class CascadeOptions(AskingOptions, total=False):
    """The conversation that a question comes up in, and how sure an answer must be."""

    messages: Sequence[Message]
    limit: int
    min_confidence: float


class Kept(TypedDict):
    """What is kept of a session, as which memory (None in a dry run), and what it is worth."""

    id: str | None
    text: str
    worth: Worth


class Cleared(TypedDict):
    """What is not kept, cut to 300 characters."""

    id: str | None
    text: str
    worth: Worth


class SessionEnded(TypedDict):
    """What became of a session's notes; `is_cleared` is False of one written meanwhile."""

    session: str
    scope: str | None
    promoted: list[Kept]
    cleared: list[Cleared]
    is_cleared: bool
    dry_run: bool


class SessionEndOptions(TypedDict, total=False):
    """Whose session ends, and from which worth on its notes are kept."""

    agent: str
    project: Project | str | None
    threshold: float
    dry_run: bool
