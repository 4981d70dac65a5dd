"""What came of all rounds: a table for people, lines of JSON for programs."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from scripts.chaos_rounds.rounds import Outcome

_COLUMNS: Final = (
    "seed", "engine", "store", "stored", "unknown", "live", "refusal", "answer", "took", "wrong",
)  # fmt: skip
# /health/live answers within this, whatever happens.
MOST_LIVE_SECONDS: Final = 1.0
_LOSSES: Final = frozenset({"lost", "altered", "undeleted", "twice", "skipped", "stranger"})


def line_of(outcome: Outcome) -> str:
    """Return one outcome as a line of JSON."""
    return json.dumps(asdict(outcome))


def write_lines(path: Path, outcome: Outcome) -> None:
    """Add one outcome to a file."""
    with path.open("a", encoding="utf-8") as file:
        file.write(line_of(outcome) + "\n")


def table_of(outcomes: Sequence[Outcome]) -> Table:
    """Return a row for each round; times in seconds."""
    table = Table(*_COLUMNS)
    for one in outcomes:
        wrong = ", ".join(f"{n} {kind}" for kind, n in one.kinds().most_common()) or "nothing"
        table.add_row(
            str(one.round.seed), one.round.engine, one.round.store,
            str(one.acknowledged), str(one.unknown),
            *(f"{seconds:.2f}" for seconds in (one.live, one.refusal, one.longest, one.took)),
            f"[red]{wrong}[/red]" if one.faults else wrong,
        )  # fmt: skip
    return table


def figures_of(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the figures of all rounds together."""
    kinds = sum((one.kinds() for one in outcomes), Counter[str]())
    refusals = sum((Counter(one.refusals) for one in outcomes), Counter[str]())
    slowest = max(outcomes, key=lambda one: one.refusal)
    return {
        "rounds": len(outcomes),
        "requests": sum(one.requests for one in outcomes),
        "acknowledged": sum(one.acknowledged for one in outcomes),
        "unknown": sum(one.unknown for one in outcomes),
        "lost": sum(n for kind, n in kinds.items() if kind in _LOSSES),
        "drift": kinds["drift"],
        "longest /health/live": round(max(one.live for one in outcomes), 2),
        "rounds with more than 1 s": sum(one.live > MOST_LIVE_SECONDS for one in outcomes),
        "longest refusal": f"{slowest.refusal:.2f} s, {slowest.refusal_of}",
        "longest answer": round(max(one.longest for one in outcomes), 2),
        "wrong": dict(kinds.most_common()),
        "refusals": dict(refusals.most_common()),
        "took minutes": round(sum(one.took for one in outcomes) / 60, 1),
    }


def show(outcomes: Sequence[Outcome], console: Console) -> None:
    """Print a table of the rounds, and the figures of all."""
    console.print(table_of(outcomes))
    for name, figure in figures_of(outcomes).items():
        console.print(f"{name}: {figure}")


def show_one(outcome: Outcome, number: int, console: Console) -> None:
    """Print a round when it is over, with the first of what is wrong of each kind."""
    round_ = outcome.round
    drawn = "; ".join(map(str, round_.faults))
    console.print(
        f"{number}: seed {round_.seed}, {round_.engine}, {round_.store}: {drawn}. "
        f"{outcome.acknowledged} acknowledged, live {outcome.live:.2f} s "
        f"(machine {outcome.late:.2f}), {outcome.took:.0f} s"
    )
    firsts = {fault.partition(":")[0]: fault for fault in reversed(outcome.faults)}
    for kind, fault in firsts.items():
        console.print(f"    {outcome.kinds()[kind]} × {fault[:400]}", style="red", markup=False)
