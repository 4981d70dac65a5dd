"""Count how many of the observer's extracts are right, by verdicts given by hand.

    scripts/measure_observer.py [--data DIR] [--table] [--write]

Read are the turns of tests/golden/turns.jsonl, each with what of it is worth keeping; the
transcripts of tests/golden/transcripts; and below --data (a copy of the public sets that
docs/measurements.md names) its transcripts. tests/golden/observed.jsonl holds a verdict for each
extract of a transcript, by its digest; --write adds those that have none yet, as `"right": null`,
for a person to judge. Texts are in it only where the licence is ours. How much is kept of notes and
conversations that nobody told an agent is counted, not judged. Ends with 1 when an extract has no
verdict.
"""

import argparse
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from service.commands.observe import describe
from service.commands.stretches import stretches
from service.observe.cues import Statement, statements
from service.observe.fold import State, fold, handoff_of, tasks_text
from service.transcripts.reading import read_text

console = Console()
_GOLDEN: Final = Path(__file__).resolve().parents[1] / "tests" / "golden"
_VERDICTS: Final = _GOLDEN / "observed.jsonl"
_TURNS: Final = _GOLDEN / "turns.jsonl"
_OWN: Final = "own transcripts"
# Whether the texts of a source may be kept here.
_MAY_BE_KEPT: Final = {_OWN: True, "real transcripts": False}


@dataclass(frozen=True, slots=True)
class Told:
    """An extract: from which kind of source, and what it says."""

    source: str
    kind: str
    text: str

    @property
    def digest(self) -> str:
        """What its verdict is found by."""
        return hashlib.sha256(f"{self.kind}\n{self.text}".encode()).hexdigest()[:16]


@dataclass(slots=True)
class Verdict:
    """What a person says of an extract: whether it is worth keeping as what it was kept as."""

    digest: str
    source: str
    kind: str
    right: bool | None
    text: str | None = None
    why: str | None = None


