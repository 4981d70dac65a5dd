"""What one agent's index tells of memories in regard to a question."""

from collections.abc import Iterable, Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from service.index.evidence import Evidence, Places, Question
from service.index.resident.agent_index import AgentIndex
from service.index.resident.columns import Mask
from service.index.resident.facts import moment_of
from service.records import Filters

Rows = NDArray[np.intp]


def weigh(
    index: AgentIndex, question: Question, filters: Filters, keys: Iterable[str], reach: int
) -> Evidence:
    """Return the evidence of those memories that pass the filters, and of their neighbours."""
    with index.lock:
        mask = index.mask(filters)
        asked = [index.rows[key] for key in keys if index.holds(key)]
        asked = [row for row in asked if mask[row]]
        rows, before, after = _around(index, asked, mask, reach)
        counted = index.text.count(question.words, rows)
        names = [hash(name) for name in index.graph.spellings(question.names)]
        return Evidence(
            keys=tuple(index.keys[row] for row in rows.tolist()),
            asked=len(asked),
            counts=counted.counts,
            lengths=counted.lengths,
            cosines=_cosines(index, question, rows),
            is_named=np.isin(index.columns.subjects[rows], np.array(names, np.int64)),
            is_turn=index.columns.in_session[rows],
            before=before,
            after=after,
            holders=counted.holders,
            documents=index.text.documents,
            words=index.text.words,
        )


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


def _cosines(index: AgentIndex, question: Question, rows: Rows) -> NDArray[np.float32]:
    vectors, vector = index.vectors, question.vector
    if vectors is None or vector is None or vectors.dimensions != len(vector):
        return np.full(len(rows), np.nan, np.float32)
    return vectors.cosines(vector, rows)


def _around(
    index: AgentIndex, asked: Sequence[int], mask: Mask, reach: int
) -> tuple[Rows, Places, Places]:
    """Return the rows asked about and those around them, and the places of the neighbours."""
    follows, names = index.graph.edges["follows"], index.keys
    # Indexing bytes is faster than indexing an array, and this loop runs thousands of times.
    passes = mask.tobytes()

    def next_of(ends: Sequence[int], row: int) -> int:
        if len(ends) == 1:
            return ends[0] if ends[0] < len(passes) and passes[ends[0]] else row
        visible = [end for end in ends if end < len(passes) and passes[end]]
        return min(visible, key=names.__getitem__, default=row)

    place = {row: at for at, row in enumerate(asked)}
    ways: list[list[int]] = []
    for row in asked:
        for step in (follows.ahead, follows.behind):
            here, way = row, list[int]()
            while len(way) < reach:
                here = next_of(step(here), row)
                at = place.get(here)
                if here == row or (at is not None and at in way):
                    break
                way.append(place.setdefault(here, len(place)))
            ways.append(way + [-1] * (reach - len(way)))
    steps = np.array(ways, np.int32).reshape(len(asked), 2, reach)
    padded = np.full((len(place), 2, reach), -1, np.int32)
    padded[: len(asked)] = steps
    return np.fromiter(place, np.intp, len(place)), padded[:, 0], padded[:, 1]
