"""From answers to figures, and from figures to the page; values worked out by hand."""

import argparse
import importlib
import json
from pathlib import Path

import pytest
from rich.console import Console

from scripts.measure_recall import VARIANTS, command_of
from scripts.recall.answers import About, Answer, Asked, pooled
from scripts.recall.figures import (
    ALL_EVIDENCE,
    SetFigures,
    confidence_figures,
    half_means,
    set_figures,
    variant_figures,
)
from scripts.recall.intervals import ALL, leads, sure_scores
from scripts.recall.report import (
    Sheet,
    figures_as_json,
    remarks_of,
    sheets_of,
    write_markdown,
)
from scripts.recall.scores import Interval
from scripts.recall.sets import Question

QUESTIONS = [
    Question("a", "Who?", {"m1": 1.0}, "1 who"),
    Question("f", "Where?", {"m2": 1.0}, "2 where"),
    Question("x", "Misled?", {"m3": 1.0}, "5 adversarial", has_answer=False),
    Question("y", "Evidence unknown?", {}, "2 where"),
    Question("z", "Nothing?", {}, "2 where", has_answer=False),
]
# Found at once, at rank 2, at rank 1, and what cannot be scored.
GOOD = [
    Answer(("m1",), 0.9, 10.0), Answer(("m1", "m2"), 0.7, 20.0), Answer(("m3",), 0.4, 30.0),
    Answer(("m1",), 0.6, 40.0), Answer((), 0.1, 50.0),
]  # fmt: skip
# The first is missed, the second at rank 1; the last lacked a signal.
OTHER = [
    Answer(("m2",), 0.9, 1.0), Answer(("m2",), 0.7, 2.0), Answer(("m1",), 0.4, 3.0),
    Answer(("m1",), 0.6, 4.0), Answer((), 0.1, 5.0, is_complete=False),
]  # fmt: skip


def asked(name: str = "lore") -> Asked:
    answers = {"text": OTHER, "default": GOOD}
    return Asked(About(name, 3, "resident", "mini"), QUESTIONS, answers)


def figures(name: str = "lore") -> SetFigures:
    return set_figures(asked(name))


def test_what_has_no_answer_is_not_in_the_whole() -> None:
    means = variant_figures(QUESTIONS, GOOD, None).means
    assert list(means) == ["1 who", "2 where", "5 adversarial", ALL_EVIDENCE, ALL]
    assert [one.questions for one in means.values()] == [1, 1, 1, 3, 2]
    assert means[ALL].scores.mrr == pytest.approx((1 + 1 / 2) / 2)
    assert means[ALL_EVIDENCE].scores.mrr == pytest.approx((1 + 1 / 2 + 1) / 3)


def test_one_category_is_the_whole_and_told_once() -> None:
    assert list(variant_figures(QUESTIONS[:1], GOOD[:1], None).means) == [ALL]


def test_differences_are_from_the_default_over_what_is_scored() -> None:
    found = variant_figures(QUESTIONS, OTHER, GOOD)
    # nDCG: 0 less 1, and 1 less 1 / log2 3; R@5: 0 less 1, and 1 less 1.
    assert found.ndcg_10_difference is not None
    assert found.ndcg_10_difference.mean == pytest.approx((-1 + 1 - 0.63093) / 2, abs=1e-5)
    assert found.recall_5_difference == Interval(-0.5, -1.0, 0.0)
    assert found.incomplete == 1
    assert (found.p50_ms, found.p95_ms) == (3.0, 5.0)


def test_halves_go_by_the_id() -> None:
    halves = half_means(QUESTIONS, GOOD)
    assert {half: one.scores.mrr for half, one in halves.items()} == {"tune": 1, "report": 0.5}


def test_scores_have_intervals_by_category_over_all_and_over_the_half_that_is_told() -> None:
    found = {(one.category, one.half): one for one in sure_scores(asked())}
    assert list(found) == [
        ("1 who", "all"), ("2 where", "all"), ("2 where", "report"), (ALL, "all"), (ALL, "report"),
    ]  # fmt: skip
    assert found[ALL, "all"].questions == 2
    assert found[ALL, "all"].scores["mrr"] == Interval(0.75, 0.5, 1.0)
    assert found[ALL, "report"].scores["recall_1"] == Interval(0.0, 0.0, 0.0)


def test_leads_are_the_default_s_less_the_variant_s() -> None:
    found = {(one.category, one.half, one.variant): one.scores for one in leads(asked())}
    assert list(found) == [
        ("1 who", "all", "text"), ("2 where", "all", "text"), ("2 where", "report", "text"),
        (ALL, "all", "text"), (ALL, "report", "text"),
    ]  # fmt: skip
    # "f", the only one of the half: the default at rank 2, the variant at rank 1.
    assert found[ALL, "report", "text"]["mrr"] == Interval(-0.5, -0.5, -0.5)
    assert found[ALL, "report", "text"]["recall_5"] == Interval(0.0, 0.0, 0.0)
    # The other: at rank 1 and not at all.
    assert found[ALL, "all", "text"]["mrr"] == Interval(0.25, -0.5, 1.0)


