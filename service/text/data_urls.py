"""Pictures and other bytes that stand in a text itself, as base64; pure."""

import re
from typing import Final

_BEGIN: Final = ";base64,"
# What is shorter may be an example that somebody explains.
_DATA: Final = re.compile(
    r"(data:(?:[\w.+-]{1,80}/[\w.+-]{1,80})?(?:;[\w.+-]{1,40}=[\w.+-]{1,80}){0,4};base64,)"
    r"[A-Za-z0-9+/=_%-]{200,}"
)


def without_data(text: str) -> str:
    """Return a text without the bytes of its `data:` addresses; lines stay where they are.

    Nobody asks for them, and a picture of a megabyte would be a thousand memories.
    """
    return _DATA.sub("\\1\u2026", text) if _BEGIN in text else text
