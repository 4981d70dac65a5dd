"""What says the same is told once; what differs in a name or a number is told."""

import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.records import Memory
from service.search.fusion.ranked import Ranked
from service.search.fusion.rrf import Fused
from service.search.refine.duplicates import Repetitions

_AT = datetime(2026, 2, 13, tzinfo=UTC)
_LONG = (
    "the nightly backup runs at three in the morning, copies the store to the second disk, checks "
    "the copy by its hash, and writes a line to the log; when a hash differs it is run again"
)


def _hits(*texts: str, titles: tuple[str, ...] = ()) -> list[Ranked]:
    return [
        Ranked(
            Memory(
                str(place), "main", "note", "semantic",
                titles[place] if titles else "", text, _AT, _AT, _AT,
            ),
            Fused(str(place), 1 / (60 + place)),
        )
        for place, text in enumerate(texts)
    ]  # fmt: skip


def _kept(hits: list[Ranked]) -> list[int]:
    return [int(hit.memory.id) for hit in Repetitions().removed_from(hits)]


def test_equal_texts_are_told_once_and_the_better_one_stays() -> None:
    assert _kept(_hits("Thanks!", _LONG, "Thanks!", "thanks! ", _LONG.upper())) == [0, 1]


def test_short_texts_go_only_when_they_are_equal() -> None:
    assert _kept(_hits("Thanks!", "Thanks", "Thanks a lot!", "Thanks a lot for that!")) == [
        0, 1, 2, 3,
    ]  # fmt: skip


def test_of_eight_words_a_longer_text_may_hold_all() -> None:
    seven = "the lamp on the gate is red"
    assert _kept(_hits(f"{seven} now it is", seven)) == [0, 1]
    assert _kept(_hits(f"{seven} now it is", f"{seven} now")) == [0]


def test_a_handoff_that_nobody_wrote_hides_but_its_like() -> None:
    first, said, again = _hits(f"Last request: {_LONG}", _LONG, f"Last request: {_LONG} now")
    first, again = (
        replace(one, memory=replace(one.memory, kind="handoff", tags=("automatic",)))
        for one in (first, again)
    )
    assert _kept([first, said, again]) == [0, 1]
    assert _kept([said, again]) == [1, 2]
    left = replace(first, memory=replace(first.memory, tags=()))
    assert _kept([left, said]) == [0]


def test_nine_tenths_of_what_is_said_are_enough() -> None:
    ten = "the lamp on the gate is red and it must stay so"
    assert len(ten.split()) - 2 == 10
    assert _kept(_hits(ten, ten.replace(" so", " on"))) == [0]
    assert _kept(_hits(ten, ten.replace("stay so", "be on"))) == [0, 1]


def test_one_word_in_thirty_changed_is_the_same() -> None:
    assert len(_LONG.split()) == 37
    assert _kept(_hits(_LONG, _LONG.replace("second", "other"))) == [0]
    twice = _LONG.replace("second", "other").replace("writes", "adds")
    assert _kept(_hits(_LONG, twice)) == [0, 1]


@pytest.mark.parametrize(
    ("written", "instead"),
    [("three", "3"), ("second disk", "NAS"), ("hash", "SHA256"), ("the log", "backup.log2")],
)
def test_another_name_or_number_is_news(written: str, instead: str) -> None:
    assert _kept(_hits(_LONG, _LONG.replace(written, instead, 1))) == [0, 1]


def test_dates_ports_and_names_tell_copies_apart() -> None:
    told = f"On 2026-02-13 Kit saw port 8080 answer. {_LONG}"
    others = [
        told.replace("13", "14"),
        told.replace("8080", "9090"),
        told.replace("Kit", "Ada"),
        told,
    ]
    assert _kept(_hits(told, *others)) == [0, 1, 2, 3]


def test_what_stands_in_a_longer_and_better_text_is_removed_from() -> None:
    longer = f"{_LONG}. On Sundays the whole disk is copied and sent to the house of my parents."
    assert _kept(_hits(longer, _LONG)) == [0]
    assert _kept(_hits(_LONG, longer)) == [0, 1]


def test_parts_of_two_texts_do_not_add_up() -> None:
    half = len(_LONG) // 2
    assert _kept(_hits(_LONG[:half], _LONG[half:], _LONG)) == [0, 1, 2]


def test_a_summary_hides_none_of_its_sources() -> None:
    summary, source, other = _hits(f"{_LONG}. Another line.", _LONG, _LONG.upper())
    own = Ranked(replace(source.memory, consolidated_into="0"), source.fused)
    assert _kept([summary, own]) == [0, 1]
    assert _kept([summary, own, other]) == [0, 1]


def test_the_title_counts_too() -> None:
    same = ("backup of Osprey", "backup of Kite", "backup of Osprey")
    assert _kept(_hits(_LONG, _LONG, _LONG, titles=same)) == [0, 1]


def test_korean_and_chinese() -> None:
    korean = "서버는 매일 밤 세 시에 백업을 하고 두 번째 디스크에 저장한 다음 기록을 남긴다"
    chinese = "服务器每天凌晨三点备份数据，并且写入日志"
    assert _kept(_hits(korean, chinese, korean, chinese)) == [0, 1]
    assert _kept(_hits(korean, korean.replace("세 시에", "네 시에"))) == [0, 1]
    assert _kept(_hits(chinese, chinese.replace("三", "四"))) == [0, 1]


@given(st.lists(st.sampled_from(["", "a", "Thanks!", _LONG, _LONG + " Kit.", "b " * 40])))
def test_nothing_new_is_lost_and_nothing_is_told_twice(texts: list[str]) -> None:
    hits = _hits(*texts)
    kept = Repetitions().removed_from(hits)
    assert [hit for hit in hits if hit in kept] == kept
    assert Repetitions().removed_from(kept) == kept
    assert {hit.memory.content for hit in kept} >= set(texts) - {_LONG}
    assert len({hit.memory.content for hit in kept}) == len(kept)
    assert kept[:1] == hits[:1]


def test_looks_that_go_deeper_end_with_what_one_look_gives() -> None:
    others = [f"The {bird} stands at the quay and looks." for bird in ("Osprey", "Kite", "Heron")]
    hits = _hits("Told.", _LONG, *others, _LONG + " Kit.", others[0], "told.")
    told = [replace(hit.memory, id=f"told-{hit.memory.id}") for hit in _hits("Told.", _LONG)]
    repetitions = Repetitions(told)
    looks = [repetitions.removed_from(hits[:depth]) for depth in (2, 4, len(hits))]
    assert looks == [Repetitions(told).removed_from(hits[:depth]) for depth in (2, 4, len(hits))]
    assert [len(look) for look in looks] == [0, 2, 4]


def test_long_texts_take_linear_work() -> None:
    text = " ".join(f"word{number}" for number in range(20_000))
    started = time.process_time()
    assert _kept(_hits(*[f"{text} Part{place}" for place in range(10)])) == list(range(10))
    # 0.4 s when written.
    assert time.process_time() - started < 5