def test_the_default_alone_leads_nobody() -> None:
    alone = Asked(asked().about, QUESTIONS, {"default": GOOD})
    assert leads(alone) == []
    assert {one.half for one in sure_scores(alone)} == {"all", "report"}


def test_a_run_of_one_half_tells_that_half() -> None:
    tune = Asked(asked().about, QUESTIONS[:1], {"text": OTHER[:1], "default": GOOD[:1]})
    assert {one.half for one in [*sure_scores(tune), *leads(tune)]} == {"tune"}


def test_natural_questions_of_all_notes_are_told_as_one_set() -> None:
    natural = Question("t1", "Which?", {"a.md#Title": 1.0}, "english", of_sections=True)
    # Two memories of the section come first: any of them will do, and they count as one.
    answer = Answer(("a.md#Title#2", "a.md#Title#1", "a.md#Other#1"), 0.9, 1.0)
    about = About("til", 5, "resident", "mini", left_out=2)
    notes = Asked(about, [QUESTIONS[0], natural], {"text": [GOOD[0]] * 2, "default": [answer] * 2})
    found = pooled([notes, notes])
    assert found.questions == [natural, natural]
    assert found.answers == {"text": [GOOD[0]] * 2, "default": [answer] * 2}
    assert (found.about.memories, found.about.left_out) == (10, 4)
    assert answer.scored(natural).full_5 == 1.0


def test_confidence_tells_the_answerable_from_the_others() -> None:
    abstention, bins = confidence_figures(QUESTIONS, GOOD)
    assert abstention is not None
    assert (abstention.threshold, abstention.refused) == (0.7, 1.0)
    assert (abstention.answerable, abstention.unanswerable) == (2, 2)
    assert sum(one.answerable for one in bins) == 2


def test_sheets_are_complete_and_rectangular() -> None:
    sheets = sheets_of(figures())
    assert [sheet.title for sheet in sheets] == [
        "lore: variants, 2 questions", "lore: default by category, with intervals",
        "lore: default less each variant by category",
        "lore: nDCG@10 by category and variant",
        "lore: default by half", "lore: confidence of default",
    ]  # fmt: skip
    for sheet in sheets:
        assert {len(row) for row in sheet.rows} == {len(sheet.header)}
        Console(quiet=True).print(sheet.rich())
    assert sheets[3].rows[1] == ("2 where", "1.000", "0.631")
    assert sheets[1].rows[0][:4] == ("1 who", "all", "1", "1.000 [1.000, 1.000]")
    assert sheets[2].rows[0][:5] == ("2 where", "report", "text", "1", "-1.000 [-1.000, -1.000]")
    assert [row[1] for row in sheets[2].rows] == ["report", "all", "report"]
    assert sheets[0].rows[0][-1] == "-0.500 [-1.000, +0.000]"


def test_remarks_tell_what_was_left_out_and_what_lacked() -> None:
    told = " ".join(remarks_of(figures()))
    assert "Left out: 1 with an answer" in told
    assert "Beware: 1 answers of text" in told
    assert "refuses 100.0% of the 2 without an answer" in told


def test_a_sheet_is_a_markdown_table() -> None:
    assert Sheet("Two", ("a", "b"), (("x", "1"),)).markdown() == (
        "### Two\n\n| a | b |\n| --- | ---: |\n| x | 1 |\n"
    )


def test_the_page_names_command_run_and_picture(tmp_path: Path) -> None:
    page = tmp_path / "recall.md"
    write_markdown(page, [figures(), figures("talk")], ["Made by `it`.", "mini, today"])
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# Recall\n\nMade by `it`.\n\nmini, today\n")
    assert "(recall.png)" in text
    assert text.count("### lore: ") == text.count("### talk: ") == 6


def test_json_holds_every_figure() -> None:
    [told] = json.loads(json.dumps(figures_as_json([figures()])))
    assert told["variants"]["text"]["means"]["1 who"] == {
        "questions": 1,
        "scores": dict.fromkeys(
            ("recall_1", "recall_5", "recall_10", "full_5", "full_10", "ndcg_10", "mrr"), 0
        ),
    }
    assert told["halves"]["tune"]["questions"] == 1
    assert len(told["bins"]) == 10


def test_the_command_tells_no_place_of_this_machine() -> None:
    given = argparse.Namespace(
        variants=list(VARIANTS),
        datasets=[Path("/somewhere/lore"), Path("talk")], questions=9, files=250, half="tune", url="http://me",
        embedding_model="all-MiniLM-L6-v2", write=Path("/elsewhere/recall"),
    )  # fmt: skip
    assert command_of(given) == (
        "scripts/measure_recall.py lore talk --questions 9 --files 250 --half tune --url URL "
        "--write recall"
    )


def test_every_variant_but_the_default_is_of_one_fusion() -> None:
    assert VARIANTS["default"] == {}
    assert {options.get("fusion") for name, options in VARIANTS.items() if name != "default"} == {
        "rrf"
    }


def test_the_picture_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "recall.png"
    importlib.import_module("scripts.recall.picture").draw_recall([figures()], "mini", path)
    assert path.read_bytes().startswith(b"\x89PNG")
