"""Cursors: opaque marks of where a list goes on."""

import base64
import binascii
from datetime import UTC, datetime

import orjson

from service.errors import FieldError, InvalidRequest


def encode_cursor(*parts: str | int | datetime) -> str:
    """Return an opaque, URL-safe mark that `decode_cursor` reads back."""
    return base64.urlsafe_b64encode(orjson.dumps(parts)).decode().rstrip("=")


def decode_cursor(cursor: str, length: int) -> list[str | int]:
    """Return the parts of a cursor; anything else than one of ours raises InvalidRequest."""
    try:
        parts = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError):
        parts = None
    if not isinstance(parts, list) or len(parts) != length or not all(map(_is_ours, parts)):
        raise _foreign()
    return parts


def cursor_moment(part: str | int) -> datetime:
    """Read a cursor's moment; a broken one raises InvalidRequest."""
    try:
        return datetime.fromisoformat(str(part)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise _foreign() from error


def cursor_number(part: str | int) -> int:
    """Read a cursor's number; a broken one raises InvalidRequest."""
    if not isinstance(part, int):
        raise _foreign()
    return part


def _is_ours(part: object) -> bool:
    """Say whether a cursor of ours can hold this; the database counts in 64 bits."""
    return isinstance(part, str) or (isinstance(part, int) and abs(part) < 2**63)


def _foreign() -> InvalidRequest:
    detail = "Take the cursor from `next_cursor` of the page before, unchanged."
    return InvalidRequest(
        f"The cursor is not one of ours. {detail}", (FieldError("?cursor", detail),)
    )
