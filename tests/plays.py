"""State machines of Hypothesis that play with a running service."""

from hypothesis import Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from tests.servers.keyed import KeyedService


def check_plays(
    machine: type[RuleBasedStateMachine], keyed: KeyedService, plays: int, steps: int
) -> None:
    """Let it play so many times, each with up to so many steps; fails as a step of it does.

    It finds the service as its `keyed`.
    """
    played = settings(
        max_examples=plays, stateful_step_count=steps, deadline=None,
        phases=[Phase.generate], print_blob=False,
    )  # fmt: skip
    run_state_machine_as_test(type(machine.__name__, (machine,), {"keyed": keyed}), settings=played)
