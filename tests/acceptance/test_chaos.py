"""A service that faults strike while clients write and read loses nothing that it acknowledged.

In the gate one short round with a kill; in the soak rounds drawn by its seed, of both engines.
"""

import sys

import pytest

from scripts.chaos_rounds.draws import Fault, Round, Scope, draw_round
from scripts.chaos_rounds.rounds import play
from tests import effort
from tests.servers.clock_shim import why_no_clock_shim

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(sys.platform != "linux", reason="signals, mounts and limits are Linux's"),
]

SHORT = Round(
    seed=15, engine="resident", store="embedded", seconds=1.0,
    faults=(Fault("kill", 0.5, 0.0),), ends_by_restart=False,
)  # fmt: skip


@pytest.mark.parametrize("number", range(effort.amount("chaos rounds")))
def test_nothing_acknowledged_is_lost(number: int) -> None:
    scope = Scope(has_clock=not why_no_clock_shim())
    drawn = draw_round(effort.SEED * 1000 + number, scope) if effort.IS_SOAK else SHORT
    outcome = play(drawn)
    assert outcome.faults == [], drawn
    assert outcome.acknowledged > 0
