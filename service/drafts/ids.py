"""Ids out of what they are for: the same parts have the same id in every store."""

import hashlib
from typing import Final

_SEPARATOR: Final = "\x1f"


def id_beside(key: str) -> str:
    """Return the id of words that are said again, where those of this id became others."""
    return digest("beside", key)


def digest(*parts: str) -> str:
    """Return a 128-bit hash of the parts as 32 hex digits; no others have the same.

    Parts that hold the separator are hashed in another way, each with its length, and as another
    person's (BLAKE2): all other ids are what they were before that was so.
    """
    if any(_SEPARATOR in part for part in parts):
        packed, person = "".join(f"{len(part)}:{part}" for part in parts), b"lengths"
    else:
        packed, person = _SEPARATOR.join(parts), b""
    data = packed.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=16, person=person).hexdigest()
