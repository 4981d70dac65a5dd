"""A text that a command is told in a word, or through a pipe."""

import sys

from service.commands.misused import Misused
from service.errors import InvalidRequest


def words_of(text: str | None) -> str:
    """Return a text, from a pipe for '-' or nothing.

    Raises Misused where it says nothing, InvalidRequest for a pipe that is no text.
    """
    words = _piped() if text in {None, "-"} else text
    if not words or not words.strip():
        raise Misused("Write the text, or send it through a pipe.")
    return words


def _piped() -> str | None:
    if sys.stdin.isatty():
        return None
    try:
        text = sys.stdin.read()
        # Some locales let other bytes through as halves of characters.
        text.encode()
    except UnicodeError as error:
        raise InvalidRequest("What comes through the pipe is no text in UTF-8.") from error
    return text
