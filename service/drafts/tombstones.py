"""Tombstones: hashes by which a section that was deleted for good is known again; pure.

They are made with a key of the store: a short text cannot be guessed from its hash alone.
"""

import hashlib
from collections.abc import Sequence


def seal(key: bytes, *parts: str) -> str:
    """Return a keyed hash of 128 bits as 32 hex digits; no other parts have the same."""
    data = "".join(f"{len(part)}:{part}" for part in parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=16, key=key).hexdigest()


def tombstones_of(
    key: bytes, uri: str, document: str, heading_path: Sequence[str], content: str
) -> tuple[str, str]:
    """Return the two hashes of a section: in the document of this name, and in one of this text.

    `document` is the sealed hash of the whole text: a file that is moved or copied keeps what was
    deleted of it deleted. Of the headings the section's own counts alone: another title of the
    document does not bring its sections back.
    """
    own = (*heading_path[-1:], "")[0]
    said = (own, content.strip())
    return seal(key, "name", uri, *said), seal(key, "text", document, *said)
