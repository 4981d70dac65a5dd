"""What a question says about time: 7 May 2023, last Tuesday, 지난주, 三月, before the migration."""

import time
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.search.times.events import Anchor
from service.search.times.times import anchor_named, times_named
from tests.effort import examples

# A Wednesday.
NOW = datetime(2026, 11, 18, 15, 30, tzinfo=UTC)

DAYS = {
    # Absolute dates.
    "What did we do on 2023-05-07?": "2023-05-07 2023-05-08",
    "what happened on 2023/5/7": "2023-05-07 2023-05-08",
    "the log of 2023-05-07T10:30": "2023-05-07 2023-05-08",
    "7 May 2023": "2023-05-07 2023-05-08",
    "the 7th of May 2023": "2023-05-07 2023-05-08",
    "May 7th": "2026-05-07 2026-05-08",
    "on december 24": "2025-12-24 2025-12-25",
    "what broke on Aug 15th": "2026-08-15 2026-08-16",
    "shared on December 1,2023": "2023-12-01 2023-12-02",
    "What was said on May 3-5, 2023?": "2023-05-03 2023-05-06",
    "on February 29": "2024-02-29 2024-03-01",
    "May 2023": "2023-05-01 2023-06-01",
    "Which host was renamed in May?": "2026-05-01 2026-06-01",
    "what did we ship in march": "2026-03-01 2026-04-01",
    "in November": "2026-11-01 2026-12-01",
    "in December": "2025-12-01 2026-01-01",
    "at the end of March": "2026-03-01 2026-04-01",
    "early September": "2026-09-01 2026-10-01",
    "in the second week of November 2022": "2022-11-01 2022-12-01",
    "in 2022": "2022-01-01 2023-01-01",
    "during 2010-2012": "2010-01-01 2013-01-01",
    "in 2023-05": "2023-05-01 2023-06-01",
    "the 31st of June 2020": "2020-06-01 2020-07-01",
    "summer of 2021": "2021-06-01 2021-09-01",
    "March last year": "2025-03-01 2025-04-01",
    "on May 3 of last year": "2025-05-03 2025-05-04",
    "in the year 2019": "2019-01-01 2020-01-01",
    "during the week of May 9, 2023": "2023-05-08 2023-05-15",
    "winter 2021": "2021-12-01 2022-03-01",
    "our goals of Q3 2025": "2025-07-01 2025-10-01",
    "what we promised in Q3 last year": "2025-07-01 2025-10-01",
    "Q1 of this year": "2026-01-01 2026-04-01",
    "in summer last year": "2025-06-01 2025-09-01",
    "did the prices fall last year": "2025-01-01 2026-01-01",
    "am 12.02.2026": "2026-02-12 2026-02-13",
    "what was decided on 12. 2. 2026": "2026-02-12 2026-02-13",
    # Relative to now.
    "what is planned today": "2026-11-18 2026-11-19",
    "Yesterday we broke the build": "2026-11-17 2026-11-18",
    "the day before yesterday": "2026-11-16 2026-11-17",
    "notes of day before yesterday": "2026-11-16 2026-11-17",
    "the week before last": "2026-11-02 2026-11-09",
    "the weekend before last": "2026-11-07 2026-11-09",
    "the month before last": "2026-09-01 2026-10-01",
    "last night": "2026-11-17 2026-11-18",
    "this morning": "2026-11-18 2026-11-19",
    "last Tuesday": "2026-11-17 2026-11-18",
    "last Wednesday": "2026-11-11 2026-11-12",
    "on Wednesday": "2026-11-18 2026-11-19",
    "What did I do Friday?": "2026-11-13 2026-11-14",
    "last week's retro": "2026-11-09 2026-11-16",
    "What did we decide on Monday last week?": "2026-11-09 2026-11-10",
    "Friday of last week": "2026-11-13 2026-11-14",
    "last week's Tuesday": "2026-11-10 2026-11-11",
    "what broke last week on Wednesday": "2026-11-11 2026-11-12",
    "what is due on Friday this week": "2026-11-20 2026-11-21",
    "last weekend": "2026-11-14 2026-11-16",
    "last month": "2026-10-01 2026-11-01",
    "last year": "2025-01-01 2026-01-01",
    "last quarter": "2026-07-01 2026-10-01",
    "last summer": "2026-06-01 2026-09-01",
    "last winter": "2025-12-01 2026-03-01",
    "last March": "2026-03-01 2026-04-01",
    "last November": "2025-11-01 2025-12-01",
    "this month": "2026-11-01 2026-12-01",
    "this year": "2026-01-01 2027-01-01",
    "two weeks ago": "2026-11-02 2026-11-09",
    "3 days ago": "2026-11-15 2026-11-16",
    "a month ago": "2026-10-01 2026-11-01",
    "a couple of years ago": "2024-01-01 2025-01-01",
    "a few days ago": "2026-11-12 2026-11-17",
    "in the last two weeks": "2026-11-04 2026-11-19",
    "over the past month": "2026-10-18 2026-11-19",
    "past 3 days": "2026-11-15 2026-11-19",
    # Counted from another time.
    "the week before August 5, 2023": "2023-07-29 2023-08-05",
    "two weeks before August 11, 2023": "2023-07-24 2023-07-31",
    "last weekend before April 17, 2023": "2023-04-15 2023-04-17",
    "the Sunday before October 25, 2022": "2022-10-23 2022-10-24",
    "the day after 2023-05-07": "2023-05-08 2023-05-09",
    "three days after May 7, 2023": "2023-05-10 2023-05-11",
    # From one to another.
    "between March and May": "2026-03-01 2026-06-01",
    "between November and February": "2025-11-01 2026-03-01",
    "between August 12 and August 14 2023": "2023-08-12 2023-08-15",
    "from March to May 2021": "2021-03-01 2021-06-01",
    "from March 2021 to May": "2021-03-01 2021-06-01",
    "from 2019 to 2021": "2019-01-01 2022-01-01",
    "from Monday to Wednesday": "2026-11-16 2026-11-19",
    "May 2023 – July 2023": "2023-05-01 2023-08-01",
    # Korean.
    "2023년 5월 7일에 뭐 했지?": "2023-05-07 2023-05-08",
    "5월에 정한 것": "2026-05-01 2026-06-01",
    "2022년에 산 것": "2022-01-01 2023-01-01",
    "어제 회의": "2026-11-17 2026-11-18",
    "그저께": "2026-11-16 2026-11-17",
    "지난주에 뭐 했지": "2026-11-09 2026-11-16",
    "지난 달": "2026-10-01 2026-11-01",
    "작년 여름": "2025-06-01 2025-09-01",
    "지난 화요일": "2026-11-17 2026-11-18",
    "월요일에": "2026-11-16 2026-11-17",
    "작년 5월": "2025-05-01 2025-06-01",
    "2023년 여름": "2023-06-01 2023-09-01",
    "지난주 금요일": "2026-11-13 2026-11-14",
    "이번 주 수요일": "2026-11-18 2026-11-19",
    "두 달 전에": "2026-09-01 2026-10-01",
    "3일 전 기록": "2026-11-15 2026-11-16",
    "최근 3개월": "2026-08-18 2026-11-19",
    "3월부터 5월까지": "2026-03-01 2026-06-01",
    "3월과 5월 사이에": "2026-03-01 2026-06-01",
    # Chinese.
    "2023年5月7日发生了什么": "2023-05-07 2023-05-08",
    "三月我们做了什么": "2026-03-01 2026-04-01",
    "十二月二十四日": "2025-12-24 2025-12-25",
    "2015 年的决定": "2015-01-01 2016-01-01",
    "昨天的会议": "2026-11-17 2026-11-18",
    "上周": "2026-11-09 2026-11-16",
    "上周三": "2026-11-11 2026-11-12",
    "上个月": "2026-10-01 2026-11-01",
    "去年三月": "2025-03-01 2025-04-01",
    "这周一": "2026-11-16 2026-11-17",
    "去年夏天": "2025-06-01 2025-09-01",
    "三天前": "2026-11-15 2026-11-16",
    "两个月前": "2026-09-01 2026-10-01",
    "最近两周": "2026-11-04 2026-11-19",
    "2004年到2014年间": "2004-01-01 2015-01-01",
}  # fmt: skip
OPEN = {
    "before June": ("before", None, "2026-06-01"),
    "until 10 July 2022": ("before", None, "2022-07-11"),
    "by July 10, 2022": ("before", None, "2022-07-11"),
    "as of December 2023": ("before", None, "2024-01-01"),
    "since Monday": ("after", "2026-11-16", None),
    "since last week": ("after", "2026-11-09", None),
    "after 2021-03-01": ("after", "2021-03-02", None),
    "after May?": ("after", "2026-06-01", None),
    "from March 2026 onwards": ("after", "2026-03-01", None),
    "5월 이전에": ("before", None, "2026-05-01"),
    "2023-05-07 이후": ("after", "2023-05-08", None),
    "월요일부터": ("after", "2026-11-16", None),
    "2000 年之前": ("before", None, "2000-01-01"),
    "3년 전부터": ("after", "2023-01-01", None),
    "自2005年以来": ("after", "2005-01-01", None),
    "截至2016年1月": ("before", None, "2016-02-01"),
}
NO_TIME = (
    "I may go to the march", "How long may it take?", "we may 3 times",
    "May 2 agents share a store?", "Who made Black Friday?",
    "April said hello", "Who did May Parker meet?", "a letter from May", "confidence in May Parker",
    "in April's opinion", "after June left", "before March began", "the second sun of the play",
    "14,000 rows in 2048 tokens", "after 2000 ms", "in 2000 words", "the 2016 film",
    "version 2023.1.2",
    "the 1990s", "CVE-2023-0512", "USA Today", "the song Yesterday", "Black Friday deals",
    "her last year of school", "the last week of school", "John's last week", "the last day",
    "Monday.com", "on Mondays", "years ago", "66 million years ago", "How long ago was it?",
    "1.5 years ago", "half a year ago", "on 2023-02-31", "next month", "13/14/2020",
    "\u017feven days ago", "the \u017fummer of 2021 9",
    "오늘날의 기술", "3개월 동안", "13월", "그제서야", "五月天的歌", "三个月",
    "6600万年前", "岁月", "80年代",
)  # fmt: skip
ANCHORS = {
    "What did we use before the migration?": ("before", "migration"),
    "After the release of 2.0, what broke?": ("after", "release of 2.0"),
    "What changed since we moved to Berlin?": ("after", "we moved to Berlin"),
    "What did Anna say before Ben joined the team?": ("before", "Ben joined the team"),
    "the state until the rewrite": ("before", "rewrite"),
    "What did Mina change after the outage?": ("after", "outage"),
    "After the move what did we buy?": ("after", "move"),
    "이전 전에 뭘 썼지?": ("before", "이전"),
    "데이터베이스 이전 전에": ("before", "데이터베이스 이전"),
    "베를린으로 이사한 후에 만난 사람": ("after", "베를린으로 이사한"),
    "마이그레이션 이후": ("after", "마이그레이션"),
    "迁移之前我们用什么数据库？": ("before", "迁移"),
    "我们在迁移之前用了什么": ("before", "迁移"),
    "自从我们搬到柏林以来": ("after", "我们搬到柏林"),
    "What could John do after his basketball career?": ("after", "basketball career"),
    "errors after the deploy": ("after", "deploy"),
    "errors since login": ("after", "login"),
    "what happened after login": ("after", "login"),
    "What speed did we see before tuning?": ("before", "tuning"),
    "notes before Ben joined the team": ("before", "Ben joined the team"),
    "커밋 전에 뭘 했지?": ("before", "커밋"),
    "회의 이후 결정": ("after", "회의"),
    "上线之前用的是什么": ("before", "上线"),
    "你提交之后需要了什么": ("after", "你提交"),
}
NO_ANCHOR = (
    "before June", "after 2021-03-01", "since Monday", "since then", "after all", "before that",
    "Who is the creek named after?", "who looks after the cat", "after 12 weeks of treatment",
    "the weekend before last", "what broke the night before last?", "the Tuesday before last",
    "since it is slow, what helps?", "the week before August 5, 2023", "happily ever after them",
    "3일 전에", "얼마 전에 본", "예전에", "5월 이전에", "很久以前", "2000年之前",
    "药房技术员以前的职责",
    "\u017fince the move", "在什么之后", "", "before", "what is new?",
    # Rules, steps and states: nothing of them is older or newer.
    "steps before a release", "run the linter before commit", "what happens after login",
    "what to check before the launch", "What must be done before the merge?",
    "How do I clean up after the tests?", "install hooks before the first commit",
    "extra step before the project gets installed", "refunds after a storm",
    "How long does a hold last before it expires?", "who do we need to call before the demo",
    "Does it get sorted before the merge?", "docs build before each release",
    "non-null assertion after an optional chain", "what we need before launch",
    "커밋 전에 뭘 해야 해?", "설치 후에 실행할 스크립트", "배포 전에 확인하는 것",
    "提交之前要做什么", "上线之后如何回滚", "提交之前必须测试",
)  # fmt: skip


