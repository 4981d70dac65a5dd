"""From the figures of consolidation to its tables, page and picture."""

import argparse
import importlib
from pathlib import Path

import pytest
from rich.console import Console

from scripts.consolidation.recall import RecallFigures
from scripts.consolidation.report import Measured, losses_of, sheets_of, write_markdown
from scripts.consolidation.scores import Covered, compare
from scripts.consolidation.store import Compacted, Size, size_of
from scripts.consolidation.told_decisions import Kept, Loss
from scripts.consolidation.trials import (
    OrderFigures,
    SizeFigures,
    TimeFigures,
    differing,
    manifest_dates,
)
from scripts.measure_consolidation import ENTRIES, PARTS, command_of, faults_of
from scripts.servers.watched_service import Resident

KEPT = Kept(3, 7, 1, (Loss("s", "m", "We chose a | b.", ("b",)),))
LOGS = Compacted(
    joined=Size(8, 800, 200), summaries=Size(2, 400, 50), with_a_line=6, alone=1, unlike_shown=0,
    kept=KEPT,
)  # fmt: skip
TIME = TimeFigures(
    entries=50, memories=52, dry_seconds=0.1, seconds=0.25, counts=2, cpu_seconds=0.5,
    again_seconds=0.2, changed=0, empty=Resident(100_000_000, 0, 0),
    before=Resident(101_000_000, 0, 0), after=Resident(102_000_000, 103_000_000, 90_000_000),
    rested=Resident(101_000_000, 103_000_000, 90_000_000),
    compacted=LOGS,
)  # fmt: skip
NOTES = SizeFigures(
    name="notes/memory", remark="Dated.", before=Size(9, 900, 300), after=Size(3, 500, 150),
    compacted=LOGS,
)  # fmt: skip


def recall_figures() -> RecallFigures:
    compared = compare("all", [Covered(1.0, 1.0, 1.0)], [Covered(0.5, 1.0, 0.5)])
    assert compared is not None
    return RecallFigures(
        name="lore", model="mini", memories=30, candidates=10, compacted=LOGS,
        comparisons=(compared,),
    )  # fmt: skip


def measured() -> Measured:
    return Measured([TIME], [NOTES], [recall_figures()], [OrderFigures(9, 2, ("x",))], ["No til."])


def test_sheets_are_complete_and_rectangular() -> None:
    sheets = sheets_of(measured())
    assert [sheet.title for sheet in sheets] == [
        "Time, embedding apart", "Resident memory of the service", "Size of what was compacted",
        "Size of the whole store", "Recall: lore, 8 of 30 memories in 2 summaries, mini",
        "Decisions kept", "The same entries in another order",
    ]  # fmt: skip
    for sheet in sheets:
        assert {len(row) for row in sheet.rows} == {len(sheet.header)}
        Console(quiet=True).print(sheet.rich())


def test_nothing_measured_gives_no_tables() -> None:
    assert sheets_of(Measured()) == []


def test_budgets_are_reached_or_missed() -> None:
    [row] = sheets_of(Measured(times=[TIME]))[0].rows
    assert row[-3:] == ("0.3 (reached)", "0.200 (missed)", "0")


def test_memory_is_told_by_entry() -> None:
    [row] = sheets_of(Measured(times=[TIME]))[1].rows
    assert row == ("50", "100", "101", "103", "102", "101", "90", "20.0", "40.0")


def test_what_is_left_is_a_share_of_the_tokens() -> None:
    rows = sheets_of(measured())[2].rows
    assert rows[1] == ("notes/memory", "8", "2", "800", "400", "200", "50", "25.0%", "6", "1")
    assert [row[0] for row in rows] == ["50 generated entries", "notes/memory", "lore, old third"]


def test_the_page_names_command_remarks_and_picture(tmp_path: Path) -> None:
    page = tmp_path / "consolidation.md"
    write_markdown(page, measured(), ["Made by `it`.", "mini, today"])
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# Consolidation, measured\n\nMade by `it`.\n\nmini, today\n")
    assert "(consolidation.png)" in text
    assert "notes/memory: Dated.\n\nNo til.\n" in text
    # Sentences of notes are somebody's own: they are printed, and not written down.
    assert "We chose a" not in text
    assert losses_of(measured()).rows[0][1] == "We chose a \\| b."
    assert "| all | 1 | 1.000 | 0.500 | -0.500 [-0.500, -0.500] |" in text


@pytest.mark.parametrize("figures", [measured(), Measured(), Measured(times=[TIME])])
def test_the_picture_is_drawn_of_whatever_there_is(figures: Measured, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "consolidation.png"
    importlib.import_module("scripts.consolidation.picture").draw_consolidation(figures, "", path)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_the_command_tells_no_place_of_this_machine() -> None:
    asked = argparse.Namespace(
        datasets=[Path("/somewhere/lore")], notes=[Path("/elsewhere/til")], parts=list(PARTS),
        entries=list(ENTRIES), ordered=100, questions=9, embedding_model="all-MiniLM-L6-v2",
        out=Path("/elsewhere/page"),
    )  # fmt: skip
    assert command_of(asked) == (
        "scripts/measure_consolidation.py lore --notes til --ordered 100 --questions 9 --out page"
    )


def test_arguments_are_checked_before_anything_is_measured(tmp_path: Path) -> None:
    set_ = tmp_path / "lore"
    set_.mkdir()
    (set_ / "corpus.jsonl").touch()
    asked = argparse.Namespace(
        datasets=[set_, set_], notes=[set_], ordered=1, questions=0, entries=[50],
        out=tmp_path / "none" / "page",
    )  # fmt: skip
    told = list(faults_of(asked))
    assert told[0] == f"{set_} holds no queries.jsonl"
    assert [fault.split(",")[0] for fault in told[2:]] == [
        "two data sets have the same name", f"{set_} holds no markdown", "--entries",
        f"there is no folder {tmp_path / 'none'} to write to",
    ]  # fmt: skip
    fine = argparse.Namespace(
        datasets=[], notes=[], ordered=1, questions=None, entries=[1], out=None
    )
    assert list(faults_of(fine)) == []


def test_sizes_are_counted() -> None:
    assert size_of(["one two", "한글"]) == Size(2, 9, 4)


def test_dates_come_from_the_manifest_beside_the_folder(tmp_path: Path) -> None:
    assert manifest_dates(tmp_path / "til") == {}
    line = '{"path": "a/b.md", "date": "2015-02-06", "bytes": 9}\n'
    (tmp_path / "til.manifest.jsonl").write_text(line, encoding="utf-8")
    assert manifest_dates(tmp_path / "til") == {"a/b.md": "2015-02-06T00:00:00Z"}


def test_summaries_differ_by_any_field_and_where_one_is_missing() -> None:
    same = {"title": "t", "content": "c", "tags": [], "importance": 0.5, "occurred_at": "now",
            "scope": None}  # fmt: skip
    other = same | {"importance": 0.6}
    assert differing({"a": same, "b": same}, {"a": same, "b": other, "c": same}) == ("b", "c")
