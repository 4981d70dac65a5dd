"""The figures of consolidation as one picture. Needs matplotlib."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import matplotlib as mpl
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from scripts.consolidation.report import BUDGETS, Measured

_BEFORE, _AFTER, _BUDGET = "#8fb0c6", "#2f6690", "#d1603d"
_BAR_WIDTH: Final = 0.4


def draw_consolidation(measured: Measured, title: str, path: Path) -> None:
    """Draw time by number of entries beside its budget, if it was measured, and sizes."""
    mpl.use("Agg")
    drawn: list[Callable[[Axes, Measured], None]] = [_draw_sizes]
    if measured.times:
        drawn.insert(0, _draw_times)
    picture, panels = plt.subplots(
        1, len(drawn), figsize=(5.5 * len(drawn), 4.2), layout="constrained", squeeze=False
    )
    for axes, draw in zip(panels[0], drawn, strict=True):
        draw(axes, measured)
    picture.suptitle(title, fontsize=10)
    picture.savefig(path, dpi=110)
    plt.close(picture)


def _draw_times(axes: Axes, measured: Measured) -> None:
    figures = measured.times
    entries = [one.entries for one in figures]
    lines = {
        "run": ([one.seconds for one in figures], _AFTER),
        "dry run": ([one.dry_seconds for one in figures], _BEFORE),
        "again, nothing to do": ([one.again_seconds for one in figures], "#a0a0a0"),
    }
    for label, (seconds, colour) in lines.items():
        axes.plot(entries, seconds, marker="o", color=colour, label=label)
    axes.plot(list(BUDGETS), list(BUDGETS.values()), "--", color=_BUDGET, label="budget of a run")
    axes.set(xscale="log", yscale="log", xlabel="entries", title="seconds, embedding apart")
    axes.set_xticks(entries, [f"{count:,}" for count in entries], minor=False)
    axes.minorticks_off()
    axes.grid(visible=True, alpha=0.25)
    axes.legend(fontsize=8)


def _draw_sizes(axes: Axes, measured: Measured) -> None:
    runs = {name: one for name, one in measured.runs().items() if one.joined.tokens}
    # Of the generated logs the largest is enough.
    for one in measured.times[:-1]:
        runs.pop(f"{one.entries:,} generated entries", None)
    kept = [one.summaries.tokens / one.joined.tokens for one in runs.values()]
    places = range(len(kept))
    axes.bar([place - _BAR_WIDTH / 2 for place in places], [1] * len(kept), _BAR_WIDTH,
             color=_BEFORE, label="logs")  # fmt: skip
    bars = axes.bar([place + _BAR_WIDTH / 2 for place in places], kept, _BAR_WIDTH,
                    color=_AFTER, label="their summaries")  # fmt: skip
    axes.bar_label(bars, [f"{share:.0%}" for share in kept], fontsize=8)
    labels = [f"{name}\n{one.joined.tokens:,} tokens" for name, one in runs.items()]
    axes.set_xticks(list(places), [label.replace(", ", ",\n", 1) for label in labels])
    axes.tick_params(axis="x", labelsize=8)
    axes.set(title="estimated tokens, share of what was compacted")
    axes.legend(fontsize=8)
