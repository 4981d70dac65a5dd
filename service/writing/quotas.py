"""Quotas of what is stored: in all, and with one key; kept before anything is written."""

import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from service.access.quota import UNBOUNDED, Quota
from service.errors import QuotaFull
from service.links.change import Change
from service.records import CONSOLIDATION
from service.store.database import Database, record
from service.store.queries import load_query

STORED_IN_ALL: Final = load_query(__package__, "stored_in_all")
STORED_WITH_KEY: Final = load_query(__package__, "stored_with_key")
DOCUMENT_KEYS: Final = load_query(__package__, "document_keys")

# To count what one key has sent reads every row: when it is full, so often at most.
_COUNTED_SECONDS: Final = 5.0
_EVERYBODY: Final = ""
_NEVER: Final = float("-inf")


@dataclass(slots=True)
class Stored:
    """What was sent with one key, or in all, as far as this process knows.

    `written` is in the store, `coming` about to be.
    """

    written: Counter[str] = field(default_factory=Counter)
    coming: Counter[str] = field(default_factory=Counter)
    counted_at: float = _NEVER


@dataclass(slots=True)
class Quotas:
    """The quotas of one store, `whole` of all agents and keys, the others by key.

    Nothing is counted of what is unbounded. Other services on the same server are seen when a
    quota seems to be full, or after five seconds.
    """

    whole: Quota = UNBOUNDED
    quota_of: Callable[[str], Quota] = lambda _: UNBOUNDED
    _stored: dict[str, Stored] = field(default_factory=dict)

    @asynccontextmanager
    async def held(self, db: Database, change: Change) -> AsyncIterator[None]:
        """Hold what a change adds while it is written; raises QuotaFull before it begins."""
        added = {
            key: more for key, more in (await self._added(db, change)).items() if self._bounds(key)
        }
        for key, more in added.items():
            await self._check(db, key, more)
        try:
            # What is about to go gives no room yet.
            for key, more in added.items():
                self._stored[key].coming.update(+more)
            # Others may have come while something was counted.
            for key, more in added.items():
                self._refuse_over(key, more, 0)
            yield
            for key, more in added.items():
                self._stored[key].written.update(more)
        finally:
            for key, more in added.items():
                self._stored[key].coming.subtract(+more)

    async def _added(self, db: Database, change: Change) -> dict[str, Counter[str]]:
        """Return by key how many memories and documents a change adds, below 0 frees."""
        added: dict[str, Counter[str]] = {_EVERYBODY: Counter()}
        for draft in change.drafts:
            old = change.replaced.get(draft.id)
            # The service's own summaries stand in the place of their sources.
            if old is None and draft.source_kind != CONSOLIDATION:
                added[_EVERYBODY]["memories"] += 1
            if old is None or old.key != draft.key:
                _move(added, "memories", None if old is None else old.key, draft.key)
        for memory in change.gone:
            added[_EVERYBODY]["memories"] -= 1
            _move(added, "memories", memory.key, None)
        if change.documents or change.gone_documents:
            await self._add_documents(db, change, added)
        return added

    async def _add_documents(
        self, db: Database, change: Change, added: dict[str, Counter[str]]
    ) -> None:
        senders = [_EVERYBODY, *(one.sender.key for one in change.documents if one.sender.key)]
        if not any(self._bounds(key) for key in senders):
            return
        uris = [*(one.uri for one in change.documents), *change.gone_documents]
        ids = [record("document", [change.agent, uri]) for uri in uris]
        rows = await db.run(DOCUMENT_KEYS, ids=ids)
        known = {row["id"][1]: row.get("key") for row in rows}
        for one in change.documents:
            added[_EVERYBODY]["documents"] += one.uri not in known
            _move(added, "documents", known.get(one.uri), one.sender.key)
        for uri in change.gone_documents:
            if uri in known:
                added[_EVERYBODY]["documents"] -= 1
                _move(added, "documents", known[uri], None)

    def _bounds(self, key: str) -> dict[str, int]:
        quota = self.quota_of(key) if key else self.whole
        bounds = {"memories": quota.max_memories, "documents": quota.max_documents}
        return {what: most for what, most in bounds.items() if most is not None}

    async def _check(self, db: Database, key: str, more: Counter[str]) -> None:
        """Raise QuotaFull if there is no room; counts anew before, unless that was just done."""
        stored = self._stored.setdefault(key, Stored())
        age = time.monotonic() - stored.counted_at
        is_stale = db.address.folder is None and age > _COUNTED_SECONDS
        is_over = any(self._over(key, what, more) for what in self._bounds(key))
        if stored.counted_at == _NEVER or is_stale or (is_over and age > _COUNTED_SECONDS):
            counts = await (db.run(STORED_WITH_KEY, key=key) if key else db.run(STORED_IN_ALL))
            stored.written, stored.counted_at = Counter(counts), time.monotonic()
        self._refuse_over(key, more, 1)

    def _over(self, key: str, what: str, more: Counter[str], times: int = 1) -> bool:
        stored, most = self._stored[key], self._bounds(key)[what]
        return (
            more[what] > 0
            and stored.written[what] + stored.coming[what] + (times * more[what]) > most
        )

    def _refuse_over(self, key: str, more: Counter[str], times: int) -> None:
        for what, most in self._bounds(key).items():
            if self._over(key, what, more, times):
                has = self._stored[key].written[what]
                who = "This key stores" if key else "This service stores"
                msg = (
                    f"{who} {most:,} {what} at most, and has {has:,}. Delete some, or ask an admin "
                    f"for more. Nothing of this was stored; what changes or removes some goes on."
                )
                raise QuotaFull(msg)


def _move(added: dict[str, Counter[str]], what: str, old: str | None, new: str | None) -> None:
    """Count one for another key."""
    if old == new:
        return
    for key, more in ((old, -1), (new, 1)):
        if key:
            added.setdefault(key, Counter())[what] += more
