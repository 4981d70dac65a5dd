"""The figures of one size after the other: as a table, and as a picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot as plt
from rich.table import Table


@dataclass(frozen=True, slots=True)
class SizeFigures:
    """What was measured at one size; milliseconds, seconds and bytes. None: not measured."""

    memories: int
    search_p50: float
    search_p95: float
    recall_p50: float
    recall_p95: float
    peer_exact_p50: float | None
    peer_index_p50: float | None
    ready_seconds: float
    loaded_bytes: int
    peak_bytes: int


def curve_table(figures: Sequence[SizeFigures]) -> Table:
    """Return one row for each size."""
    table = Table(
        "memories", "/search p50", "p95", "/graph-recall p50", "p95", "LanceDB exact p50",
        "its index p50", "start to ready s", "loaded MB", "peak MB",
    )  # fmt: skip
    for one in figures:
        milliseconds = (
            one.search_p50, one.search_p95, one.recall_p50, one.recall_p95, one.peer_exact_p50,
            one.peer_index_p50,
        )  # fmt: skip
        table.add_row(
            f"{one.memories:,}", *(f"{ms:.1f}" if ms is not None else "-" for ms in milliseconds),
            f"{one.ready_seconds:.1f}", f"{one.loaded_bytes / 1e6:.0f}",
            f"{one.peak_bytes / 1e6:.0f}",
        )  # fmt: skip
    return table


def draw_curve(figures: Sequence[SizeFigures], title: str, path: Path) -> None:
    """Draw latency, start and memory over the number of memories, all axes logarithmic."""
    mpl.use("Agg")
    sizes = [one.memories for one in figures]
    picture, (latency, start, memory) = plt.subplots(1, 3, figsize=(15, 4.5))
    lines: dict[str, tuple[list[float] | list[float | None], str, str]] = {
        "/search p50": ([one.search_p50 for one in figures], "tab:blue", "-"),
        "/search p95": ([one.search_p95 for one in figures], "tab:blue", ":"),
        "/graph-recall p50": ([one.recall_p50 for one in figures], "tab:green", "-"),
        "LanceDB hybrid, exact, p50": ([one.peer_exact_p50 for one in figures], "tab:red", "-"),
        "LanceDB hybrid, index, p50": ([one.peer_index_p50 for one in figures], "tab:red", "--"),
    }
    for label, (values, colour, style) in lines.items():
        if any(value is not None for value in values):
            numbers = [float("nan") if value is None else value for value in values]
            latency.plot(sizes, numbers, style, color=colour, marker="o", label=label)
    latency.set(title="milliseconds, embedding excluded")
    latency.legend(fontsize=8)
    start.plot(sizes, [one.ready_seconds for one in figures], marker="o", color="tab:blue")
    start.set(title="seconds from start to ready")
    memory.plot(
        sizes, [one.loaded_bytes / 1e9 for one in figures], marker="o", color="tab:blue",
        label="after loading",
    )  # fmt: skip
    memory.plot(
        sizes, [one.peak_bytes / 1e9 for one in figures], ":", marker="o", color="tab:blue",
        label="peak",
    )  # fmt: skip
    memory.set(title="resident memory of the service, GB")
    memory.legend(fontsize=8)
    for axes in (latency, start, memory):
        axes.set(xscale="log", yscale="log", xlabel="memories")
        axes.grid(visible=True, which="both", alpha=0.25)
    picture.suptitle(title, fontsize=10)
    picture.tight_layout()
    picture.savefig(path, dpi=110)
    plt.close(picture)
