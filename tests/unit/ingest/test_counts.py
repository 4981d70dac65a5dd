"""What a scan tells of very many failures and warnings."""

from service.ingest.counts import ScanCounts
from service.writing.pipeline import Synced


def _warned(*warnings: str) -> Synced:
    return Synced(warnings=warnings)


def test_of_failures_the_first_thousand_are_told() -> None:
    counts = ScanCounts()
    for number in range(1_002):
        counts.fail(f"{number}.md", "why")
    assert [len(counts.failed), counts.left_out] == [1_000, 2]
    assert (counts.failed[-1].source, counts.failed[-1].detail) == ("999.md", "why")


def test_of_warnings_the_first_thousand_are_told_and_twenty_of_one_document() -> None:
    counts = ScanCounts()
    counts.add(_warned(*(f"long {number}" for number in range(25))))
    assert [len(counts.warnings), counts.left_out] == [20, 5]
    counts.add(_warned("long 3", "other"))
    assert [len(counts.warnings), counts.left_out] == [21, 5]
    for number in range(1_000):
        counts.add(_warned(f"of {number}"))
    assert [len(counts.warnings), counts.left_out, counts.done] == [1_000, 26, 1_002]
