"""What went wrong, in words that say what to do; pure."""

from typing import Final

from pydantic import ValidationError

from service.client.errors import ClientError, Problem

_UNAUTHORIZED: Final = 401


def told(error: ClientError) -> str:
    """Return what the service said, or that none did, and when it is worth to ask again."""
    if not isinstance(error, Problem):
        return error.detail
    refusal = error.refusal
    fields = [f"{one.pointer}: {one.detail}" for one in refusal.errors if one.pointer]
    words = f"{refusal.title}: {'; '.join(fields) or refusal.detail}"
    if refusal.status == _UNAUTHORIZED:
        words += " `graph-memory mcp` sends the one in MEMORY_API_KEY."
    if refusal.retry_after_seconds is None:
        return words
    return f"{words} Ask again in {refusal.retry_after_seconds:g} s."


def told_invalid(error: ValidationError) -> str:
    """Return which arguments do not fit; no value is repeated."""
    faults = [
        (".".join(map(str, one["loc"])), one["msg"].removeprefix("Value error, "))
        for one in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    words = (f"{place}: {fault}" if place else fault for place, fault in faults)
    return f"The arguments do not fit: {'; '.join(words)}."
