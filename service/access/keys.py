"""Keys: what one looks like, what is kept of it, and for how long it is good; pure.

A key is `gm_`, 12 hex digits that name it, `_`, and 256 random bits in base64url: enough that no
slow hash is needed (OWASP, Password Storage), so that each request is checked in microseconds.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Self

from service.access.caller import SCOPES, Caller, Scope
from service.access.origins import Origin
from service.access.quota import Quota

_SECRET_BYTES: Final = 32
_KEY: Final = re.compile(r"gm_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")


@dataclass(frozen=True, slots=True)
class Secret:
    """A key as its owner has it: never stored, shown once."""

    id: str
    secret: str = field(repr=False)

    @classmethod
    def new(cls, key: str | None = None) -> Self:
        """Return a new secret, of the key with this id or of a new one."""
        return cls(key or secrets.token_hex(6), secrets.token_urlsafe(_SECRET_BYTES))

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Take a key apart; None for what is none."""
        found = _KEY.fullmatch(text)
        return cls(found[1], found[2]) if found else None

    def __str__(self) -> str:
        """Return it as it is shown and sent."""
        return f"gm_{self.id}_{self.secret}"

    @property
    def hash(self) -> str:
        """What is stored of it: SHA-256 in hex."""
        return hashlib.sha256(self.secret.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Key(Quota):
    """A key as it is stored; `agents` is None where it is good for every agent.

    `origin` is whose words are sent with it, `memory_scopes` of which scopes; None for all.
    """

    id: str
    name: str
    hash: str = field(repr=False)
    scopes: tuple[Scope, ...]
    agents: tuple[str, ...] | None
    created_at: datetime
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None
    origin: Origin = "agent"
    memory_scopes: tuple[str, ...] | None = None

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Read a row of table `key`; scopes that this version does not know are left out."""
        values: dict[str, Any] = {name: row.get(name) for name in cls.__dataclass_fields__}
        values["scopes"] = tuple(scope for scope in SCOPES if scope in row["scopes"])
        values["agents"] = None if row.get("agents") is None else tuple(row["agents"])
        scopes = row.get("memory_scopes")
        values["memory_scopes"] = None if scopes is None else tuple(scopes)
        # Rows of older versions have none.
        values["origin"] = row.get("origin") or "agent"
        return cls(**values)

    def is_good(self, now: datetime) -> bool:
        """Return whether it opens anything: neither revoked nor past its time."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    def fits(self, secret: Secret) -> bool:
        """Return whether this is its secret; takes the same time for every wrong one."""
        return hmac.compare_digest(self.hash, secret.hash)

    def caller(self, address: str | None = None) -> Caller:
        """Return who asks with this key."""
        return Caller(
            self.id, self.name, frozenset(self.scopes), self.agents, address, self.origin,
            client=self.name, quota=self, memory_scopes=self.memory_scopes,
        )  # fmt: skip
