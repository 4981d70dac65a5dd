"""The keys of one store: held in RAM, so that a request is checked without asking the store."""

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any, Final

from service.access.caller import Caller, Scope
from service.access.errors import KeyEnded, KeyNotFound, Unauthorized
from service.access.keys import Key, Secret
from service.access.quota import UNBOUNDED, Quota
from service.errors import ServiceError
from service.store.database import Database, record
from service.store.queries import load_query

# What a new key has; the others come with its use.
_WRITTEN: Final = {one.name for one in fields(Key)} - {"last_used_at", "revoked_at"}

log = logging.getLogger(__name__)

LIST_KEYS: Final = load_query(__package__, "list_keys")
PUT_KEY: Final = load_query(__package__, "put_key")
REVOKE_KEY: Final = load_query(__package__, "revoke_key")
ROTATE_KEY: Final = load_query(__package__, "rotate_key")
NOTE_KEYS: Final = load_query(__package__, "note_keys")

# Another service on the same server may have revoked a key: so long at most it is believed here.
_SHARED_SECONDS: Final = 1.0
_PATIENCE_SECONDS: Final = 1.0
# When a key was used last is written so often.
_NOTED_SECONDS: Final = 30.0


class Keyring:
    """Who may come in. With no key in the store, programs of this machine need none.

    Once there was one, there always is: a revoked key still says that keys are needed.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._keys: dict[str, Key] = {}
        # When keys were used that is not written yet.
        self._used: dict[str, datetime] = {}
        self._is_shared = db.address.folder is None
        # Keys are not read while one is written: what was read would be older than what is known.
        self._turn = asyncio.Lock()
        self._read_at = 0.0
        # The latest moment that was seen here: a clock that is set back revives no key.
        self._latest = datetime.fromtimestamp(0, UTC)

    @property
    def is_empty(self) -> bool:
        """Whether no key was ever made."""
        return not self._keys

    @property
    def keys(self) -> Sequence[Key]:
        """All keys, the newest first, revoked ones too, as they are known now."""
        every = (
            replace(key, last_used_at=self._used.get(key.id, key.last_used_at))
            for key in self._keys.values()
        )
        return sorted(every, key=lambda key: (key.created_at, key.id), reverse=True)

    async def read(self) -> None:
        """Read all keys from the store; raises StoreUnavailable.

        One that was revoked here stays so, whatever the store says: it may not have taken it yet.
        """
        async with self._turn:
            rows = await self._db.run(LIST_KEYS)
            ended = {key.id: key.revoked_at for key in self._keys.values() if key.revoked_at}
            keys = [Key.from_row(row) for row in rows]
            self._keys = {
                key.id: replace(key, revoked_at=key.revoked_at or ended.get(key.id)) for key in keys
            }
            self._read_at = time.monotonic()
        used = (key.last_used_at for key in self._keys.values() if key.last_used_at)
        self._latest = max((self._latest, *used))

    async def refresh(self) -> None:
        """Read again what another service on the same server may have changed.

        While the server is away the keys that are known count: nothing else can be read then.
        """
        now = time.monotonic()
        if not self._is_shared or now - self._read_at <= _SHARED_SECONDS:
            return
        # Whoever comes meanwhile does not wait for the same.
        self._read_at = now
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                await self.read()
        except (ServiceError, TimeoutError):
            log.debug("keys are not read again: the database does not answer")

    async def caller_of(self, text: str, address: str | None = None) -> Caller:
        """Return who asks with this key; raises Unauthorized."""
        await self.refresh()
        secret = Secret.read(text)
        if secret is None:
            msg = "This is no key of this service: they begin with gm_, see `graph-memory keys`."
            raise Unauthorized(msg)
        key = self._keys.get(secret.id)
        if key is None or not key.fits(secret):
            raise Unauthorized("This key is unknown here. Check it, or ask an admin for one.")
        now = self._now()
        if not key.is_good(now):
            raise Unauthorized(f"This key {_ended(key)}. Ask an admin for another.")
        self._used[key.id] = now
        return key.caller(address)

    def is_good(self, key: str, scopes: Sequence[Scope], agent: str) -> bool:
        """Return whether a key is still good for this: work in its name may have waited long."""
        one = self._keys.get(key)
        return (
            one is not None and one.is_good(self._now()) and one.caller().covers(scopes, (agent,))
        )

    def named(self, key: str) -> Key:
        """Return the key with this id; raises KeyNotFound."""
        if key not in self._keys:
            raise KeyNotFound(f"There is no key {key!r}: GET /keys lists those there are.")
        return self._keys[key]

    async def create(
        self, name: str, scopes: Sequence[Scope], agents: Sequence[str] | None,
        expires_at: datetime | None = None, **rights: Any,
    ) -> tuple[Key, Secret]:  # fmt: skip
        """Make a key and return it with its secret, which nobody can ask for again.

        `rights` are the other fields of Key: origin, memory_scopes and quotas.
        """
        secret = Secret.new()
        only = {"agents": agents, "memory_scopes": rights.pop("memory_scopes", None)}
        rights |= {what: some and tuple(dict.fromkeys(some)) for what, some in only.items()}
        key = Key(
            id=secret.id, name=name, hash=secret.hash, scopes=tuple(scopes),
            created_at=datetime.now(UTC), expires_at=expires_at, **rights,
        )  # fmt: skip
        row = {one.name: getattr(key, one.name) for one in fields(Key) if one.name in _WRITTEN}
        row |= {what: list(some) for what, some in row.items() if isinstance(some, tuple)}
        async with self._turn:
            await self._db.run(PUT_KEY, **row | {"id": record("key", key.id)})
            self._keys[key.id] = key
        return key, secret

    def quota_of(self, key: str) -> Quota:
        """Return how much a key may ask and store; one that is unknown is unbounded."""
        return self._keys.get(key, UNBOUNDED)

    async def rotate(self, key: str) -> tuple[Key, Secret]:
        """Give a key another secret; the old one ends at once. Raises KeyNotFound.

        Raises KeyEnded for one that was revoked or is past its time: no secret opens it again.
        """
        secret = Secret.new(self.named(key).id)
        async with self._turn:
            if not self.named(key).is_good(self._now()):
                msg = f"Key {key!r} {_ended(self.named(key))}, for good: make another, POST /keys."
                raise KeyEnded(msg)
            await self._db.run(ROTATE_KEY, id=record("key", key), hash=secret.hash)
            self._keys[key] = replace(self.named(key), hash=secret.hash)
        return self._keys[key], secret

    async def revoke(self, key: str) -> None:
        """End a key at once, for good; one that has ended stays as it is. Raises KeyNotFound.

        It is written each time: the store may not have taken it when it was asked before.
        """
        ended = self.named(key).revoked_at or datetime.now(UTC)
        self._keys[key] = replace(self.named(key), revoked_at=ended)
        await self._db.run(REVOKE_KEY, id=record("key", key), revoked_at=ended)

    async def keep_noting(self) -> None:
        """Write now and then when keys were used; for ever."""
        while True:
            await asyncio.sleep(_NOTED_SECONDS)
            await self.note()

    async def note(self) -> None:
        """Write when keys were used; of a store that is away it is tried again later."""
        used, self._used = self._used, {}
        for key, at in used.items():
            if key in self._keys:
                self._keys[key] = replace(self._keys[key], last_used_at=at)
        try:
            if used:
                rows = [{"id": record("key", key), "at": at} for key, at in used.items()]
                await self._db.run(NOTE_KEYS, used=rows)
        except ServiceError as error:
            self._used = used | self._used
            log.warning("when keys were used last is not written yet: %s", error.logged)

    def _now(self) -> datetime:
        self._latest = max(self._latest, datetime.now(UTC))
        return self._latest


def _ended(key: Key) -> str:
    return "was revoked" if key.revoked_at else "is past its time"
