"""What was measured at one size, as tables with the budget beside each figure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from scripts.search.trials import BY_RANK, FILTERED, PLAIN, RECALL, REQUESTS, SCOPED, Answers
from scripts.servers.watched_service import Resident

_MACHINE_BYTES: Final = 24 * 2**30
_TELLING: Final = 10_000
_SCOPE: Final = SCOPED.removeprefix(PLAIN)
_START_BUDGETS: Final = {100_000: 3.0, 1_000_000: 15.0}


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything measured at one size, reading only."""

    memories: int
    dimensions: int
    answers: Mapping[str, Answers]
    ready_seconds: float
    first_seconds: float
    loaded: Resident
    used: Resident
    stats: Mapping[str, Any]
    index_bytes: int | None


def tell_requests(measured: Measured, console: Console) -> None:
    """Print the times of every kind of request and of the peer, and the ratio between them."""
    if measured.stats:
        names = ("memories", "concepts", "references", "related_to", "follows")
        console.print({name: measured.stats[name] for name in names})
    table = Table(
        "request", "p50 ms", "p95 ms", "budget", "with embedding: p50", "p95", "asked note found",
        "wrong", "stages, median ms",
        title=f"{measured.memories:,} memories, {measured.dimensions}-d",
    )  # fmt: skip
    for name, answers in measured.answers.items():
        is_ours = name in REQUESTS
        stages = ", ".join(f"{n} {ms:.1f}" for n, ms in answers.stage_medians().items())
        with_embedding = [f"{percent:.1f}" for percent in answers.with_embedding()]
        table.add_row(
            name, f"{answers.p50:.1f}", f"{answers.p95:.1f}", _budget(name, measured),
            *(with_embedding if is_ours else ["", ""]),
            f"{answers.found / len(answers.whole):.0%}",
            str(answers.wrong) if is_ours else "", stages,
        )  # fmt: skip
    console.print(table)
    console.print(
        "p50, p95 and ratios: embedding excluded (the client's time less the receipt's `embed`). "
        "Ours over HTTP, the peer in-process unless it says HTTP, one question at a time, in turn."
    )
    by_rank = measured.answers[BY_RANK].p50
    ratio = measured.answers[PLAIN].p50 / by_rank
    console.print(f"{PLAIN} / {BY_RANK}: {ratio:.2f} (p50, aim 1.5)")
    for name, answers in measured.answers.items():
        if name not in REQUESTS:
            ours = SCOPED if name.endswith(_SCOPE) else PLAIN
            ratio = answers.p50 / measured.answers[ours].p50
            console.print(f"{name} / {ours}: {ratio:.2f} (p50)")


def _budget(name: str, measured: Measured) -> str:
    if name in FILTERED:
        return f"p50 <= {measured.answers[PLAIN].p50:.1f} (unfiltered)"
    budgets = REQUESTS[name].budgets if name in REQUESTS else {}
    p50, p95 = budgets.get(measured.memories, (None, None))
    told = [f"{what} <= {ms:g}" for what, ms in (("p50", p50), ("p95", p95)) if ms is not None]
    return ", ".join(told)


def tell_memory(measured: Measured, empty: Resident, console: Console) -> None:
    """Print memory, what that makes for each memory and for 24 GB, and the start."""
    each = (measured.loaded.now - empty.now) / measured.memories
    fit = (_MACHINE_BYTES - empty.now) / each if each > 0 else float("inf")
    # With few memories most of the difference is what any use of a service leaves behind.
    fits = f": {fit / 1e6:.2f} million in 24 GB" if measured.memories >= _TELLING else ""
    budget = _START_BUDGETS.get(measured.memories)
    console.print(
        f"memory: {_mb(empty.now)} with an empty store, {_mb(measured.loaded.now)} after loading "
        f"(anonymous {_mb(measured.loaded.anonymous)}), "
        f"{_mb(measured.used.now)} after all questions, peak {_mb(measured.used.peak)}; "
        f"{each:,.0f} bytes for each memory at {measured.dimensions}-d (the store's own caches "
        f"included){fits}"
    )
    if measured.index_bytes is not None:
        console.print(f"the index by its own account: {_mb(measured.index_bytes)}")
    console.print(
        f"start to ready: {measured.ready_seconds:.2f} s, the median"
        + (f" (budget {budget:g} s)" if budget else "")
        + f"; the first search after that: {measured.first_seconds:.2f} s"
    )


def _mb(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"


def figures_of(measured: Measured) -> dict[str, Any]:
    """Return one point of the curve, by the names of search_curve.SizeFigures."""
    unfiltered = [n for n in measured.answers if n not in REQUESTS and not n.endswith(_SCOPE)]
    peers = [measured.answers[name].p50 for name in unfiltered]
    search, recall = measured.answers[PLAIN], measured.answers[RECALL]
    return {
        "memories": measured.memories,
        "search_p50": search.p50, "search_p95": search.p95,
        "recall_p50": recall.p50, "recall_p95": recall.p95,
        "peer_exact_p50": peers[0] if peers else None,
        "peer_index_p50": peers[1] if len(peers) > 1 else None,
        "ready_seconds": measured.ready_seconds,
        "loaded_bytes": measured.loaded.now, "peak_bytes": measured.used.peak,
    }  # fmt: skip
