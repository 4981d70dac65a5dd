"""Secrets stay inside: taking keys and passwords out of every text that leaves the process.

Errors (and with them problems, warnings, `/health/ready` and the terminal) pass here when they
are made, log records when they are written. A server that is asked with a key may answer with it.
"""

import json
import logging
import re
import traceback
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote, unquote, urlsplit

SHOWN: Final = "***"
# A piece of so many characters is taken out too: servers cut what they repeat. Shorter secrets
# count as a whole, and only where they stand alone: `root` is also a word.
_PIECE: Final = 8
# A key of this service (service/access/keys.py).
_KEY: Final = re.compile(r"(gm_[0-9a-f]{12})_[\w-]{8,}")
_BEARER: Final = re.compile(r"(?i)\b(bearer|basic)\s+(?!\*)[\w.~+/=-]{6,}")


@dataclass(slots=True)
class Secrets:
    """What this process must not tell, in the spellings in which it may come back."""

    pieces: set[str] = field(default_factory=set)
    short: set[str] = field(default_factory=set)

    def keep(self, secret: str | None) -> None:
        """Take a key or password out of all texts from now on, plain, escaped and encoded."""
        for spelling in _spellings(secret) if secret else ():
            if len(spelling) < _PIECE:
                self.short.add(spelling)
            self.pieces |= {
                spelling[start : start + _PIECE] for start in range(len(spelling) - _PIECE + 1)
            }

    def keep_url(self, url: str | None) -> None:
        """Keep the password of a URL, and what an HTTP client makes of both: `Basic …`."""
        parts = _split(url or "")
        if parts is None or not parts[1]:
            return
        user, password = parts
        for one in {password, unquote(password)}:
            self.keep(one)
        whole = f"{unquote(user)}:{unquote(password)}"
        self.keep(b64encode(whole.encode()).decode())

    def without(self, text: str) -> str:
        """Return the text with every secret, and every longer piece of one, replaced."""
        if not (self.pieces or self.short):
            return text
        for secret in self.short:
            if secret in text:
                text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", SHOWN, text)
        return self._without_pieces(_BEARER.sub(rf"\1 {SHOWN}", text))

    def _without_pieces(self, text: str) -> str:
        shown: list[str] = []
        end = 0  # up to where the text was looked at
        for start in range(len(text) - _PIECE + 1):
            if text[start : start + _PIECE] not in self.pieces:
                continue
            if start > end or not shown:
                shown += [text[end:start], SHOWN]
            end = start + _PIECE
        return "".join(shown) + text[end:]


def _spellings(secret: str) -> set[str]:
    return {
        secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1],
        quote(secret, safe=""), secret.replace("/", "\\/"),
    }  # fmt: skip


def _split(url: str) -> tuple[str, str] | None:
    """Return user and password as they stand in a URL."""
    try:
        place = urlsplit(url).netloc
    except ValueError:
        return None
    user, colon, password = place.rpartition("@")[0].partition(":")
    return (user, password) if colon else None


# One process, one set: an error must not need to know who made the text that it repeats.
SECRETS: Final = Secrets()


def redacted(text: str) -> str:
    """Return a text as it may leave the process."""
    return (
        _KEY.sub(rf"\1_{SHOWN}", SECRETS.without(text)) if "gm_" in text else SECRETS.without(text)
    )


def loggable(error: BaseException) -> str:
    """Return what a log may say of an error: its own words where they hold nobody's texts."""
    if logged := getattr(error, "logged", None):
        return str(logged)
    if isinstance(error, OSError) and error.strerror:
        return f"{type(error).__name__}: {error.strerror}"
    return type(error).__qualname__


class WithoutSecrets(logging.Filter):
    """Takes secrets out of a log record, and above level debug all that may be content.

    What an exception says may be a text of somebody's (`KeyError: 'a concept'`): its type and the
    lines that led to it are told, and its words where they are ours.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass, as it may be read."""
        tells_all = logging.getLogger().isEnabledFor(logging.DEBUG)
        message = record.getMessage()
        if not tells_all:
            message = _without_values(record, message)
        record.msg, record.args = redacted(message), None
        if record.exc_info and record.exc_info[1]:
            lines = _lines if tells_all else _lines_without_contents
            record.exc_text = redacted("".join(lines(record.exc_info[1])).rstrip())
            # A handler that draws tracebacks itself would draw the untold one.
            record.exc_info = None
        return True


# Loggers of Python's own whose messages repeat values. That of asyncio has the exception of a
# task in its second line, a warning what was warned of behind its category.
_REPEATING: Final[Mapping[str, Callable[[str], str]]] = {
    "asyncio": lambda message: message.partition("\n")[0],
    "py.warnings": lambda message: ": ".join(message.partition("\n")[0].split(": ")[:2]),
}


# The library of MCP tells what a client chose, and sessions by their ids, which open them where no
# keys are: its messages are told without values, those that stand in them already are such ids.
_MCP: Final = "mcp."
_VALUE: Final = re.compile(r"%[a-z]|\b[0-9a-f]{32}\b")


def _without_values(record: logging.LogRecord, message: str) -> str:
    """Return a message of others as it may be told above level debug; ours say what may be."""
    if record.name.startswith(_MCP):
        return _VALUE.sub("…", str(record.msg))
    return _REPEATING[record.name](message) if record.name in _REPEATING else message


def _lines(error: BaseException) -> Iterator[str]:
    yield from traceback.format_exception(error)


def _lines_without_contents(error: BaseException) -> Iterator[str]:
    """Yield a traceback with the exceptions that led to it, the first one first."""
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    together = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    for one in (cause, *together):
        if one is not None:
            yield from _lines_without_contents(one)
            yield "\nwhich led to:\n\n"
    yield "Traceback (most recent call last):\n"
    yield from traceback.format_tb(error.__traceback__)
    kind = type(error)
    words = loggable(error)
    said = "" if words == kind.__qualname__ else f": {words}"
    yield f"{kind.__module__}.{kind.__qualname__}{said}\n"
