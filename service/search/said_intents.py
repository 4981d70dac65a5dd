"""What is to be said as a question comes up, beside its answers."""

from dataclasses import dataclass
from datetime import UTC, datetime

from service.access.caller import caller
from service.intents.standing import say
from service.search.receipts import Receipt
from service.search.searcher import Searcher
from service.sessions.asking import AskingFields


@dataclass(frozen=True, slots=True)
class SaidIntent:
    """A standing intent that came up."""

    id: str
    text: str


async def intents_for(
    searcher: Searcher, request: AskingFields, text: str, receipt: Receipt
) -> list[SaidIntent]:
    """Return what is to be said to the session that asks, and count it as said; else nothing.

    Nothing to whoever is for some scopes of memories alone: intents are their agent's, of any.
    """
    if request.asking is None or not text or caller().memory_scopes is not None:
        return []
    scope = receipt.filters.get("project")
    now = datetime.now(UTC)
    said = await say(searcher.db, searcher.engine, request.agent, scope, text, now)
    return [SaidIntent(one.id, one.text) for one in said]
