"""The load's writer looks for what it wrote: near-duplicates of one text must not mislead it."""

from scripts.search.writes import WriteOrder, write
from tests.conftest import Start

_TEXT = "The gateway of the harbour town restarts at four, when nobody asks it for anything."


def test_copies_of_one_text_are_all_found_by_words_and_by_meaning(start: Start) -> None:
    order = WriteOrder(start().url, (_TEXT,), seconds=30.0, rate=1.0, name="copies")
    report = write(order)
    assert report.wrong == []
    assert report.alive
    assert report.removed
