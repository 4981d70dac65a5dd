"""Cursors: opaque marks of where a list goes on."""

import base64
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pydantic import AfterValidator
from pydantic.fields import FieldInfo

from service.field_types import pattern_of

# The database counts in 64 bits; every number of 18 digits is one of these.
_NUMBER: Final = re.compile(r"[0-9]{1,18}")
# Base64 of any length but one that no bytes have.
_BASE64: Final = re.compile(r"(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-]{2,3})?")
_WRITTEN: Final = {int: _NUMBER, datetime: _NUMBER, str: _BASE64}
_FIRST: Final = datetime.min.replace(tzinfo=UTC)
_LAST: Final = (datetime.max.replace(tzinfo=UTC) - _FIRST) // timedelta(microseconds=1)
_SENTENCE: Final = "is not a cursor of this list; take `next_cursor` of the page before, unchanged"


@dataclass(frozen=True, slots=True)
class CursorForm:
    """What the cursors of one list hold; `letter` tells those of one list from another's.

    Whatever has the form says a place in the list, and is answered: the description of a cursor
    tells everything that is refused.
    """

    letter: str
    parts: tuple[type, ...]

    @property
    def pattern(self) -> str:
        """The expression that cursors of this form match, and nothing else does."""
        return f"^{self.letter}{'~'.join(_WRITTEN[part].pattern for part in self.parts)}$"

    def type_rules(self) -> tuple[AfterValidator, FieldInfo]:
        """Return what makes a str a cursor of this form: in the service, and in its description."""
        return rules_of(self)

    def encode(self, *parts: str | int | datetime) -> str:
        """Return the cursor of a place."""
        return self.letter + "~".join(map(_encode, parts))

    def decode(self, cursor: str) -> list[Any]:
        """Return the parts of a cursor of this form, each of its type."""
        texts = cursor.removeprefix(self.letter).split("~")
        return [_decode(part, text) for part, text in zip(self.parts, texts, strict=True)]

    def fits(self, cursor: str) -> bool:
        """Return whether a cursor is of this form."""
        texts = cursor.removeprefix(self.letter).split("~")
        has_form = cursor.startswith(self.letter) and len(texts) == len(self.parts)
        return has_form and all(
            _WRITTEN[part].fullmatch(text) for part, text in zip(self.parts, texts, strict=True)
        )


def rules_of(*forms: CursorForm) -> tuple[AfterValidator, FieldInfo]:
    """Return what makes a str a cursor of one of these forms: a union would name its validators."""

    def check(cursor: str) -> str:
        if any(form.fits(cursor) for form in forms):
            return cursor
        raise ValueError(_SENTENCE)

    return AfterValidator(check), pattern_of("|".join(form.pattern for form in forms))


def _encode(part: str | int | datetime) -> str:
    if isinstance(part, datetime):
        return str((part - _FIRST) // timedelta(microseconds=1))
    if isinstance(part, int):
        return str(part)
    return base64.urlsafe_b64encode(part.encode()).decode().rstrip("=")


def _decode(kind: type, text: str) -> str | int | datetime:
    if kind is datetime:
        return _FIRST + timedelta(microseconds=min(int(text), _LAST))
    if kind is int:
        return int(text)
    packed = text + "=" * (-len(text) % 4)
    return base64.urlsafe_b64decode(packed).decode(errors="replace").replace("\0", "\ufffd")