def named(question: str, now: datetime = NOW) -> list[tuple[str, str | None, str | None]]:
    """Return relation, first day and day after the last of each time."""

    def day(moment: datetime | None) -> str | None:
        return str(moment.date()) if moment else None

    return [(s.relation, day(s.start), day(s.end)) for s in times_named(question, now)]


@pytest.mark.parametrize(("question", "days"), DAYS.items())
def test_a_stretch_of_time(question: str, days: str) -> None:
    start, end = days.split()
    assert named(question) == [("in", start, end)]


@pytest.mark.parametrize(("question", "told"), OPEN.items())
def test_an_open_end(question: str, told: tuple[str, str | None, str | None]) -> None:
    assert named(question) == [told]


@pytest.mark.parametrize("question", NO_TIME)
def test_words_that_look_like_a_time(question: str) -> None:
    assert named(question) == []


def test_several_times_and_their_words() -> None:
    question = "In March or April we moved, and since 2025-06-01 what was last week?"
    assert [span.text for span in times_named(question, NOW)] == [
        "In March", "April", "since 2025-06-01", "last week",
    ]  # fmt: skip
    assert named(question)[1] == ("in", "2026-04-01", "2026-05-01")


def test_days_begin_in_the_zone_of_now() -> None:
    seoul = timezone(timedelta(hours=9))
    [span] = times_named("어제", datetime(2026, 11, 18, 3, tzinfo=seoul))
    assert span.start == datetime(2026, 11, 16, 15, tzinfo=UTC)
    naive = NOW.replace(tzinfo=None)
    assert times_named("yesterday", naive) == times_named("yesterday", NOW)


