"""Files as they were read last: one that is the same is neither screened nor cut again."""

import hashlib
import secrets
from typing import Final

from service.drafts.drafts import Cutting, DocumentText

# About 30 MB.
_MOST_FILES: Final = 200_000


class SeenFiles:
    """The hashes of documents' screened texts, by keyed hashes of the files as they were read.

    In RAM alone, under a key of this process: a hash of a text with its secrets is a trace of them.
    Good for one policy of screening, which a process does not change.
    """

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._text_hashes: dict[bytes, str] = {}

    def text_hash(self, read: DocumentText, cutting: Cutting) -> str | None:
        """Return the hash that a file's screened text had; None for one that was not seen yet."""
        return self._text_hashes.get(self._digest(read, cutting))

    def add(self, read: DocumentText, screened: DocumentText, cutting: Cutting) -> str:
        """Keep, and return, the hash of what became of a file."""
        if len(self._text_hashes) >= _MOST_FILES:
            self._text_hashes.clear()
        text_hash = screened.text_hash(cutting)
        self._text_hashes[self._digest(read, cutting)] = text_hash
        return text_hash

    def _digest(self, read: DocumentText, cutting: Cutting) -> bytes:
        told = "\x1f".join((read.agent, read.uri, read.text_hash(cutting)))
        return hashlib.blake2b(told.encode(errors="surrogatepass"), key=self._key).digest()[:16]
