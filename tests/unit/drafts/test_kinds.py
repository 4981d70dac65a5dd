"""What a path says: kind, type, date, and when a section happened."""

from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.drafts.kinds import (
    DEFAULT_PLACES,
    date_of,
    date_of_file,
    kind_of,
    linked_name,
    occurred_at,
    type_of,
)
from service.kinds import KINDS
from service.records import TYPES

_SEOUL = timezone(timedelta(hours=9))


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("memory/2026-02-13.md", "daily_log"),
        ("memory/2026-02-13-1530.md", "daily_log"),
        ("workspace/memory/2026-02-13-vendor-pitch.md", "daily_log"),
        ("2026-02-13.md", "daily_log"),
        ("journal/2026-02-13.md", "daily_log"),
        ("journals/2026_02_13.md", "daily_log"),
        ("2026_02-13.md", "note"),
        ("memory/decisions.md", "decision"),
        ("Decisions.MD", "decision"),
        ("decisions/use-postgres.md", "decision"),
        ("decisions/2026-02-13-use-postgres.md", "decision"),
        ("docs/adr/0001.md", "decision"),
        ("docs/adr/README.md", "note"),
        ("docs/adr/adr-template.md", "note"),
        ("decisions/index.md", "note"),
        ("adr/0001-use-postgres/README.md", "decision"),
        ("preferences.md", "preference"),
        ("memory/developer-preferences.md", "preference"),
        ("USER.md", "preference"),
        ("handoff.md", "handoff"),
        ("memory/handoff-monday.md", "handoff"),
        ("people/kit.md", "entity"),
        ("entities/a/b.md", "entity"),
        ("memory/observations/session.md", "observation"),
        ("facts.md", "fact"),
        ("MEMORY.md", "fact"),
        ("summary-week-7.md", "summary"),
        ("projects/gpu.md", "note"),
        ("memory/working-memory.md", "note"),
        ("indecisions.md", "note"),
        ("superuser.md", "note"),
        ("my-decisions/x.md", "note"),
        ("decisions", "note"),
        ("", "note"),
    ],
)
def test_kind(source: str, kind: str) -> None:
    assert kind_of(source) == kind


def test_a_table_of_ones_own_comes_first_match_first() -> None:
    table = (("log?/*.txt", "daily_log"), ("logs/**", "summary"), ("notes/YYYYMMDD.md", "handoff"))
    assert kind_of("logs/a.txt", table) == "daily_log"
    assert kind_of("logs/a/b.txt", table) == "summary"
    assert kind_of("notes/20260213.md", table) == "handoff"
    assert kind_of("notes/x.md", table) == "note"
    assert kind_of("decisions.md", table) == "note"


def test_marks_of_regular_expressions_mean_nothing_in_a_pattern() -> None:
    assert kind_of("a+b(c).md", (("a+b(c).md", "fact"),)) == "fact"
    assert kind_of("aab(c)xmd", (("a+b(c).md", "fact"),)) == "note"


def test_the_built_in_table_leads_to_known_kinds() -> None:
    assert {kind for _, kind in DEFAULT_PLACES} <= set(KINDS)


@pytest.mark.parametrize(
    ("kind", "source", "expected"),
    [
        ("daily_log", "memory/2026-02-13.md", "episodic"),
        ("handoff", "handoff.md", "episodic"),
        ("observation", "x.md", "episodic"),
        ("note", "x.md", "semantic"),
        ("decision", "decisions.md", "semantic"),
        ("entity", "people/kit.md", "semantic"),
        ("note", "runbooks/restore.md", "procedural"),
        ("note", "work/HowTo/deploy/blue.md", "procedural"),
        ("note", "skills/git.md", "procedural"),
        ("note", "my-skills/git.md", "semantic"),
    ],
)
def test_type(kind: str, source: str, expected: str) -> None:
    assert type_of(kind, source) == expected


@pytest.mark.parametrize(
    ("link", "name"),
    [
        ("people/Anna", "Anna"), ("vault/People/team/Anna Berg", "Anna Berg"),
        ("../entities/GPU", "GPU"), ("TCP/IP", "TCP/IP"), ("townspeople/Anna", "townspeople/Anna"),
        ("people/README", "people/README"), ("people/2026", "people/2026"), ("people/", "people/"),
        ("people", "people"), ("Anna", "Anna"),
    ],
)  # fmt: skip
def test_a_link_into_a_folder_of_entities_names_what_the_file_does(link: str, name: str) -> None:
    assert linked_name(link) == name


