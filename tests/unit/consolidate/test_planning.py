"""The id of a plan: the same for the same plan, and worked out once."""

import time
from dataclasses import asdict
from datetime import UTC, datetime

import orjson

from service.consolidate.planning import ConsolidationPlan, PlannedGroup, Target
from service.drafts.ids import digest
from service.names.variants import Variants

TARGET = Target("main", "work", datetime(2026, 2, 13, tzinfo=UTC))


def _plan(groups: int) -> ConsolidationPlan:
    made = [
        PlannedGroup(f"k{n}", f"concept:{n}", {"z": "1", "a": f"{n}"}, {f"m{n}": "2"})
        for n in range(groups)
    ]
    return ConsolidationPlan(TARGET, tuple(made), concepts=(Variants("gpu", ("gpus", "g_p_u")),))


def test_the_id_is_that_under_which_plans_are_stored() -> None:
    plan = _plan(3)
    rows = [[asdict(one) for one in part] for part in (plan.groups, plan.concepts)]
    work = b"".join(orjson.dumps(part, option=orjson.OPT_SORT_KEYS) for part in rows)
    assert plan.id == digest("plan", "main", "work", work.decode())
    assert _plan(3).id == plan.id != _plan(2).id
    assert ConsolidationPlan(TARGET).id is None


def test_each_report_of_a_large_plan_costs_nothing() -> None:
    plan = _plan(20_000)
    started = time.thread_time()
    first = plan.id
    took = time.thread_time() - started
    assert {plan.id for _ in range(100)} == {first}
    assert time.thread_time() - started < 3 * took
