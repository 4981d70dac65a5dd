"""Which addresses other machines reach; pure."""

from ipaddress import ip_address
from typing import Final

UNIX: Final = "unix:"


def is_any(host: str) -> bool:
    """Return whether an address means every one of this machine."""
    return host.strip("[]") in {"0.0.0.0", "::", ""}  # noqa: S104 - it is refused


def is_loopback(host: str) -> bool:
    """Return whether this machine alone reaches what listens there; of names only localhost."""
    if host.startswith(UNIX) or host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