def test_every_kind_has_a_type_and_nothing_else_has() -> None:
    assert {type_of(kind) for kind in KINDS} <= set(TYPES)
    with pytest.raises(ValueError, match="meeting"):
        type_of("meeting")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("2026-02-13.md", (2026, 2, 13)),
        ("memory/2026-02-13.md", (2026, 2, 13)),
        ("2026-02-13-1530.md", (2026, 2, 13, 15, 30)),
        ("2026-02-13-153045.md", (2026, 2, 13, 15, 30, 45)),
        ("2026-02-13T15-30.md", (2026, 2, 13, 15, 30)),
        ("2026-02-13_15.30.45-deploy.md", (2026, 2, 13, 15, 30, 45)),
        ("2026-02-13-some-words.md", (2026, 2, 13)),
        ("2026-02-13-007-words.md", (2026, 2, 13)),
        ("2026-02-13-9999.md", (2026, 2, 13)),
        ("2026-02-13_2026-02-20.md", (2026, 2, 13)),
        ("journals/2026_02_13.md", (2026, 2, 13)),
        ("2026_02_13 2.md", (2026, 2, 13)),
        ("2026_02_13_2026_02_20.md", (2026, 2, 13)),
        ("20260213.md", (2026, 2, 13)),
        ("20260213_review.md", (2026, 2, 13)),
        ("20260213-1530.md", (2026, 2, 13, 15, 30)),
        ("20260213153045.md", (2026, 2, 13, 15, 30, 45)),
        ("2024-02-29", (2024, 2, 29)),
    ],
)
def test_date_of_a_name(source: str, expected: tuple[int, ...]) -> None:
    year, month, day, hour, minute, second = (*expected, 0, 0, 0)[:6]
    assert date_of(source) == datetime(year, month, day, hour, minute, second, tzinfo=UTC)


@pytest.mark.parametrize(
    "source",
    [
        "2026-13-40.md",
        "2023-02-29.md",
        "20261340.md",
        "2026-02-134.md",
        "2026021399.md",
        "12345678.md",
        "0001-01-01.md",
        "notes-2026-02-13.md",
        "2026-02-13/notes.md",
        "2026-0213.md",
        "",
    ],
)
def test_no_date_of_a_name(source: str) -> None:
    assert date_of(source) is None


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("2026-02-13 to 2026-02-20.md", (2026, 2, 13)),
        ("retro/Discussion-Tracker-2026-04-05.md", (2026, 4, 5)),
        ("Weekly review 2026_04_05.md", (2026, 4, 5)),
        ("review-20260405.md", (2026, 4, 5)),
        ("daily/Feb 12, 2026.md", (2026, 2, 12)),
        ("2026.02.12.md", (2026, 2, 12)),
        ("2026年2月12日.md", (2026, 2, 12)),
        ("12.2.2026 Standup.md", (2026, 2, 12)),
        ("release 2026.2.md", None),
        ("v1.2.0.md", None),
        ("notes2026-02-13.md", None),
        ("notes-2026-02-13-old.md", None),
        ("notes-2026-13-40.md", None),
        ("build-12026-02-13.md", None),
    ],
)
def test_date_of_a_file(source: str, expected: tuple[int, int, int] | None) -> None:
    assert date_of_file(source) == (expected and datetime(*expected, tzinfo=UTC))


def test_a_name_is_in_the_given_zone() -> None:
    assert date_of("2026-02-13-0905.md", _SEOUL) == datetime(2026, 2, 13, 9, 5, tzinfo=_SEOUL)


_WRITTEN = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
_NOON = time(12, 0)


@pytest.mark.parametrize(
    ("document_date", "source", "clock", "zone", "moment"),
    [
        (date(2026, 1, 2), "2026-02-13.md", None, UTC, datetime(2026, 1, 2, tzinfo=UTC)),
        (date(2026, 1, 2), "x.md", _NOON, _SEOUL, datetime(2026, 1, 2, 12, tzinfo=_SEOUL)),
        (datetime(2026, 1, 2, 9, tzinfo=_SEOUL), "x.md", _NOON, UTC,
         datetime(2026, 1, 2, 12, tzinfo=_SEOUL)),
        (datetime(2026, 1, 2, 9), "x.md", None, _SEOUL,  # noqa: DTZ001
         datetime(2026, 1, 2, 9, tzinfo=_SEOUL)),
        (None, "2026-02-13.md", None, UTC, datetime(2026, 2, 13, tzinfo=UTC)),
        (None, "2026-02-13-1530.md", None, UTC, datetime(2026, 2, 13, 15, 30, tzinfo=UTC)),
        (None, "2026-02-13-1530.md", _NOON, UTC, datetime(2026, 2, 13, 12, tzinfo=UTC)),
    ],
)  # fmt: skip
def test_what_is_dated(
    document_date: datetime | date | None,
    source: str,
    clock: time | None,
    zone: tzinfo,
    moment: datetime,
) -> None:
    occurrence = occurred_at(document_date, source, clock, _WRITTEN, zone)
    assert occurrence.moment == moment
    assert occurrence.is_dated


def test_the_fallback_keeps_its_own_time_of_day() -> None:
    occurrence = occurred_at(None, "x.md", _NOON, _WRITTEN)
    assert occurrence.moment == _WRITTEN
    assert not occurrence.is_dated


def test_without_any_date_it_happened_now() -> None:
    before = datetime.now(UTC)
    occurrence = occurred_at(None, "x.md", _NOON)
    assert before <= occurrence.moment <= datetime.now(UTC)
    assert not occurrence.is_dated


@given(st.text(alphabet=st.one_of(st.sampled_from("0123456789-T._/"), st.characters())))
def test_any_path_has_a_kind_and_perhaps_a_date(source: str) -> None:
    assert kind_of(source) in KINDS
    found = date_of(source)
    assert found is None or found.tzinfo is UTC
    occurred_at(None, source, _NOON, _WRITTEN).moment.astimezone(_SEOUL)
