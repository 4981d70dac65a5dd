"""Times of day that a heading or a line begins with: 14:30, [09:15], 2:05 pm, 14：30：05."""

import datetime as dt
import re
from typing import Final

# Hours, minutes and perhaps seconds, for expressions; full-width colons are common in Korean and
# Chinese notes. It holds no groups, so that it can stand where a text is split.
CLOCK: Final = r"\d{1,2}[:\uff1a]\d{2}(?:[:\uff1a]\d{2})?"
_COLON: Final = re.compile(r"[:\uff1a]")
_LEADING: Final = re.compile(
    # (?a:…): ASCII digits only.
    rf"\s*[\[(]?((?a:{CLOCK}))(?:\s*([AaPp])\.?[Mm]\.?)?Z?(?=$|[\s\])\-–—~:,.;|])"
)


def read_clock(title: str) -> dt.time | None:
    """Return the time of day that a title begins with; None without one, or for 25:00."""
    match = _LEADING.match(title)
    if not match:
        return None
    hour, minute, second = [*map(int, _COLON.split(match[1])), 0][:3]
    if match[2] and 1 <= hour <= 12:
        hour = hour % 12 + (12 if match[2] in "pP" else 0)
    try:
        return dt.time(hour, minute, second)
    except ValueError:
        return None
