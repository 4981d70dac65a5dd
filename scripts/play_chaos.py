"""Rounds of faults against a running service, compared with what it acknowledged.

    scripts/play_chaos.py [ROUNDS] [--seed NUMBER] [--engine resident|database|both]

`./scripts/chaos` makes the environment first; tests/README.md tells what is done.
"""

import argparse
import secrets
import signal
import sys
from pathlib import Path
from typing import Final

from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts.chaos_rounds.draws import ENGINES, Engine, Scope, draw_round
from scripts.chaos_rounds.report import show, show_one, write_lines
from scripts.chaos_rounds.rounds import Outcome, play
from tests.servers.clock_shim import why_no_clock_shim

_CHOICES: Final[dict[str, tuple[Engine, ...]]] = {
    "resident": ("resident",), "database": ("database",), "both": ENGINES,
}  # fmt: skip


def main() -> int:
    """Play the rounds; 1 when anything that was acknowledged is not as it was."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rounds", type=int, nargs="?", default=100, help="how many (100)")
    parser.add_argument("--seed", type=int, help="of the first round; else one is drawn")
    parser.add_argument("--engine", choices=_CHOICES, default="both")
    parser.add_argument("--out", type=Path, help="a file for a line of JSON a round")
    parser.add_argument("--logs", type=Path, help="a folder for the logs of rounds that go wrong")
    asked = parser.parse_args()
    # Ended from outside, too, no process and no mounted disk stays behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGINT, lambda *_: sys.exit(130))
    console = Console(soft_wrap=True)
    if reason := why_no_clock_shim():
        console.print(f"NO CLOCK IS MOVED: {reason}.", style="bold red")
    first = secrets.randbelow(1_000_000) if asked.seed is None else asked.seed
    engines = f"--engine {asked.engine}"
    console.print(
        f"Seed {first}. The same again: ./scripts/chaos {asked.rounds} --seed {first} {engines}"
    )
    scope = Scope(_CHOICES[asked.engine], has_clock=not reason)
    outcomes: list[Outcome] = []
    try:
        for number in range(asked.rounds):
            outcomes.append(play(draw_round(first + number, scope), asked.logs))
            show_one(outcomes[-1], number + 1, console)
            if asked.out:
                write_lines(asked.out, outcomes[-1])
    finally:
        if outcomes:
            show(outcomes, console)
    return int(any(outcome.faults for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
