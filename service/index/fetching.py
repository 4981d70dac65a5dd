"""The memories of a ranking, for whoever has found which ones matter."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final

from service.index.engine import Engine
from service.records import Filters, Memory

# The next slice when some of the first are not visible any more: a ranking ends after three.
_NEXT: Final = 50


@dataclass(frozen=True, slots=True)
class Wanted:
    """A ranked memory, those it must not be shown without, and one that is told beside it."""

    id: str
    through: tuple[str, ...] = ()
    beside: str | None = None


async def fetch_first(
    engine: Engine,
    ranking: Iterable[Wanted],
    filters: Filters,
    limit: int,
    also: Iterable[str] = (),
    known: Mapping[str, Memory] | None = None,
) -> tuple[list[str], dict[str, Memory]]:
    """Return the first `limit` ids of a ranking that pass the filters now, and what was fetched.

    The store has the last word: a memory that was moved, archived or removed a moment ago is
    passed over for the next one, and so is one that must not be shown without it. Fetched by id
    is what passes of the wanted memories, those they need, those beside them, and `also`; what is
    `known`, having been fetched for the same answer, is not fetched again.
    """
    chosen: list[str] = []
    memories: dict[str, Memory] = dict(known or {})
    rest, size, more = iter(ranking), limit, set(also)
    while len(chosen) < limit and (part := list(islice(rest, size))):
        named = more.union(*((one.id, *one.through) for one in part))
        named |= {one.beside for one in part if one.beside is not None}
        memories |= await engine.fetch(sorted(named - memories.keys()), filters)
        chosen += [one.id for one in part if memories.keys() >= {one.id, *one.through}]
        size, more = max(limit, _NEXT), set()
    return chosen[:limit], memories
