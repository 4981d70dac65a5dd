"""Days as headings write them, and what only looks like one."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.drafts.drafts import DocumentText, document_drafts
from service.text.markdown import parse_markdown
from service.text.written_dates import written_date

DAY = datetime(2026, 11, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    "heading",
    [
        "November 9, 2026", "Nov 9 2026", "9 November 2026", "9 Nov. 2026", "Nov. 9th, 2026",
        "Monday, November 9, 2026", "Mon 9 Nov 2026", "9th of November 2026", "2026. 11. 9.",
        "2026.11.09", "2026년 11월 9일", "2026년 11월 09일 월요일",
        "2026年11月9日", "2026 年 11 月 9 号",
        "[2026-11-09] Crane", "📅 2026-11-09", "Mon, 2026-11-09", "2026/11/9", "9.11.2026 Crane",
        "[1.2.0] - 2026-11-09", "v1.1.0 (2026-11-09)", "[2.0.0-rc.1] – November 9, 2026",
"**November 9, 2026**", "November 9, 2026: the crane", "NOVEMBER 9, 2026",
    ],
)  # fmt: skip
def test_a_day_is_read_at_the_beginning(heading: str) -> None:
    assert written_date(heading) == DAY


def test_a_section_happened_on_the_day_of_the_nearest_heading() -> None:
    text = "# Log\n\n## November 9, 2026\n\nThe crane.\n\n### Parts\n\nSeven.\n\n## Other\n\nNone."
    drafts = document_drafts(DocumentText("log.md", text), parse_markdown(text), {})
    assert [draft.title for draft in drafts if draft.occurred_at == DAY] == [
        "November 9, 2026", "Parts",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "heading",
    [
        "", "November 2026", "November 9", "the plan for November 9, 2026", "11/9/2026",
        "9/11/2026", "November 31, 2026", "2026.13.01", "2026年13月1日", "May 5000, 2026",
        "Marching 9, 2026", "November 9, 20261", "2026.11.123", "Version 2026.11.09",
        "\u017fept 9, 2026", "1.2.0", "[1.2.0] - Unreleased", "11.9.26", "9.11.20261",
    ],
)  # fmt: skip
def test_what_is_no_day_is_none(heading: str) -> None:
    assert written_date(heading) is None


@given(st.dates(datetime(1900, 1, 1).date(), datetime(2099, 12, 31).date()))  # noqa: DTZ001 - days
def test_each_day_is_read_as_it_is_written(day: object) -> None:
    for form in ("%B %d, %Y", "%d %b %Y", "%A, %d %B %Y", "%Y년 %m월 %d일", "%Y.%m.%d"):
        found = written_date(f"{day:{form}}")
        assert found is not None
        assert found.date() == day
