"""The figures of consolidation as tables: in the terminal and as markdown."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from scripts.consolidation.recall import RecallFigures
from scripts.consolidation.scores import LABELS, Comparison
from scripts.consolidation.store import Compacted, Size
from scripts.consolidation.trials import OrderFigures, SizeFigures, TimeFigures
from scripts.recall.report import Sheet
from scripts.recall.scores import RESAMPLES

# Entries to seconds: what a consolidation may take, embedding apart, and a second one in a row.
BUDGETS: Final = {50: 0.3, 10_000: 15.0}
AGAIN_BUDGET: Final = 0.1
_MOST_LOSSES: Final = 20
_MOST_CHARACTERS: Final = 160


@dataclass(slots=True)
class Measured:
    """Whatever was measured; `remarks` tell what was left out."""

    times: list[TimeFigures] = field(default_factory=list)
    sizes: list[SizeFigures] = field(default_factory=list)
    recalls: list[RecallFigures] = field(default_factory=list)
    orders: list[OrderFigures] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def runs(self) -> dict[str, Compacted]:
        """Return what became of the logs, by the name of each run."""
        found = {f"{one.entries:,} generated entries": one.compacted for one in self.times}
        found |= {one.name: one.compacted for one in self.sizes}
        return found | {f"{one.name}, old third": one.compacted for one in self.recalls}


def sheets_of(measured: Measured) -> list[Sheet]:
    """Return the tables; one that would be empty is left out."""
    found = [
        _times(measured.times), _resident(measured.times), _sizes(measured), _whole(measured.sizes),
        *map(_recall, measured.recalls), _kept(measured), _orders(measured),
    ]  # fmt: skip
    return [sheet for sheet in found if sheet.rows]


def write_markdown(path: Path, measured: Measured, told: Sequence[str]) -> None:
    """Write the page beside its picture, which has the same name; `told` opens it."""
    parts = ["# Consolidation, measured\n", *(f"{one}\n" for one in told), _legend(measured)]
    picture = path.with_suffix(".png").name
    parts.append(f"![Time by number of entries, and sizes before and after]({picture})\n")
    parts += [f"{remark}\n" for remark in remarks_of(measured)]
    parts += [sheet.markdown() for sheet in sheets_of(measured)]
    path.write_text("\n".join(parts), encoding="utf-8")


def remarks_of(measured: Measured) -> list[str]:
    """Return what is to be said beside the tables, a sentence or two each."""
    return [*(f"{one.name}: {one.remark}" for one in measured.sizes), *measured.remarks]


def _legend(measured: Measured) -> str:
    told = (
        "Times are a client's, over HTTP. Generated logs are embedded by a fake server that costs "
        "less than 0.1 ms a text, so their times are without embedding. Resident memory is that "
        "of the service's process; the peak is the highest between the first dry run and the end "
        "of the run, at rest a quiet minute later. A run is a job, looked at every 0.05 s: "
        "`counts` are how many different ones it told on the way. CPU seconds are the service's "
        "during the run: where other work shares the machine, they tell more than the clock. `told "
        "by a line` are the memories that gave a line of their summary's text. Tokens are "
        "estimated.\n\n"
    )
    if measured.recalls:
        told += (
            "Recall: the oldest third of every scope is stored as observations, the rest as "
            "notes, and the same questions are asked before and after. What has no time gets one "
            "by a hash of its id. A hit on a summary counts as a hit on every memory it is made "
            "of; the rows `sources with a line alone` count only those that gave a line of its "
            f"text. Brackets hold the 95 % interval of a paired bootstrap ({RESAMPLES:,} "
            "resamples of the questions). No more than .020 of any score may be lost over all "
            "questions.\n\n"
        )
    return told + (
        "Decisions are read by plain expressions of the script's own: sentences with a word that "
        "decides, and their numbers, code spans, names and paths. `apart` are sentences whose "
        "facts are all in the summary, but on no single line.\n"
    )


def _times(figures: Sequence[TimeFigures]) -> Sheet:
    header = ("entries", "memories", "joined", "summaries", "dry run s", "run s",
              "counts", "its CPU s", "budget s", "again s", "changed again")  # fmt: skip
    rows = tuple(
        (
            f"{one.entries:,}", f"{one.memories:,}", f"{one.compacted.joined.memories:,}",
            f"{one.compacted.summaries.memories:,}", f"{one.dry_seconds:.3f}",
            f"{one.seconds:.3f}", str(one.counts), f"{one.cpu_seconds:.2f}",
            _budget(one.entries, one.seconds),
            f"{one.again_seconds:.3f} ({_verdict(one.again_seconds, AGAIN_BUDGET)})",
            str(one.changed),
        )
        for one in figures
    )  # fmt: skip
    return Sheet("Time, embedding apart", header, rows)


def _budget(entries: int, seconds: float) -> str:
    budget = BUDGETS.get(entries)
    return "" if budget is None else f"{budget:g} ({_verdict(seconds, budget)})"


def _verdict(seconds: float, budget: float) -> str:
    return "reached" if seconds <= budget else "missed"


def _resident(figures: Sequence[TimeFigures]) -> Sheet:
    header = ("entries", "empty MB", "before MB", "peak MB", "after MB", "at rest MB",
              "of it anonymous MB",
              "loading kB an entry", "peak less before kB an entry")  # fmt: skip
    rows = tuple(
        (
            f"{one.entries:,}",
            *(f"{size / 1e6:.0f}" for size in
              (one.empty.now, one.before.now, one.after.peak, one.after.now, one.rested.now,
               one.rested.anonymous)),
            f"{(one.before.now - one.empty.now) / one.entries / 1e3:.1f}",
            f"{(one.after.peak - one.before.now) / one.entries / 1e3:.1f}",
        )
        for one in figures
    )  # fmt: skip
    return Sheet("Resident memory of the service", header, rows)


def _sizes(measured: Measured) -> Sheet:
    header = ("what was compacted", "memories", "summaries", "characters", "after", "tokens",
              "after", "of the tokens are left", "told by a line", "share nothing")  # fmt: skip
    rows = tuple(
        (
            name, *_change(one.joined, one.summaries), f"{one.with_a_line:,}", f"{one.alone:,}",
        )
        for name, one in measured.runs().items()
    )  # fmt: skip
    return Sheet("Size of what was compacted", header, rows)


def _whole(figures: Sequence[SizeFigures]) -> Sheet:
    header = ("all that a search sees", "memories", "after", "characters", "after", "tokens",
              "after", "of the tokens are left")  # fmt: skip
    rows = tuple((one.name, *_change(one.before, one.after)) for one in figures)
    return Sheet("Size of the whole store", header, rows)


def _change(one: Size, other: Size) -> tuple[str, ...]:
    pairs = ((one.memories, other.memories), (one.characters, other.characters),
             (one.tokens, other.tokens))  # fmt: skip
    cells = [f"{number:,}" for pair in pairs for number in pair]
    return (*cells, f"{other.tokens / one.tokens:.1%}" if one.tokens else "-")


def _recall(figures: RecallFigures) -> Sheet:
    header = ("questions", "n", *(f"{label} {when}" for label in LABELS
                                  for when in ("before", "after", "difference")))  # fmt: skip
    rows = tuple(_compared(one) for one in figures.comparisons)
    title = (
        f"Recall: {figures.name}, {figures.compacted.joined.memories:,} of {figures.memories:,} "
        f"memories in {figures.compacted.summaries.memories:,} summaries, {figures.model}"
    )
    return Sheet(title, header, rows)


def _compared(one: Comparison) -> tuple[str, ...]:
    cells = []
    for before, after, told in zip(one.before.row, one.after.row, one.differences, strict=True):
        cells += [f"{before:.3f}", f"{after:.3f}",
                  f"{told.mean:+.3f} [{told.low:+.3f}, {told.high:+.3f}]"]  # fmt: skip
    return (one.name, str(one.questions), *cells)


def _kept(measured: Measured) -> Sheet:
    header = ("run", "summaries", "unlike the dry run", "decision sentences", "facts",
              "sentences with a loss", "apart")  # fmt: skip
    rows = tuple(
        (
            name, f"{one.summaries.memories:,}", str(one.unlike_shown),
            f"{one.kept.sentences:,}", f"{one.kept.facts:,}", str(len(one.kept.losses)),
            str(one.kept.apart),
        )
        for name, one in measured.runs().items()
    )  # fmt: skip
    return Sheet("Decisions kept", header, rows)


def losses_of(measured: Measured) -> Sheet:
    """Return the sentences that lost something: for the terminal, as they are somebody else's."""
    rows = tuple(
        (name, _cell(loss.sentence), _cell(", ".join(loss.facts)))
        for name, one in measured.runs().items()
        for loss in one.kept.losses[:_MOST_LOSSES]
    )
    title = f"Lost facts, at most {_MOST_LOSSES} sentences of a run"
    return Sheet(title, ("run", "sentence", "lost"), rows)


def _cell(text: str) -> str:
    short = text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"
    return short.replace("|", "\\|")


def _orders(measured: Measured) -> Sheet:
    rows = tuple(
        (f"{one.entries:,}", f"{one.summaries:,}", str(len(one.differing)))
        for one in measured.orders
    )
    return Sheet("The same entries in another order", ("entries", "summaries", "differing"), rows)
