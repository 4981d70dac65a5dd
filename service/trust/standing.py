"""What sessions are told unasked, and transcripts that more is made of, under quarantine."""

from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from service.access.origins import tier_of
from service.store.database import Database, record
from service.store.queries import load_query
from service.trust.quarantine import Selection

STANDING: Final = load_query(__package__, "standing")
SET_STANDING: Final = load_query(__package__, "set_standing")


@dataclass(frozen=True, slots=True)
class Standing:
    """What stands of some senders: rows with their key in the table as `id`, and their `origin`.

    Of transcripts the keys alone: they have no tier but that of a quarantine.
    """

    working_memory: list[dict[str, Any]]
    intents: list[dict[str, Any]]
    transcripts: list[Any]


async def select_standing(db: Database, selection: Selection, *, is_quarantined: bool) -> Standing:
    """Return what is in focus, intended and read of transcripts that is quarantined, or is not.

    None has a source: of a selection by one there is nothing.
    """
    params = selection.parameters()
    if params.pop("source") is not None:
        return Standing([], [], [])
    return Standing(**await db.run(STANDING, **params, is_quarantined=is_quarantined))


async def set_standing(db: Database, standing: Standing, tier: str | None) -> None:
    """Give all of it a trust tier, or with None the one that follows from its origin."""
    rows = [
        (tier or tier_of(row["origin"]), record(table, row["id"]))
        for table, found in (
            ("working_memory", standing.working_memory), ("intent", standing.intents)
        )
        for row in found
    ]  # fmt: skip
    rows.sort(key=lambda row: row[0])
    for told, group in groupby(rows, lambda row: row[0]):
        await db.run(SET_STANDING, ids=[one for _, one in group], trust_tier=told)
    transcripts = [record("transcript", key) for key in standing.transcripts]
    await db.run(SET_STANDING, ids=transcripts, trust_tier=tier)
