"""Taking commits of the feed into the indexes that they concern."""

import logging
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final

from service.index.resident.agent_index import AgentIndex
from service.index.resident.apply_change import MISSHAPEN, apply_change, take_together
from service.index.resident.concerned import named_in
from service.index.resident.facts import moment_of_row
from service.records import Commit, RowChange

log = logging.getLogger(__name__)

# Within a commit memories come first, then what hangs on them.
APPLIED_FIRST: Final[Mapping[str, int]] = {"memory": 0, "concept": 1, "embedding": 2}


def apply_to_all(
    indexes: Iterable[AgentIndex], commits: Sequence[Commit], fingerprint: str | None
) -> list[str]:
    """Take commits into the indexes that they concern; returns the agents to be loaded anew.

    A thread for each index made a write 40 times slower beside 4,500 idle agents; looking whom a
    commit concerns costs a microsecond each.
    """
    named = named_in(change for commit in commits for change in commit.changes)
    return [
        index.agent
        for index in indexes
        if named.concerns(index) and apply_commits(index, commits, fingerprint)
    ]


def apply_commits(index: AgentIndex, commits: Sequence[Commit], fingerprint: str | None) -> bool:
    """Take what commits say of one agent into its index.

    Returns whether a memory came from another agent by hand: the feed told its vector and edges
    before it was this agent's, so that only loading anew brings them.
    """
    has_immigrants = False
    with index.lock:
        for commit in commits:
            strangers = _strangers(index, commit.changes)
            changes = commit.changes
            if index.beyond_budget:
                changes = tuple(c for c in changes if not _is_left_out(index, c, strangers))
            ordered = sorted(changes, key=lambda c: APPLIED_FIRST.get(c.table, len(APPLIED_FIRST)))
            for table, alike in groupby(ordered, attrgetter("table")):
                for change in take_together(index, table, list(alike), fingerprint):
                    _apply_one(index, change, fingerprint)
            has_immigrants |= any(map(index.holds, strangers))
    return has_immigrants


def _is_left_out(index: AgentIndex, change: RowChange, strangers: Container[str]) -> bool:
    """Say whether a change is of a memory that did not fit, and would come in by half.

    Such are the strangers, whose vector and edges are not told again, and what was stored before
    the index was loaded. What hangs on them is passed over, as on another agent's.
    """
    if change.table != "memory" or change.row is None or index.holds(change.key):
        return False
    created_at = moment_of_row(change.row, "created_at")
    return change.key in strangers or (type(created_at) is int and created_at < index.cut_at)


def _strangers(index: AgentIndex, changes: Iterable[RowChange]) -> set[str]:
    """Return the memories that are not held yet, have a vector and come without it."""
    embedded = {one.key for one in changes if one.table == "embedding" and type(one.key) is str}
    return {
        one.key
        for one in changes
        if one.table == "memory" and one.row and one.row.get("is_embedded")
        if type(one.key) is str and one.key not in embedded and not index.holds(one.key)
    }


def _apply_one(index: AgentIndex, change: RowChange, fingerprint: str | None) -> None:
    """Take in one change; a row that makes no sense is left out, and told of."""
    try:
        apply_change(index, change, fingerprint)
    except MISSHAPEN as error:
        log.warning("index of agent %s: left out a corrupt row of %s", index.agent, change.table)
        log.debug("corrupt: %s (%r)", change.key, error)
        index.leave_out(change.table, change.key)
