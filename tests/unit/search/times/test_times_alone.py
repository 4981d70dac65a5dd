"""Questions that ask for what a time held and for nothing else."""

from datetime import UTC, datetime

import pytest

from service.search.times.times import times_named
from service.search.times.times_alone import dates_alone

NOW = datetime(2026, 2, 13, 15, tzinfo=UTC)


def alone(question: str) -> str | None:
    return dates_alone(question, times_named(question, NOW))


@pytest.mark.parametrize(
    "question",
    [
        "What happened yesterday?",
        "what did we do last week",
        "What did I do on Friday?",
        "What's new since Wednesday?",
        "yesterday",
        "notes from yesterday",
        "yesterday's notes",
        "Do you remember yesterday?",
        "the log of last week",
        "events on Wednesday",
        "어제 기록",
        "어제 메모 보여줘",
        "昨天的笔记",
        "你还记得昨天吗",
        "Anything new this week?",
        "catch me up on the last 3 days",
        "Summarize the week before last",
        "What did we talk about two days ago?",
        "show me today's log",
        "tell me everything about yesterday",
        "What have you been working on this month?",
        "what changed between Monday and Wednesday",
        "지난주에 무슨 일이 있었어?",
        "어제 뭐 했지?",
        "昨天发生了什么？",
        "上周我们做了什么",
    ],
)
def test_what_asks_for_no_more_than_a_time_is_looked_for_without_words(question: str) -> None:
    assert alone(question) == ""


@pytest.mark.parametrize(
    ("question", "dates"),
    [
        ("What happened on 2026-01-19?", "on 2026-01-19"),
        ("what happened on November 19", "on November 19"),
        ("What did we do in May 2023 and last week?", "in May 2023"),
        ("1월 19일에 무슨 일이 있었나요?", "1월 19일에"),
    ],
)
def test_a_date_may_stand_in_a_text(question: str, dates: str) -> None:
    assert alone(question) == dates


@pytest.mark.parametrize(
    "question",
    [
        "What happened to the pump yesterday?",
        "What did Ann do last week?",
        "What did we decide last week?",
        "Which tasks are left for today?",
        "Can we deploy on Friday?",
        "What happened?",
        "take a note today",
        "I took notes yesterday",
        "write the log today",
        "we had sessions last week",
        "release notes from yesterday",
        "notes of Ann from yesterday",
        "어제 회의 기록",
        "昨天会议的笔记",
        "do it today",
        "I was at work yesterday",
        "is it done today?",
        "no, I did that yesterday",
        "오늘 했어",
        "昨天做了",
        "What happened after the outage?",
        "",
        "지난주에 회의에서 무슨 일이 있었어?",
        "昨天服务器发生了什么？",
        "What happened yesterday? " + "So " * 70,
    ],
)
def test_what_asks_for_more_or_names_no_time_is_not(question: str) -> None:
    assert alone(question) is None
