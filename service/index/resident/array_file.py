"""A file of arrays: written whole or not at all, mapped into memory when it is opened.

First eight bytes that say what it is, the length of the header and its checksum, then the header in
JSON: the facts, and of each array its type, shape, place and checksum. The arrays follow, each at a
multiple of 64 bytes. Numbers are little-endian.
"""

import os
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
import orjson

from service.index.resident.saved import Array, Saved

_MAGIC: Final = b"GMINDEX\x01"
_HEAD: Final = struct.Struct("<8sQI")
_ALIGNED: Final = 64
# Arrays by row get so much room to grow: what grows beyond it is copied into RAM.
_SPARE: Final = 1 / 4
_SPARE_ROWS: Final = 1024
# Written at once, and read at once to check it.
_PIECE_BYTES: Final = 2**22
_NO_CRC: Final = "00000000"


class Unreadable(Exception):
    """A file that holds no arrays, or not as they were written; the text says why."""

    @property
    def logged(self) -> str:
        """The text: it names facts of the file, nobody's words."""
        return str(self)


def write_arrays(path: Path, saved: Saved) -> None:
    """Write a file that is there whole once it has its name; raises OSError.

    Of rows that are changed meanwhile it may hold anything, and no complaint.
    """
    partial = path.with_suffix(".partial")
    try:
        with os.fdopen(_created(partial), "wb") as file:
            _write(file, saved)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
        _sync_folder(path.parent)
    finally:
        partial.unlink(missing_ok=True)


def read_facts(path: Path) -> dict[str, Any]:
    """Return the facts of a file without its arrays; raises Unreadable, OSError."""
    with path.open("rb") as file:
        facts: dict[str, Any] = _read_header(file)["facts"]
        return facts


def map_arrays(path: Path) -> Saved:
    """Map a file into memory after a look at every byte; raises Unreadable, OSError.

    What is written into the arrays stays in this process: the file does not change, and pages that
    were not written are the kernel's to drop and to share.
    """
    with path.open("rb") as file, _told_as_unreadable():
        header = _read_header(file)
        size = file.seek(0, os.SEEK_END)
        # One for all: pieces of their own left the process 33 MB larger.
        buffer = bytearray(_PIECE_BYTES)
        for told in header["arrays"].values():
            _check(file, told, size, buffer)
        mapped = np.memmap(path, np.uint8, "c") if size else np.zeros(0, np.uint8)
        saved = Saved(header["facts"])
        for name, told in header["arrays"].items():
            kind = saved.by_row if told["by_row"] else saved.arrays
            kind[name] = _array(mapped, told)
        return saved


def _created(path: Path) -> int:
    """Return the descriptor of a new file that nobody else may read; no link leads it elsewhere."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write(file: BinaryIO, saved: Saved) -> None:
    every = [(name, array, False) for name, array in saved.arrays.items()]
    every += [(name, array, True) for name, array in saved.by_row.items()]
    header, place = {"facts": saved.facts, "arrays": {}}, 0
    for name, array, is_by_row in every:
        rows = len(array)
        room = rows + int(rows * _SPARE) + _SPARE_ROWS if is_by_row else rows
        header["arrays"][name] = {
            "type": array.dtype.newbyteorder("<").str,
            "shape": [room, *array.shape[1:]],
            "bytes": array.nbytes,
            "place": place,
            "crc": _NO_CRC,
            "by_row": is_by_row,
        }
        bytes_a_row = array.dtype.itemsize * int(np.prod(array.shape[1:], dtype=np.int64))
        place += -(-room * bytes_a_row // _ALIGNED) * _ALIGNED
    # The header comes last, as long as it is now.
    start = _first_place(len(orjson.dumps(header)))
    for name, array, _ in every:
        file.seek(start + header["arrays"][name]["place"])
        header["arrays"][name]["crc"] = f"{_written(file, array):08x}"
    # The room to grow is a hole: it takes no place on most disks.
    file.truncate(start + place)
    text = orjson.dumps(header)
    file.seek(0)
    file.write(_HEAD.pack(_MAGIC, len(text), zlib.crc32(text)) + text)


def _written(file: BinaryIO, array: Array) -> int:
    """Write an array, which others may change meanwhile; return the checksum of what is written."""
    whole, crc = np.ascontiguousarray(array).reshape(-1), 0
    step = _PIECE_BYTES // array.dtype.itemsize
    for start in range(0, len(whole), step):
        piece = whole[start : start + step].tobytes()
        crc = zlib.crc32(piece, crc)
        file.write(piece)
    return crc


def _first_place(header_bytes: int) -> int:
    return -(-(_HEAD.size + header_bytes) // _ALIGNED) * _ALIGNED


def _read_header(file: BinaryIO) -> dict[str, Any]:
    with _told_as_unreadable():
        magic, length, crc = _HEAD.unpack(file.read(_HEAD.size))
        if magic != _MAGIC:
            raise Unreadable("it is another kind of file, or of another version")
        text = file.read(min(length, os.fstat(file.fileno()).st_size))
        if len(text) != length or zlib.crc32(text) != crc:
            raise Unreadable("its header is damaged")
        header: dict[str, Any] = orjson.loads(text)
        start = _first_place(length)
        for told in header["arrays"].values():
            told["place"] += start
        return header


def _check(file: BufferedReader, told: dict[str, Any], size: int, buffer: bytearray) -> None:
    """Raise Unreadable unless an array lies within the file as it was written."""
    room = np.dtype(told["type"]).itemsize * int(np.prod(told["shape"], dtype=np.int64))
    if told["place"] + room > size or told["bytes"] > room:
        raise Unreadable("it is cut short")
    file.seek(told["place"])
    crc = 0
    for piece in _pieces(file, told["bytes"], buffer):
        crc = zlib.crc32(piece, crc)
    if f"{crc:08x}" != told["crc"]:
        raise Unreadable("an array in it is damaged")
    # Rows that come later take over what stands there, such as whether there is a vector.
    for piece in _pieces(file, room - told["bytes"], buffer):
        if np.frombuffer(piece, np.uint8).any():
            raise Unreadable("its room to grow is damaged")


def _pieces(file: BufferedReader, size: int, buffer: bytearray) -> Iterator[memoryview]:
    """Read so many bytes, piece by piece, each where the one before it was."""
    whole = memoryview(buffer)
    while size:
        count = file.readinto(whole[:size])
        if not count:
            raise Unreadable("it is cut short")
        yield whole[:count]
        size -= count


def _array(mapped: Array, told: dict[str, Any]) -> Array:
    kind = np.dtype(told["type"])
    room = kind.itemsize * int(np.prod(told["shape"], dtype=np.int64))
    part = mapped[told["place"] : told["place"] + room]
    array: Array = np.asarray(part).view(kind).reshape(told["shape"])
    return array


@contextmanager
def _told_as_unreadable() -> Iterator[None]:
    """Name what a file raises that holds other things than it should."""
    try:
        yield
    except (struct.error, ValueError, KeyError, TypeError, OverflowError) as error:
        msg = f"it makes no sense ({error})"
        raise Unreadable(msg) from error
