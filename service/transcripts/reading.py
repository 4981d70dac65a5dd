"""Reading a delta of a transcript: a stretch of its lines, from a place on; pure.

In whatever pieces it comes, the same lines are read: a place is counted in bytes of UTF-8 from the
transcript's beginning, for entries in entries.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import orjson

from service.transcripts import claude_code, codex, generic, openclaw
from service.transcripts.turns import NO_JSON, NOT_AN_OBJECT, TOO_LONG, Read, Reader

Client = Literal["claude-code", "codex", "openclaw", "generic"]

READERS: Final[Mapping[str, Reader]] = {
    "claude-code": claude_code.read,
    "codex": codex.read,
    "openclaw": openclaw.read,
    "generic": generic.read,
}
# A longer line is a picture or a file; nobody said it.
_MOST_LINE_CHARACTERS: Final = 2_000_000


def read_text(client: Client, text: str, offset: int, *, is_final: bool = False) -> Read:
    """Return the turns of a text that begins at a place of the transcript.

    A last line without its end may be half written: it is left for the next delta, unless this is
    the last one and it is whole.
    """
    read = Read(offset=offset)
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        stop = len(text) if end < 0 else end + 1
        line = text[start:stop]
        if end < 0 and not (is_final and _is_whole(line)):
            break
        _take(read, READERS[client], line)
        read.offset += len(line.encode("utf-8", "replace"))
        start = stop
    return read


def read_entries(client: Client, entries: Sequence[Any], offset: int) -> Read:
    """Return the turns of entries, which are lines that were parsed already."""
    read = Read(offset=offset)
    for entry in entries:
        _take_entry(read, READERS[client], entry)
        read.offset += 1
    return read


def _is_whole(line: str) -> bool:
    try:
        parse(line.encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return False
    return True


def parse(told: bytes) -> Any:
    """Return what JSON says; raises ValueError or RecursionError for what is none."""
    try:
        return orjson.loads(told)
    except orjson.JSONDecodeError:
        # It refuses half a character, which programs write where they cut a text.
        return json.loads(told)


def _take(read: Read, reader: Reader, line: str) -> None:
    line = line.strip().lstrip("\ufeff")
    if not line:
        return
    if len(line) > _MOST_LINE_CHARACTERS:
        read.ignored[TOO_LONG] += 1
        return
    try:
        entry = parse(line.encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        read.ignored[NO_JSON] += 1
        return
    _take_entry(read, reader, entry)


def _take_entry(read: Read, reader: Reader, entry: Any) -> None:
    found = reader(entry) if isinstance(entry, Mapping) else NOT_AN_OBJECT
    if isinstance(found, str):
        read.ignored[found] += 1
    else:
        read.turns += [(read.offset, turn) for turn in found]