@pytest.mark.parametrize("unlike", ["in May", "last Friday", "May 7"])
def test_without_a_year_it_is_the_latest_that_has_begun(unlike: str) -> None:
    for day in range(0, 800, 7):
        now = NOW - timedelta(days=day)
        [span] = times_named(f"what happened {unlike}", now)
        assert span.start is not None
        assert now - timedelta(days=367) < span.start <= now


@pytest.mark.parametrize("today", ["2025-12-01", "2026-01-01", "2026-02-28"])
def test_this_winter_is_the_one_that_goes_on(today: str) -> None:
    now = datetime.fromisoformat(today).replace(tzinfo=UTC)
    assert named("What broke this winter?", now) == [("in", "2025-12-01", "2026-03-01")]


@pytest.mark.parametrize(("question", "told"), ANCHORS.items())
def test_an_event_to_look_up(question: str, told: tuple[str, str]) -> None:
    assert anchor_named(question) == Anchor(*told)  # type: ignore[arg-type]


@pytest.mark.parametrize("question", NO_ANCHOR)
def test_no_event_to_look_up(question: str) -> None:
    assert anchor_named(question) is None


_PIECES = """in on the last before after since between and to from May may March 2023 7 31 29 week
two of days ago Sunday Q1 summer 0 13 – , . ? 2023-05-07 9999 until 전 에 지난
이번 주 주말 달 하루 월 일 년 年 月 日 5 三 十 上 这 這 个 週 星期 末 前 去年 夏"""
_WORDS = st.sampled_from(_PIECES.split())
_QUESTIONS = st.text(max_size=80) | st.lists(_WORDS, max_size=12).map(" ".join)
_QUESTIONS |= st.lists(_WORDS, max_size=12).map("".join)
_ZONES = st.sampled_from([UTC, timezone(timedelta(hours=9)), timezone(timedelta(hours=-5)), None])


