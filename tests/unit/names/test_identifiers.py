"""Identifiers: which marks make a word one, and which are dates, counts, hashes or prose."""

import pytest

from service.names.identifiers import identifiers, is_hash


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("paid from FN-88.", {"FN-88"}),
        ("(RX-2207), CVE-2024-1234;", {"RX-2207", "CVE-2024-1234"}),
        ("Osprey-2 fails, B-317 too", {"Osprey-2", "B-317"}),
        ("KX7-4410 and qwen3-4b", {"KX7-4410", "qwen3-4b"}),
        ("Osprey-2.3.1", {"Osprey-2.3.1"}),
        ("see src/app.py:12 or ./run/it.sh", {"src/app.py", "./run/it.sh"}),
        ("0042_add_lane_index.sql", {"0042_add_lane_index.sql"}),
        ("on /dev/sdc and ~/notes/today", {"/dev/sdc", "~/notes/today"}),
        ("set max_tokens, __init_subclass__", {"max_tokens", "__init_subclass__"}),
        ("paid from FN-88을 받았다", {"FN-88"}),
        ("siehe Küche.md, Müller-7 und größe_max", {"Küche.md"}),
        ("देखो रिपोर्ट.md और FN-88", {"रिपोर्ट.md", "FN-88"}),
    ],
)
def test_words_with_marks(text: str, found: set[str]) -> None:
    assert identifiers(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "the 3rd run took 100ms", "2026-02-14 at 14:30", "1990-95", "19th-century", "10am-5pm",
        "Mid-1990 Under-21 Q3-2024 Phase-2 Feb-12 UTC-5", "A-1", "2-3", "1.5", "v2.3.1", "1,900",
        "and/or TCP/IP km/h 24/7 his/her", "e.g. i.e. U.S. a.m. Washington, D.C.", "github.com",
        "https://github.com/a/b.py", "mayor-elect", "is_a has_more id1_3_0", "_emphasis_", "snake_",
        "me@a.py",
        "3fa9c1d 550e8400-e29b-41d4-a716-446655440000", "-- / . _ ...", "",
    ],
)  # fmt: skip
def test_what_is_no_identifier(text: str) -> None:
    assert identifiers(text) == set()


@pytest.mark.parametrize(
    ("span", "found"),
    [
        ("birdlab:1.8", {"birdlab:1.8"}),
        ("src/app.py:12", {"src/app.py"}),
        ("hasPending()", {"hasPending"}),
        ("git", {"git"}),
        ("1.2.3", set()),
        ("3fa9c1d", set()),
        ("two words", set()),
        ("x", set()),
        ("https://example.org/a", set()),
    ],
)
def test_code_spans_are_taken_as_they_are(span: str, found: set[str]) -> None:
    assert identifiers("", [span]) == found


def test_hashes_are_lower_case_and_have_a_digit() -> None:
    assert is_hash("deadbeef1")
    assert not is_hash("defaced")
    assert not is_hash("E1234567")
