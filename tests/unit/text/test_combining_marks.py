"""Marks on letters: all that living scripts write words with, and what may be left out."""

import re
import unicodedata

import pytest

from service.text.combining_marks import COMBINING, run_of
from service.text.words import fold

_MARK = re.compile(f"[{COMBINING}]")
_RUN = re.compile(run_of(r"[^\W_]"))
# As Unicode's names of letters begin.
SCRIPTS = frozenset(
    """ADLAM ARABIC BALINESE BENGALI CHAKMA DEVANAGARI ETHIOPIC GUJARATI GURMUKHI HEBREW JAVANESE
    KANNADA KHMER LAO LEPCHA LIMBU MALAYALAM MEETEI MYANMAR NKO OL ORIYA SINHALA SUNDANESE SYRIAC
    TAI TAMIL TELUGU THAANA THAI TIBETAN""".split()  # noqa: SIM905 - words, not a list
)


def _marks() -> list[str]:
    every = map(chr, range(0x20000))
    return [one for one in every if unicodedata.category(one) in {"Mn", "Mc"}]


def test_no_mark_of_a_living_script_ends_a_word() -> None:
    marks = [one for one in _marks() if unicodedata.name(one, "").split()[:1][0] in SCRIPTS]
    assert len(marks) > 700
    assert [one for one in marks if not _RUN.fullmatch(f"x{one}{one}x{one}")] == []


def test_nothing_else_is_a_mark() -> None:
    found = {one for one in map(chr, range(0x20000)) if _MARK.match(one)}
    assert found <= set(_marks())


def test_a_mark_alone_is_no_word() -> None:
    assert _RUN.search("\u093f \u0e34") is None


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("مُحَمَّد", "محمد"), ("مـــحـمد", "محمد"), ("שָׁלוֹם", "שלום"),
        ("قرآن", "قرآن"), ("أحمد", "أحمد"),
        ("Donau\u00addampf", "Donaudampf"), ("क्\u200dष", "क्ष"), ("می\u200cخواهم", "می\u200cخواهم"),
        ("हिन्दी", "हिन्दी"), ("ข้าว", "ข้าว"),
    ],
)  # fmt: skip
def test_what_writers_leave_out_is_left_out(written: str, folded: str) -> None:
    assert fold(written) == folded
    assert fold(folded) == folded