@settings(max_examples=examples(200))
@given(_QUESTIONS, st.datetimes(timezones=_ZONES))
def test_it_never_fails_and_time_runs_forward(question: str, now: datetime) -> None:
    spans = times_named(question, now)
    assert spans == times_named(question, now)
    for span in spans:
        assert span.text in question
        assert span.text.strip()
        for end in (span.start, span.end):
            assert end is None or end.tzinfo is not None
        assert span.start or span.end
        assert not (span.start and span.end) or span.start < span.end
    anchor_named(question)


@pytest.mark.parametrize(
    "piece",
    ["in May 2023 ", "before ", "the last ", "三", "전 ", "1 ", "a", "在之前", " ", "may 1-"],
)
def test_a_pasted_text_costs_no_more_than_its_beginning(piece: str) -> None:
    text = (piece * 100_000)[:100_000]
    started = time.process_time()
    times_named(text, NOW)
    anchor_named(text)
    assert time.process_time() - started < 0.1
    assert all(span.text in text[:500] for span in times_named(text, NOW))


def test_a_cut_through_a_date_reads_no_other_date() -> None:
    text = "x" * 490 + " 2023-05-17"
    assert times_named(text, NOW) == ()


def test_every_day_of_a_leap_year_is_read_back() -> None:
    for day in range(366):
        wanted = date(2024, 1, 1) + timedelta(days=day)
        for told in (wanted.isoformat(), f"{wanted:%d %B %Y}", f"{wanted:%b} {wanted.day}, 2024"):
            assert named(told) == [("in", str(wanted), str(wanted + timedelta(days=1)))], told
