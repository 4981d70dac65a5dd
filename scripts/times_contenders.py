"""Compare how the service reads times in questions with dateparser: cost, and what each finds.

    scripts/times_contenders.py QUESTIONS.jsonl [QUESTIONS.jsonl ...] [--show 20]

Needs dateparser (pip install dateparser), which the project does not depend on. Each line of a file
has a "question". Both read question by question, in turns. What only one of them finds is shown:
whether it is a time is for a person to say.
"""

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from service.search.times.times import anchor_named, times_named

try:
    from dateparser.search import search_dates
except ImportError:
    search_dates = None

NOW = datetime(2026, 11, 18, 15, tzinfo=UTC)
SETTINGS = {"PREFER_DATES_FROM": "past", "RELATIVE_BASE": NOW.replace(tzinfo=None)}


def main() -> None:
    """Read all questions both ways, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("questions", type=Path, nargs="+")
    parser.add_argument("--show", type=int, default=20, help="how many differences of each to show")
    asked = parser.parse_args()
    if search_dates is None:
        sys.exit("dateparser is missing: pip install dateparser")
    warnings.simplefilter("ignore")  # of dateparser's own dependencies
    for path in asked.questions:
        lines = path.read_text(encoding="utf-8").splitlines()
        compare(str(path), [json.loads(line)["question"] for line in lines if line], asked.show)


def by_rules(question: str) -> list[str]:
    """Return the words that the service takes for times."""
    return [span.text for span in times_named(question, NOW)]


def by_dateparser(question: str) -> list[str]:
    """Return the words that dateparser takes for times."""
    found = search_dates(question, languages=["en"], settings=SETTINGS)
    return [words for words, _ in found or ()]


def by_anchor(question: str) -> list[str]:
    """Return the words of the event that a question is asked from."""
    anchor = anchor_named(question)
    return [f"{anchor.relation}: {anchor.words}"] if anchor else []


def compare(name: str, questions: list[str], shown: int) -> None:
    """Print cost and finds of one set."""
    print(f"{name}: {len(questions)} questions")
    readers = {"rules": by_rules, "anchors": by_anchor, "dateparser": by_dateparser}
    found = {who: timed(who, reader, questions) for who, reader in readers.items()}
    for one, other in (("rules", "dateparser"), ("dateparser", "rules")):
        only = [n for n, words in enumerate(found[one]) if words and not found[other][n]]
        print(f"  only {one}: {len(only)}")
        for number in only[:shown]:
            print(f"    {found[one][number]} in {questions[number][:100]!r}")


def timed(who: str, reader: Callable[[str], list[str]], questions: list[str]) -> list[list[str]]:
    """Return what a reader finds in each question; prints what that cost."""
    reader(questions[0])
    found, spent = [], []
    for question in questions:
        start = time.perf_counter()
        found.append(reader(question))
        spent.append((time.perf_counter() - start) * 1000)
    median, p95, mean = np.median(spent), np.percentile(spent, 95), np.mean(spent)
    print(
        f"  {who}: median {median:.3f} ms, p95 {p95:.3f} ms, mean {mean:.3f} ms; "
        f"finds something in {sum(map(bool, found))}"
    )
    return found


if __name__ == "__main__":
    main()
