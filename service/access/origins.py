"""Whose words a memory has, by the way that it came in; never by what it says; pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

# `owner`: read from the owner's own folders. `agent`: pushed by one. `untrusted`: somebody else's,
# such as a page or what a tool gave back. `system`: the service's own, made of nobody's words.
Origin = Literal["owner", "agent", "untrusted", "system"]
# From the lowest to the highest.
ORIGINS: Final[tuple[Origin, ...]] = ("untrusted", "agent", "system", "owner")
TIERS: Final = ("quarantined", "untrusted", "trusted")
# What writers call texts that somebody else wrote: a page, a mail, what a tool gave back.
_OTHERS_KINDS: Final = frozenset(
    """
    web webpage web-page web_page page html url fetch fetched browser search tool tool-output
    tool_output tool-result tool_result mcp email mail feed rss issue download untrusted
    """.split()  # noqa: SIM905 - one a line were as long as the rest
)


@dataclass(frozen=True, slots=True)
class Provenance:
    """What is known of whoever sends texts: whose words they are, by which program and key.

    `client` is the name of the key, or of the program where no keys are; `key` is the key's id.
    """

    origin: Origin = "agent"
    client: str | None = None
    key: str | None = None


# Where nothing else is known.
UNKNOWN: Final = Provenance()
# What is read from the owner's folders, by the service itself.
SCANNED: Final = Provenance("owner", "scan")


def lowest(origins: Iterable[Origin]) -> Origin:
    """Return the lowest of some origins, of which there is one at least: that of their merge."""
    return min(origins, key=ORIGINS.index)


def origin_of(sender: Origin, source_kind: str, trust_tier: str | None = None) -> Origin:
    """Return whose words a text is that somebody sends: theirs, or somebody else's.

    What is called somebody else's, by its kind or its tier, is untrusted; nothing is raised.
    """
    is_others = source_kind in _OTHERS_KINDS or trust_tier in TIERS[:-1]
    return "untrusted" if is_others else sender


def tier_of(origin: Origin) -> str:
    """Return the trust tier that follows from an origin, where nobody says otherwise."""
    return "untrusted" if origin == "untrusted" else "trusted"


def doubt_of(trust_tier: str | None) -> str:
    """Return what a reader of words alone must know of them; nothing of those that are trusted."""
    return "" if trust_tier in {None, TIERS[-1]} else str(trust_tier)


def is_told_unasked(origin: str | None, trust_tier: str | None) -> bool:
    """Return whether a session may be told this without asking for it, as at its start."""
    return origin != "untrusted" and not doubt_of(trust_tier)


def is_raised(trust_tier: str, above: str) -> bool:
    """Return whether a trust tier is higher than another one."""
    return TIERS.index(trust_tier) > TIERS.index(above)


def lower_tier(one: str, other: str) -> str:
    """Return the lower one of two trust tiers."""
    return other if is_raised(one, other) else one
