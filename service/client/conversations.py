"""What the endpoints of transcripts, fixes and packed conversations take and answer."""

from typing import TypedDict

from service.client.options import AskingOptions
from service.client.sessions import Where


class Fix(TypedDict):
    """What was done about an error before, and when the same command passed after that."""

    id: str
    text: str
    command: str
    proven_at: str
    session: str | None


class FixAnswer(TypedDict):
    """Whether there is a fix that was proven, and the fix."""

    found: bool
    fix: Fix | None


class Observed(TypedDict):
    """What came of a stretch of a transcript; the next one begins at `offset`."""

    stored: int
    duplicates: int
    ignored: dict[str, int]
    offset: int
    memories: list[str]
    warnings: list[str]


class LookupOptions(TypedDict, total=False):
    """Which command failed, whose memory and which project."""

    command: str | None
    agent: str
    project: Where


class TranscriptOptions(TypedDict, total=False):
    """A stretch: `entries` or `text`, where it begins, and whether it is the last."""

    agent: str
    project: Where
    entries: list[object] | None
    text: str | None
    offset: int | None
    final: bool


class Message(TypedDict):
    """Something that was said."""

    role: str
    content: str


class PackedMemories(TypedDict):
    """Memories as a text for the model, and their ids."""

    text: str
    ids: list[str]


class PackReceipt(TypedDict):
    """What it cost, and how many messages and memories did not fit."""

    took_ms: float
    messages_left_out: int
    memories_left_out: int
    fallback_reason: str | None


class Packed(TypedDict):
    """What fits: the last messages, lines about those before them, and memories."""

    messages: list[Message]
    extract: str
    memories: PackedMemories
    tokens: int
    chars: int
    receipt: PackReceipt


class PackOptions(AskingOptions, total=False):
    """Filters, how much room there is, and what memories are asked for."""

    max_tokens: int
    max_chars: int | None
    query: str | None
