"""Names that came up when many memories held them already: those are linked behind the answer."""

from collections.abc import Mapping
from typing import Any, Final

from service.links import stored
from service.links.change import Change
from service.links.merges import MOST_RELINKED, Regrouped
from service.store.database import record
from service.store.queries import Fragment, load_query
from service.writing.pipeline import Pipeline, commit
from service.writing.turns import keep_doing

UNLINKED: Final = load_query(__package__, "unlinked")
LINKED_THROUGH: Final = load_query(__package__, "linked_through")
ALL_LINKED: Final = load_query(__package__, "all_linked")
# Each look costs the database engine as much as all that holds a name: fewer looks than writes.
_MOST_FOUND: Final = 10_000


async def keep_linking(pipeline: Pipeline) -> None:
    """Go on with what the last run left, and with what every new name leaves."""
    what = "links to new concepts wait"
    await keep_doing(lambda: link_rest(pipeline), pipeline.has_unlinked, what)


async def link_rest(pipeline: Pipeline) -> None:
    """Link all memories that mention a name, for each one that was not linked to all of them.

    A crash leaves how far it came; to link again what is linked changes nothing. The names take
    turns, so that one that stands everywhere holds up no other for long.
    """
    while rows := await pipeline.db.run(UNLINKED):
        for row in rows:
            await _link_some(pipeline, row)


async def _link_some(pipeline: Pipeline, row: Mapping[str, Any]) -> None:
    """Look for the next memories and link them, a few in each turn to write.

    The look needs no turn: whatever is written since the names are known is linked as it comes.
    """
    (agent, version), after = row["id"], row["after"]
    names = record("unlinked", [agent, version])
    keys = await stored.mentioning_after(pipeline.engine, agent, row["names"], after, _MOST_FOUND)
    for start in range(0, len(keys), MOST_RELINKED):
        some = keys[start : start + MOST_RELINKED]
        through = Fragment(LINKED_THROUGH, {"names": names, "linked_through": some[-1]})
        await commit(pipeline, Change(agent, relink=frozenset(some), fragments=(through,)))
    if len(keys) < _MOST_FOUND:
        over = Fragment(ALL_LINKED, {"linked_names": names})
        # One that nobody mentions after all goes now, unless a merge is not done with it.
        slugs = Regrouped(slug=min(row["slugs"], default=""), slugs=frozenset(row["slugs"]))
        async with pipeline.regrouping.of(agent):
            await commit(pipeline, Change(agent, regrouped=slugs, fragments=(over,)))
