"""Korean, Chinese and Japanese: stems without particles, and where a name may begin."""

import pytest

from service.text.cjk import is_wide, may_part, stems


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("서울에서", ("서울",)),
        ("서울에서는", ("서울에서", "서울")),
        ("김민수가", ("김민수",)),
        ("김민수씨에게는", ("김민수씨에게", "김민수씨", "김민수")),
        ("학교까지도", ("학교까지", "학교")),
        ("지도", ()),
        ("서울대학교", ()),
        ("가는", ()),
        ("東京은", ("東京",)),
        ("東京", ()),
        ("gpu", ()),
    ],
)
def test_stems(word: str, found: tuple[str, ...]) -> None:
    assert stems(word) == found


@pytest.mark.parametrize(
    ("text", "is_it"), [("가", True), ("a東", True), ("パン", True), ("é", False), ("・", False)]
)
def test_wide_letters(text: str, is_it: bool) -> None:
    assert is_wide(text) is is_it


def test_a_word_in_katakana_is_not_cut() -> None:
    assert not may_part("ジャパン", 2)
    assert may_part("パンが", 2)
    assert may_part("パン", 0)
    assert may_part("パン", 2)
