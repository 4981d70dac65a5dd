"""SurrealDB's Python driver with a faster codec; nobody else imports the driver.

The driver (3.0.0b10) reads and writes CBOR in pure Python; cbor2 is compiled and speaks the same
bytes. The driver offers no place to set a codec, so its modules' names are bound anew. So is
asyncio.wait_for: that of Python 3.11 hears nothing of a cancellation that comes together with an
answer, and a loop that is cancelled once goes on for ever.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from types import ModuleType
from typing import Any, Final, TypeVar

import cbor2
from surrealdb import AsyncSurreal, RecordID, streaming
from surrealdb.connections import async_embedded, async_ws
from surrealdb.data.cbor import tag_decoder
from surrealdb.errors import NotAllowedError, SurrealError
from surrealdb.request_message.descriptors import cbor_ws

__all__ = [
    "AsyncSurreal", "Encoded", "NotAllowedError", "RecordID", "SurrealError", "decode", "encode",
    "encode_each",
]  # fmt: skip

T = TypeVar("T")

# Tags of SurrealDB's own (surrealdb.data.types.constants).
_NONE: Final = 6
_RECORD_ID: Final = 8
_MOMENT: Final = 12
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST: Final = datetime.min.replace(tzinfo=UTC)
_LAST: Final = datetime.max.replace(tzinfo=UTC)
_INTS: Final = range(-(2**63), 2**63)


def encode(value: Any) -> bytes:
    """Return a value as SurrealDB reads it: None as NONE, a record id under its tag.

    Raises ValueError for an integer beyond 64 bits, TypeError for a type that is none of ours.
    """
    try:
        return cbor2.dumps(value, timezone=UTC, encoders=_ENCODERS, default=_refuse)
    except cbor2.CBOREncodeError as error:
        raise error.__cause__ or error from None


def decode(data: bytes) -> Any:
    """Return what SurrealDB answered; NONE and NULL are None, a datetime has microseconds.

    A moment outside of the years 1 to 9999 becomes the nearest that Python can say: one row
    written by hand must not make an answer unreadable. Raises ValueError for what is no CBOR.
    """
    try:
        return cbor2.loads(data, tag_hook=_decode_tag, semantic_decoders=_DECODERS)
    except cbor2.CBORDecodeError as error:
        raise ValueError(str(error.__cause__ or error)) from error


class Encoded(bytes):
    """A value as SurrealDB reads it already, to be put into a message as it is."""


def encode_each(values: Mapping[str, Any]) -> dict[str, Encoded]:
    """Encode values by themselves: in a thread, where they are many."""
    return {name: Encoded(encode(value)) for name, value in values.items()}


def _put(encoder: cbor2.CBOREncoder, value: Encoded) -> None:
    encoder.write(bytes(value))


def _encode_none(encoder: cbor2.CBOREncoder, _: None) -> None:
    encoder.encode_length(_NONE, _NONE)
    encoder.encode_none()


def _encode_int(encoder: cbor2.CBOREncoder, value: int) -> None:
    # SurrealDB would take the bits of a larger one for a negative number, without a word.
    if value not in _INTS:
        msg = f"{value} does not fit into 64 bits"
        raise ValueError(msg)
    encoder.encode_int(value)


def _encode_record_id(encoder: cbor2.CBOREncoder, value: RecordID) -> None:
    encoder.encode_semantic(_RECORD_ID, [value.table_name, value.id])


def _refuse(_: cbor2.CBOREncoder, value: Any) -> None:
    msg = f"cannot send {type(value).__name__} to SurrealDB"
    raise TypeError(msg)


def _decode_moment(value: Sequence[int], _: bool) -> datetime:
    seconds, nanoseconds = (*value, 0, 0)[:2]  # zeros at the end are left out
    try:
        return _EPOCH + timedelta(seconds=seconds, microseconds=nanoseconds // 1000)
    except OverflowError:
        return _LAST if seconds > 0 else _FIRST


def _decode_record_id(value: Sequence[Any], _: bool) -> RecordID:
    return RecordID._unchecked(*value)


def _decode_tag(tag: cbor2.CBORTag, _: bool) -> Any:
    decoder: Any = None  # not looked at
    return tag_decoder(decoder, tag)  # type: ignore[arg-type]


_ENCODERS: Final[Mapping[type, Callable[[cbor2.CBOREncoder, Any], Any]]] = {
    type(None): _encode_none,
    int: _encode_int,
    RecordID: _encode_record_id,
    Encoded: _put,
}
_DECODERS: Final = {
    _NONE: lambda _value, _immutable: None,
    _RECORD_ID: _decode_record_id,
    _MOMENT: _decode_moment,
}


async def _wait_for(awaited: Awaitable[T], seconds: float | None) -> T:
    """Wait as asyncio.wait_for does from Python 3.12 on; raises TimeoutError."""
    async with asyncio.timeout(seconds):
        return await awaited


_ASYNCIO: Final = ModuleType(asyncio.__name__)
vars(_ASYNCIO).update(vars(asyncio), wait_for=_wait_for)

async_ws.asyncio = _ASYNCIO  # type: ignore[attr-defined]
streaming.asyncio = _ASYNCIO  # type: ignore[attr-defined]
cbor_ws.encode = encode  # type: ignore[attr-defined, assignment]
async_embedded.decode = decode  # type: ignore[attr-defined]
async_ws.decode = decode  # type: ignore[attr-defined]
