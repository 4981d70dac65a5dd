"""Keys of any service, as a header carries them to it; pure."""

import re
from typing import Final

_SENDABLE: Final = re.compile(r"(?:[!-~]++(?:[\t ]++[!-~]++)*+)?+")


def check_sendable(key: str) -> None:
    """Raise ValueError for a key that no header can carry; what is wrong in it is not repeated."""
    if not _SENDABLE.fullmatch(key):
        msg = "holds letters, line ends or outer blanks that no header can carry; copy the key anew"
        raise ValueError(msg)
