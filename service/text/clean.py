"""Characters a text may bring along and a store must not keep: line ends, controls, surrogates."""

import re
from dataclasses import dataclass

# Colours and cursor moves in pasted terminal output; without this the letters would stay behind.
_TERMINAL_SEQUENCE = re.compile(r"\x1b\[[0-9;?]{0,32}[A-Za-z]")
_SEPARATOR = re.compile(r"[\x0b\x0c\x85]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
# A lone surrogate cannot be written as UTF-8, and so cannot be stored or sent.
_SURROGATE = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class CleanText:
    """A text whose only control characters are tab and line feed, and what that took."""

    text: str
    warnings: tuple[str, ...]


def clean_text(text: str) -> CleanText:
    """Normalise line ends to LF, strip the byte order mark, remove control characters.

    CRLF, CR and LF each end one line, so line numbers are those of the original. Vertical tab,
    form feed and NEL become a space: they stand between words.
    """
    text = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    text = _SEPARATOR.sub(" ", text)
    text, sequences = _TERMINAL_SEQUENCE.subn("", text)
    text, controls = _CONTROL.subn("", text)
    text, surrogates = _SURROGATE.subn("\ufffd", text)
    counted = (
        (sequences + controls, "control characters removed"),
        (surrogates, "broken characters replaced"),
    )
    return CleanText(text, tuple(f"{count} {what}" for count, what in counted if count))
