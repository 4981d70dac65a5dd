"""The figures of recall as one picture: bars by data set and variant. Needs matplotlib."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import matplotlib as mpl
from matplotlib import pyplot as plt

from scripts.recall.figures import SetFigures
from scripts.recall.scores import LABELS

_DRAWN: Final = ("recall_5", "ndcg_10")
# Of the room that a data set has; the rest parts it from the next.
_BARS_SHARE: Final = 0.84
_COLOURS: Final = ("#c9d6df", "#8fb0c6", "#5b8db8", "#2f6690", "#d1603d")


def draw_recall(figures: Sequence[SetFigures], title: str, path: Path) -> None:
    """Draw R@5 above nDCG@10: a group for each data set, a bar for each variant."""
    mpl.use("Agg")
    variants = list(figures[0].variants)
    picture, panels = plt.subplots(
        len(_DRAWN), sharex=True, layout="constrained",
        figsize=(4 + 2 * len(figures), 4.5 * len(_DRAWN)),
    )  # fmt: skip
    width = _BARS_SHARE / len(variants)
    for panel, name in zip(panels, _DRAWN, strict=True):
        for place, variant in enumerate(variants):
            middles = [group + (place - (len(variants) - 1) / 2) * width
                       for group in range(len(figures))]  # fmt: skip
            heights = [getattr(one.variants[variant].whole.scores, name) for one in figures]
            bars = panel.bar(
                middles, heights, width, label=variant, color=_COLOURS[place % len(_COLOURS)]
            )
            panel.bar_label(bars, fmt="%.3f", rotation=90, padding=3, fontsize=7)
        panel.set(title=LABELS[name], ylim=(0, 1.12))
        panel.set_xticks(range(len(figures)), [one.name for one in figures])
        panel.grid(visible=True, axis="y", alpha=0.25)
        panel.set_axisbelow(True)
    handles, labels = panels[0].get_legend_handles_labels()
    picture.legend(handles, labels, loc="outside lower center", ncols=len(variants), fontsize=9)
    picture.suptitle(title, fontsize=10)
    picture.savefig(path, dpi=110)
    plt.close(picture)