def main() -> None:
    """Read everything, count, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="the folder of the public sets")
    parser.add_argument("--table", action="store_true", help="what came out of each transcript")
    parser.add_argument("--write", action="store_true", help="add extracts without a verdict")
    asked = parser.parse_args()
    folders = {_OWN: _GOLDEN / "transcripts"}
    if asked.data:
        folders["real transcripts"] = asked.data / "transcripts"
    told = [one for name, folder in folders.items() for one in _of_transcripts(name, folder)]
    _print_turns()
    if asked.data:
        _print_others(asked.data)
    verdicts = {one.digest: one for one in _verdicts()}
    new = {one.digest: one for one in told if one.digest not in verdicts}
    if asked.write:
        _write([*verdicts.values(), *(_unjudged(one) for one in new.values())])
    if asked.table:
        for folder in folders.values():
            for line in _table(folder):
                console.print(line, highlight=False, markup=False, soft_wrap=True)
    _print_precision(told, verdicts)
    if new:
        console.print(f"{len(new)} extracts have no verdict: --write adds them to be judged.")
        sys.exit(1)


def _of_transcripts(source: str, folder: Path) -> Iterator[Told]:
    for file in sorted(folder.rglob("*.jsonl")):
        client, state = describe(file).client, State()
        for offset, text, is_last in stretches(file):
            for one in fold(state, read_text(client, text, offset, is_final=is_last).turns):
                if one.kind != "error":
                    yield Told(source, one.kind, one.text)


def _print_turns() -> None:
    """Print how much is found of what is worth keeping, and in how much of the rest anything."""
    turns = [json.loads(line) for line in _TURNS.read_text("utf-8").splitlines()]
    for half in ("tune", "report"):
        for language in ("en", "ko", "zh"):
            of_both = [t for t in turns if (t["half"], t["language"]) == (half, language)]
            kept = {t["text"]: list(statements(t["text"])) for t in of_both}
            cells = [
                f"{sum(bool(told(t, kept[t['text']])) for t in one)} of {len(one)}"
                for kind in ("preference", "decision", "fact")
                for one in [[t for t in of_both if t["kind"] == kind]]
            ]
            rest = [t for t in of_both if t["kind"] == "none"]
            wrong = sum(bool(kept[t["text"]]) for t in rest)
            as_kind = sum(t["kind"] in told(t, kept[t["text"]]) for t in of_both if t["keep"])
            row = (half, language, *cells, as_kind, f"{wrong} of {len(rest)}")
            console.print(f"| {' | '.join(map(str, row))} |", highlight=False, markup=False)


def told(turn: dict[str, str], kept: list[Statement]) -> list[str]:
    """Return as which kinds the sentence of a turn was kept that is worth it."""
    wanted = " ".join(turn["keep"].split())
    return [
        one.kind
        for one in kept
        if wanted and (one.text.rstrip(".!。") in wanted or wanted in one.text)
    ]


def _print_others(data: Path) -> None:
    """Print how much is kept of what nobody told an agent: notes, conversations, passages."""
    files = sorted((data / "notes").rglob("*.md"))
    notes = [file.read_text("utf-8", "replace").split("\n\n") for file in files]
    others = {"paragraphs of notes": [part for parts in notes for part in parts]}
    for file in sorted(data.rglob("corpus.jsonl")):
        rows = map(json.loads, file.read_text("utf-8").splitlines())
        others[file.parent.name] = [row["text"] for row in rows]
    for name, texts in others.items():
        kept = sum(1 for text in texts for _ in statements(text))
        console.print(f"{name}: {kept:,} sentences of {len(texts):,} texts", highlight=False)


def _verdicts() -> Iterator[Verdict]:
    if _VERDICTS.exists():
        for line in _VERDICTS.read_text("utf-8").splitlines():
            yield Verdict(**json.loads(line))


def _unjudged(one: Told) -> Verdict:
    text = one.text if _MAY_BE_KEPT[one.source] else None
    return Verdict(one.digest, one.source, one.kind, None, text)


def _write(verdicts: list[Verdict]) -> None:
    lines = (
        json.dumps(
            {n: v for n, v in asdict(one).items() if v is not None or n == "right"},
            ensure_ascii=False,
        )
        for one in verdicts
    )
    _VERDICTS.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def _table(folder: Path) -> Iterator[str]:
    yield (
        "| transcript | program | statements | errors | fixes | tasks | handoff "
        "| lines that gave none |"
    )
    yield "|---|---|---:|---:|---:|---:|---|---|"
    for file in sorted(folder.rglob("*.jsonl")):
        client, state = describe(file).client, State()
        kinds: Counter[str] = Counter()
        ignored: Counter[str] = Counter()
        for offset, text, is_last in stretches(file):
            read = read_text(client, text, offset, is_final=is_last)
            ignored += read.ignored
            kinds += Counter(one.kind for one in fold(state, read.turns))
        fixes, errors = kinds.pop("fix", 0), kinds.pop("error", 0)
        tasks = (tasks_text(state) or "").count("\n- [")
        lines = ", ".join(f"{count} {why}" for why, count in sorted(ignored.items())) or "none"
        handoff = "yes" if handoff_of(state) else "no"
        cells = (
            file.relative_to(folder), client, kinds.total(), errors, fixes, tasks, handoff, lines,
        )  # fmt: skip
        yield f"| {' | '.join(map(str, cells))} |"


def _print_precision(told: list[Told], verdicts: dict[str, Verdict]) -> None:
    seen = {one.digest: one for one in told if one.digest in verdicts}
    for source in _MAY_BE_KEPT:
        judged = [verdicts[key] for key, one in seen.items() if one.source == source]
        judged = [one for one in judged if one.right is not None]
        right = sum(bool(one.right) for one in judged)
        if judged:
            console.print(f"{source}: {right} of {len(judged)} right", highlight=False)
    wrong = [one for one in seen.values() if verdicts[one.digest].right is False]
    for one in wrong:
        console.print(f"  wrong: [{one.kind}] {one.text[:120]}", highlight=False, markup=False)


if __name__ == "__main__":
    main()
