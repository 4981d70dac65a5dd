"""Evidence out of one agent's index."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from heapq import nlargest

import numpy as np
from numpy.typing import NDArray

from service.index.evidence import Evidence, KeysOfRows, Question, told_within
from service.index.resident.agent_index import AgentIndex
from service.index.resident.columns import Mask
from service.index.resident.left_out import lacks_some
from service.index.resident.values import VALUES, Rows, Told
from service.index.resident.ways import number_rows
from service.moments import moment_of
from service.records import Filters, Place


def collect_evidence(
    index: AgentIndex, question: Question, filters: Filters, asked: Sequence[int], reach: int
) -> tuple[list[int], Evidence]:
    """Return those of the rows that pass the filters, their evidence and that of neighbours."""
    with index.lock:
        mask = index.mask(filters)
        candidates = _visible(asked, mask)
        before, after = index.graph.follows.around(candidates, mask, index.keys, reach)
        rows, near = number_rows(candidates, before, after, len(index.keys))
        within = len(candidates), near, len(rows)
        counted = index.text.count(question.words, rows)
        told = Told.of(index, question)
        values = {
            name: value(index, told, rows[: told_within(name, within)])
            for name, value in VALUES.items()
        }
        evidence = Evidence(
            keys=KeysOfRows(index.keys, rows),
            within=within,
            before=before,
            after=after,
            values={"counts": counted.counts, "lengths": counted.lengths, **values},
            corpus=told.corpus_of(index.text, counted.document_frequencies),
        )
    return candidates.tolist(), evidence


def occurred(index: AgentIndex, keys: Iterable[str]) -> dict[str, int]:
    """Return when each memory happened, in microseconds of Unix time, by key."""
    with index.lock:
        held = index.held(keys)
        moments = index.columns.occurred_at[list(held.values())]
        return dict(zip(held, moments.tolist(), strict=True))


def newest(
    index: AgentIndex, filters: Filters, among: Iterable[str] | None = None
) -> datetime | None:
    """Return when the newest memory that passes happened, of those in `among` if it is given."""
    with index.lock:
        mask = index.mask(filters)
        if among is None:
            rows = np.flatnonzero(mask)
        else:
            held = np.array([index.rows[key] for key in among if index.holds(key)], np.intp)
            rows = held[mask[held]]
        moments = index.columns.occurred_at[rows]
        return moment_of(int(moments.max())) if len(moments) else None


def latest(index: AgentIndex, filters: Filters, limit: int) -> list[tuple[int, str]]:
    """Return the newest that pass, as (minus its microseconds since 1970, id), in this order."""
    with index.lock:
        rows = np.flatnonzero(index.mask(filters))
        rows, moments = _newest(rows, index.columns.occurred_at[rows], limit)
        keys = [index.keys[row] for row in rows.tolist()]
        return sorted(zip((-moments).tolist(), keys, strict=True))[:limit]


def newest_places(
    index: AgentIndex, filters: Filters, before: Place, limit: int
) -> list[Place] | None:
    """Return where the newest that pass stand, of those that stand before a place, downwards.

    None where the index leaves out memories of the store.
    """
    with index.lock:
        if lacks_some(index, "memory"):
            return None
        keys, rows = index.keys, np.flatnonzero(index.mask(filters))
        moments = index.columns.occurred_at[rows]
        beside = (keys[row] for row in rows[moments == before.micros].tolist())
        first = nlargest(limit, (key for key in beside if key < before.id))
        older = moments < before.micros
        rows, moments = _newest(rows[older], moments[older], limit)
        rest = zip(moments.tolist(), (keys[row] for row in rows.tolist()), strict=True)
        found = [*((before.micros, key) for key in first), *nlargest(limit, rest)]
        return [Place(*one) for one in found[:limit]]


def _newest(rows: Rows, moments: NDArray[np.int64], limit: int) -> tuple[Rows, NDArray[np.int64]]:
    """Return the rows of the `limit` newest with their moments, in no order, and all as new."""
    if len(rows) <= limit:
        return rows, moments
    kth = np.partition(moments, len(rows) - limit)[len(rows) - limit]
    return rows[moments >= kth], moments[moments >= kth]


def _visible(asked: Sequence[int], mask: Mask) -> Rows:
    """Return those of the rows that pass, in their order."""
    rows = np.array(asked, np.intp)
    rows = rows[rows < len(mask)]
    return rows[mask[rows]]
