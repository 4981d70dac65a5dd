"""Measure the sanitiser: what it catches, what it takes for something else, what it costs.

    scripts/measure_sanitiser.py [--notes FOLDER] [--secrets 20]

Attacks, harmless look-alikes and the shapes of secrets are ours (scripts/sanitiser). The known
half of the attacks is what patterns were written against; the held-out half is not. --notes reads
a folder of markdown as look-alikes, and tells the CPU time of screening it.
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scripts.sanitiser.planted import planted
from service.errors import TextRefused
from service.sanitise.instruction_patterns import VERSION
from service.sanitise.policies import Instructions
from service.sanitise.sanitiser import Sanitiser
from service.sanitise.secrets import mask_secrets

_CORPUS = Path(__file__).parent / "sanitiser"
_POLICIES: tuple[Instructions, ...] = ("warn", "filter", "quarantine", "reject")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--notes", type=Path, help="folder of markdown files")
    parser.add_argument("--secrets", type=int, default=20, help="secrets of each kind")
    parser.add_argument("--missed", action="store_true", help="print what was taken wrongly")
    asked = parser.parse_args()
    corpora = {path.stem: lines_of(path) for path in sorted(_CORPUS.glob("*.txt"))}
    notes = _notes(asked.notes) if asked.notes else []
    if asked.notes and not notes:
        parser.error(f"--notes {asked.notes}: no markdown file is there")
    if notes:
        corpora["notes"] = notes
    print(f"patterns of version {VERSION}")
    for name, texts in corpora.items():
        rates = " ".join(f"{policy} {_acted(texts, policy)}" for policy in _POLICIES)
        print(f"{name}: {len(texts)} texts; acted on: {rates}")
        if asked.missed:
            _print_wrong(name, texts)
    _secrets(asked.secrets)
    clean = [text for name, texts in corpora.items() if name != "notes" for text in texts]
    for name, texts in (("own corpus", clean), ("notes", notes)):
        kinds = Counter(kind for text in texts for kind in mask_secrets(text).kinds)
        touched = sum(bool(mask_secrets(text).kinds) for text in texts)
        print(f"{name}: secrets masked in {touched} of {len(texts)} texts: {dict(kinds)}")
    if notes:
        _cost(notes)


def lines_of(path: Path) -> list[str]:
    """Return the texts of a corpus, one a line."""
    return path.read_text(encoding="utf-8").splitlines()


def _notes(folder: Path) -> list[str]:
    files = sorted(folder.rglob("*.md"))
    return [path.read_text(encoding="utf-8", errors="replace") for path in files]


def _acted(texts: list[str], policy: Instructions) -> int:
    return sum(_acts(text, policy) for text in texts)


def _acts(text: str, policy: Instructions) -> bool:
    sanitiser = Sanitiser("off", {"untrusted": policy})
    try:
        return bool(sanitiser.screen({"text": text}, "untrusted").warnings)
    except TextRefused:
        return True


def _print_wrong(name: str, texts: list[str]) -> None:
    for text in texts:
        if _acts(text, "warn") != name.startswith("attacks"):
            print(f"    {text[:100]}")


def _secrets(count: int) -> None:
    missed: Counter[str] = Counter()
    kinds: set[str] = set()
    for seed in range(count):
        for one in planted(seed):
            kinds.add(one.kind)
            missed[one.kind] += one.secret in mask_secrets(f"Note.\n{one.text}\nEnd.").text
    total = count * len(kinds)
    print(
        f"secrets: {total - missed.total()} of {total} masked, {len(kinds)} kinds; missed: "
        f"{dict(+missed)}"
    )


def _cost(notes: list[str]) -> None:
    masks, whole = Sanitiser(instructions={"owner": "off"}), Sanitiser()
    for name, sanitiser in (("secrets", masks), ("secrets and instructions", whole)):
        started = time.process_time()
        for text in notes:
            sanitiser.screen({"text": text}, "owner")
        took = time.process_time() - started
        characters = sum(map(len, notes))
        print(f"{name}: {took:.2f} s CPU for {len(notes)} notes, {characters:,} characters")


if __name__ == "__main__":
    main()
