"""The refs of groups, as old stores hold them."""

from datetime import UTC, datetime

from service.consolidate.summary.refs import (
    concept_ref,
    is_of_near_duplicates,
    leader_of,
    line_name,
    near_duplicates_ref,
    week_ref,
)
from service.names.subjects import concept_of_summary


def test_refs_are_those_that_old_stores_hold() -> None:
    new_year = datetime(2027, 1, 1, tzinfo=UTC)
    assert concept_ref("gpu") == "concept:gpu"
    assert near_duplicates_ref("m1") == "likeness:m1"
    assert week_ref("daily:memory", new_year) == "week:daily:memory:2026-W53"


def test_a_ref_gives_back_what_it_is_made_of() -> None:
    assert concept_of_summary(concept_ref("gpu")) == "gpu"
    assert leader_of(near_duplicates_ref("a:b")) == "a:b"
    assert is_of_near_duplicates(near_duplicates_ref("m1"))
    assert not is_of_near_duplicates(concept_ref("likeness"))
    moment = datetime(2026, 2, 13, tzinfo=UTC)
    assert line_name(week_ref("daily:memory", moment)) == "memory"
    assert line_name(week_ref("session:a:b", moment)) == "a:b"
    assert line_name(week_ref("pushed:", moment)) == "log"
