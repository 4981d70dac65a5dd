"""A summary: short, in order, the same bytes each time, and no decision lost."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.consolidate.summary.density import facts, is_decision
from service.consolidate.summary.extraction import Extract, best_formed, extract
from service.consolidate.summary.originals import Original
from service.consolidate.summary.passages import Passage, read_passages
from service.consolidate.summary.refs import week_ref
from service.consolidate.summary.summaries import spelling_of, summarise
from service.text.tokens import estimate_tokens

_DAY = datetime(2026, 2, 13, 9, tzinfo=UTC)
_PLENTY = 10_000
# What a line has in front of what its memory says.
_BEFORE = re.compile(r"^(?:- \d{4}-\d\d-\d\d: ?|  )")
_FRAGMENTS = (
    "Fixed the gateway in `src/app.py`.", "We decided to use Redis 7.2.", "Not Redis, we decided.",
    "Nothing new.", "- [x] sent the mail to Mina", "- a\n  - we chose v1.2.3", "🎉",
    "서버를 쓰기로 했다.", "我们决定用Redis。", "```py\nport = 8001\n```", "| a |\n|---|\n| 1 |",
    "\n", "\r\n", "#### Decision", "Approx. 5 GB.", "- 2026-01-01: we agreed", "مرحبا. ", "สวัสดี",
    "x" * 1_200, "Decisions:\n\n- batches of 8\n- port 8001",
)  # fmt: skip
_CONTENTS = st.lists(st.sampled_from(_FRAGMENTS), max_size=4).map("\n\n".join)


def _original(key: str, at: datetime, content: str, title: str = "") -> Original:
    return Original(
        id=key,
        agent="main",
        scope=None,
        origin="agent",
        trust_tier="trusted",
        sensitivity="normal",
        title=title,
        content=content,
        content_hash="",
        tags=(),
        importance=0.5,
        occurred_at=at,
        session=None,
        uri="",
        line_start=0,
    )


def _originals(*contents: str) -> list[Original]:
    return [
        _original(f"m{number}", _DAY + timedelta(days=number), content)
        for number, content in enumerate(contents)
    ]


@pytest.mark.parametrize(
    ("outdated", "tags"), [({0}, ("crane",)), ({0, 1}, ("crane", "outdated")), (set(), ("crane",))]
)
def test_a_summary_of_what_holds_is_not_outdated_by_a_part_of_it(
    outdated: set[int], tags: tuple[str, ...]
) -> None:
    originals = [
        replace(one, tags=("outdated", "crane") if number in outdated else ("crane",))
        for number, one in enumerate(_originals("We agreed on 8 cranes.", "Moved crane 7."))
    ]
    summary = summarise("k", week_ref("daily:memory", _DAY), originals, _PLENTY, {})
    assert summary is not None
    assert summary.draft.tags == tags


def test_a_summary_in_the_order_of_time() -> None:
    first = "Went home. Fixed E1234 in `src/app.py`. Had lunch."
    second = "09:15 restarted.\n\n- [x] deployed v1.2.3\n- we agreed on 8\n"
    code = "Ran it:\n\n```sh\nls -l\n\necho error 42\n```"
    assert extract(_originals(first, second, code)[::-1], 63) == Extract(
        "- 2026-02-13: Fixed E1234 in `src/app.py`.\n"
        "- 2026-02-14: [x] deployed v1.2.3\n"
        "  we agreed on 8\n"
        "- 2026-02-15:\n"
        "  ```sh\n"
        "  ls -l\n"
        "\n"
        "  echo error 42\n"
        "  ```",
        {"m0": (1,), "m1": (2, 3), "m2": (4, 5, 6, 7, 8, 9)},
    )


def test_the_day_is_that_of_utc() -> None:
    seoul = datetime(2026, 2, 14, 3, tzinfo=timezone(timedelta(hours=9)))
    assert extract([_original("a", seoul, "One.")], 1).content == "- 2026-02-13: One."


@pytest.mark.parametrize("content", ["", " \n", "---", "```\n```", "<br>"])
def test_of_nothing_comes_nothing(content: str) -> None:
    assert extract(_originals(content, content), _PLENTY) == Extract("", {})
    assert extract([], _PLENTY) == Extract("", {})


def test_of_a_memory_without_text_its_title_is_taken() -> None:
    originals = [
        _original("a", _DAY, "---", "Deployed v2"),
        _original("b", _DAY, "Went home early.", "Evening"),
    ]
    assert extract(originals, _PLENTY).content == ("- 2026-02-13: Deployed v2\n  Went home early.")


def test_what_stands_under_decision_is_kept_whatever_the_budget() -> None:
    originals = [
        _original("a", _DAY, "Redis. It is fast.", "Decision"),
        *_originals("Fixed 3 bugs."),
    ]
    assert extract(originals, 1).content == "- 2026-02-13: Redis.\n  It is fast."


def test_no_memory_takes_the_room_of_the_others() -> None:
    verbose = " ".join(f"Fixed error E10{n} in `app{n}.py` on port 80{n}." for n in range(9))
    originals = _originals(verbose, "Went to see the doctor.", "The new disk is here.")
    assert set(extract(originals, 60).lines) == {"m0", "m1", "m2"}


def test_what_is_too_long_is_passed_over() -> None:
    long = "Fixed the error " + "of the old gateway " * 40
    content = extract(_originals(long, "Went home late today."), 30).content
    assert content == "- 2026-02-14: Went home late today."


def test_at_least_one_passage_is_kept() -> None:
    assert (
        extract(_originals("Went home.", "Fixed E1234."), 0).content == "- 2026-02-14: Fixed E1234."
    )
    assert extract(_originals("🎉"), 0).content == "- 2026-02-13: 🎉"


def test_the_best_formed_is_kept_whole_and_beside_it_what_others_decided() -> None:
    best = "We chose Redis 7.2 for the queue. It is fast. Nothing new."
    near = "We chose Redis. It is fast. We chose port 8001. We decided to stop asking."
    summary = extract(_originals(best, near), 1, best="m0")
    assert summary.content == (
        "- 2026-02-13: We chose Redis 7.2 for the queue.\n"
        "  It is fast.\n"
        "  Nothing new.\n"
        "- 2026-02-14: We chose port 8001.\n"
        "  We decided to stop asking."
    )
    against = extract(_originals(best, "We chose not to use Redis."), 1, best="m0")
    assert against.lines == {"m0": (1, 2, 3), "m1": (4,)}


def test_the_best_must_be_among_them() -> None:
    with pytest.raises(ValueError, match="nobody is none of the memories"):
        extract(_originals("One."), 1, best="nobody")


def test_the_best_formed_has_the_most_facts_then_whole_sentences_then_length() -> None:
    assert best_formed(_originals("It ran long and well.", "It ran 3 s.")) == "m1"
    assert best_formed(_originals("it ran for long and well", "It ran.")) == "m1"
    assert best_formed(_originals("It ran.", "It ran well.")) == "m1"
    assert best_formed(_originals("It ran.", "It ran.")[::-1]) == "m0"


@given(st.lists(_CONTENTS, max_size=5), st.randoms(use_true_random=False), st.integers(0, 200))
def test_any_order_gives_the_same_bytes(contents: list[str], shuffle: Random, budget: int) -> None:
    originals = [
        _original(f"m{n}", _DAY + timedelta(hours=n // 2), c) for n, c in enumerate(contents)
    ]
    shuffled = list(originals)
    shuffle.shuffle(shuffled)
    assert extract(shuffled, budget) == extract(originals, budget)
    if originals:
        assert best_formed(shuffled) == best_formed(originals)
        best = best_formed(originals)
        assert extract(shuffled, budget, best) == extract(originals, budget, best)


@given(st.lists(_CONTENTS, max_size=5), st.integers(0, 200))
def test_every_line_stands_in_its_memory(contents: list[str], budget: int) -> None:
    originals = _originals(*contents)
    summary = extract(originals, budget)
    lines = summary.content.split("\n") if summary.content else []
    assert sorted(at for found in summary.lines.values() for at in found) == [
        at for at, _ in enumerate(lines, 1)
    ]
    for original in originals:
        text = " ".join(original.content.split())
        for at in summary.lines.get(original.id, ()):
            line = lines[at - 1].removeprefix(f"- {original.occurred_at:%Y-%m-%d}:")
            assert " ".join(line.split()) in text


@given(st.lists(_CONTENTS, max_size=5), st.integers(0, 200))
def test_no_fact_of_a_decision_is_lost(contents: list[str], budget: int) -> None:
    originals = _originals(*contents)
    summary = extract(originals, budget).content
    kept = [Passage(_BEFORE.sub("", line)) for line in summary.split("\n")]
    known = frozenset().union(*map(facts, kept))
    passages = [passage for original in originals for passage in read_passages(original.content)]
    decided = [passage for passage in passages if is_decision(passage)]
    assert all(facts(passage) <= known for passage in decided)
    if not decided and summary.count("\n- ") > 0:
        assert estimate_tokens(summary) <= budget


@pytest.mark.parametrize(
    "text",
    ["Fixed it. " * 5_000, "word " * 40_000, "가나다라" * 20_000, "- x y\n" * 5_000, "`" * 100_000],
)
def test_a_long_text_takes_time_in_proportion(text: str) -> None:
    summary = extract(_originals(text), 400)
    assert estimate_tokens(summary.content) <= 1_024


def test_a_summary_is_called_as_its_memories_write_its_name() -> None:
    said = ("Jürgen Müller set the pump.", "Ask Ju\u0308rgen Mu\u0308ller.", "jurgen-muller.txt")
    assert spelling_of("jurgen_muller", _originals(*said)) == "Jürgen Müller"
