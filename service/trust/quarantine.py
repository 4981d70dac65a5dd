"""Quarantine and release of all that came in one way, and where its words went meanwhile."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from itertools import groupby
from typing import Any, Final

import orjson

from service.access.origins import tier_of
from service.drafts.stored_memory import StoredMemory
from service.ingest.document_names import names_of
from service.links.change import Change
from service.store.database import Database
from service.store.queries import load_query
from service.writing.pipeline import Pipeline, commit
from service.writing.setting import set_fields

SELECT: Final = load_query(__package__, "select")

# As of pushed memories: who writes meanwhile waits for one of these (decision 0009).
_TRANSACTION_MEMORIES: Final = 128
_BEHIND_SLASH: Final = chr(ord("/") + 1)


@dataclass(frozen=True, slots=True)
class Selection:
    """Memories by where they come from; every given part must hold.

    `source` is a document, a folder of them that ends with a slash, or a writer's own reference;
    `since` is when they were stored, or changed last. `agents` is None for those of all.
    """

    agents: tuple[str, ...] | None = None
    source: str | None = None
    session: str | None = None
    client: str | None = None
    key: str | None = None
    since: datetime | None = None

    @property
    def name(self) -> str | None:
        """What /ingest would call the source."""
        if self.source is None:
            return None
        end = "/" if self.source.endswith("/") else ""
        return names_of(self.source)[-1].removesuffix("/") + end

    def parameters(self) -> dict[str, Any]:
        """Return the parts as queries take them: `$session` is the database's own."""
        parts = asdict(self) | {"agents": self.agents and list(self.agents)}
        parts["in_session"] = parts.pop("session")
        return parts


Selected = Mapping[str, Sequence[str]]


async def select(
    db: Database, selection: Selection, *, is_quarantined: bool
) -> tuple[Selected, list[str]]:
    """Return the ids of memories by agent that are quarantined, or that are not.

    And those of the summaries that they are part of, as each row says: to follow the edges of
    each took twice the time of the rest.
    """
    params = selection.parameters() | {
        "name": selection.name,
        "source_end": _end(selection.source), "name_end": _end(selection.name),
    }  # fmt: skip
    found = await db.run(SELECT, **params, is_quarantined=is_quarantined)
    return await asyncio.to_thread(_read, found)


def _read(found: str) -> tuple[Selected, list[str]]:
    rows = orjson.loads(found)
    ids = sorted((agent, key) for agent, key, _ in rows)
    by_agent = groupby(ids, lambda one: one[0])
    selected = {agent: [key for _, key in some] for agent, some in by_agent}
    return selected, sorted({summary for *_, summary in rows if summary})


def _end(source: str | None) -> str | None:
    """Return what comes just behind all that is in a folder; of anything else itself."""
    return source[:-1] + _BEHIND_SLASH if source and source.endswith("/") else source


async def set_tiers(pipeline: Pipeline, selected: Selected, tier: str | None) -> None:
    """Give memories a trust tier, or with None the one that follows from their origin.

    In transactions of 128; summaries of them are told anew in the same ones. Interrupted, what is
    left is selected again.
    """

    def fields_of(old: StoredMemory) -> dict[str, str]:
        return {"trust_tier": tier or tier_of(old.origin)}

    for agent, keys in selected.items():
        for start in range(0, len(keys), _TRANSACTION_MEMORIES):
            page = keys[start : start + _TRANSACTION_MEMORIES]
            setting = partial(set_fields, keys=page, fields_of=fields_of)
            await commit(pipeline, Change(agent, in_turn=setting))
