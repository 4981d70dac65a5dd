"""Texts as numbers that are the same in every process, so that files may hold them."""

from functools import lru_cache
from hashlib import blake2b
from typing import Final

_BYTES: Final = 8
# One search asks for the same hundred names four times.
_MOST_REMEMBERED: Final = 2**14


def digest(text: str) -> int:
    """Return 64 bits of BLAKE2b as a signed integer.

    Nobody can write a text that has the digest of a given other one; a million texts collide by
    chance once in 40 million.
    """
    hashed = blake2b(text.encode(errors="surrogatepass"), digest_size=_BYTES).digest()
    return int.from_bytes(hashed, "little", signed=True)


# For names, which are short and come again.
digest_of_name: Final = lru_cache(_MOST_REMEMBERED)(digest)
