"""Whether the sums of a search run as machine code: setup.py compiles them all, or none."""

from importlib.util import find_spec
from typing import Final

INTERPRETED: Final = (
    "the sums of a search are not compiled, it takes five times as long: install a C compiler"
    " (Debian: gcc and python3-dev), then start by ./scripts/run again"
)


def is_compiled() -> bool:
    """Return whether they are."""
    found = find_spec("service.index.resident.counting")
    return found is not None and not str(found.origin).endswith(".py")
