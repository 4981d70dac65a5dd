"""Evidence out of one agent's index."""

from collections.abc import Iterable, Sequence
from datetime import datetime

import numpy as np

from service.index.evidence import Corpus, Evidence, Question, RowNumbers, mentions_of
from service.index.resident.agent_index import AgentIndex
from service.index.resident.columns import Mask
from service.index.resident.facts import moment_of
from service.index.resident.values import VALUES, Rows
from service.records import Filters


def collect_evidence(
    index: AgentIndex, question: Question, filters: Filters, keys: Iterable[str], reach: int
) -> Evidence:
    """Return the evidence of those memories that pass the filters, and of their neighbours."""
    with index.lock:
        mask = index.mask(filters)
        held = [index.rows[key] for key in keys if index.holds(key)]
        candidates = [row for row in held if mask[row]]
        rows, before, after = _with_neighbours(index, candidates, mask, reach)
        counted = index.text.count(question.words, rows)
        values = {name: value(index, question, rows) for name, value in VALUES.items()}
        return Evidence(
            keys=tuple(index.keys[row] for row in rows.tolist()),
            candidates=len(candidates),
            before=before,
            after=after,
            values={"counts": counted.counts, "lengths": counted.lengths, **values},
            corpus=Corpus(
                counted.document_frequencies,
                mentions_of(question, index.graph.concepts_named(question.names)),
                index.text.documents,
                index.text.words,
            ),
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


def _with_neighbours(
    index: AgentIndex, candidates: Sequence[int], mask: Mask, reach: int
) -> tuple[Rows, RowNumbers, RowNumbers]:
    """Return the candidates' rows in the index and behind them those around them.

    With them come, for each, the positions among these rows of what comes before and after it.
    """
    follows, names = index.graph.edges["follows"], index.keys
    # Indexing bytes is faster than indexing an array, and this loop runs thousands of times.
    passes = mask.tobytes()

    def next_of(ends: Sequence[int], row: int) -> int:
        if len(ends) == 1:
            return ends[0] if ends[0] < len(passes) and passes[ends[0]] else row
        visible = [end for end in ends if end < len(passes) and passes[end]]
        return min(visible, key=names.__getitem__, default=row)

    positions = {row: position for position, row in enumerate(candidates)}
    ways: list[list[int]] = []
    for row in candidates:
        for step in (follows.ahead, follows.behind):
            here, way = row, list[int]()
            while len(way) < reach:
                here = next_of(step(here), row)
                position = positions.get(here)
                if here == row or (position is not None and position in way):
                    break
                way.append(positions.setdefault(here, len(positions)))
            ways.append(way + [-1] * (reach - len(way)))
    steps = np.array(ways, np.int32).reshape(len(candidates), 2, reach)
    padded = np.full((len(positions), 2, reach), -1, np.int32)
    padded[: len(candidates)] = steps
    return np.fromiter(positions, np.intp, len(positions)), padded[:, 0], padded[:, 1]
