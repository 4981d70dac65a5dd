"""Words of a command line that make no sense, whether the command says so or the service does."""

from typing import Final

from service.client.errors import ClientError, Problem

_INVALID: Final = "/problems/invalid-request"


class Misused(ClientError):
    """The command was called with words that make no sense to it."""


def is_misuse(error: Exception) -> bool:
    """Return whether words of the command line are wrong: a field that is refused was an option."""
    if isinstance(error, Problem):
        return error.refusal.type == _INVALID and bool(error.errors)
    return isinstance(error, Misused)
