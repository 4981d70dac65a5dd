"""Korean, Chinese and Japanese: stems without particles, and where a name may begin."""

import hashlib
import re

import pytest

from service.text.cjk import (
    CJK_INDEXED,
    CJK_LETTERS,
    CJK_TOKENS,
    HAN,
    HANGUL,
    KATAKANA,
    count_cjk,
    has_cjk,
    is_name_border,
    starts_with_cjk,
    stems,
)


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
def test_cjk_letters(text: str, is_it: bool) -> None:
    assert has_cjk(text) is is_it


def test_a_word_in_katakana_is_not_cut() -> None:
    assert not is_name_border("ジャパン", 2)
    assert is_name_border("パンが", 2)
    assert is_name_border("パン", 0)
    assert is_name_border("パン", 2)


@pytest.mark.parametrize(
    ("letters", "count", "digest"),
    [
        (HAN, 27649, "0fc79bd7"),
        (KATAKANA, 91, "436ee155"),
        (HANGUL, 11172, "9ecdb45e"),
        (CJK_LETTERS, 39004, "0214d3fc"),
        (CJK_INDEXED, 39472, "a75f0245"),
        (CJK_TOKENS, 172311, "e241a0df"),
    ],
)
def test_ranges_stay_as_stores_were_made_with_them(letters: str, count: int, digest: str) -> None:
    inside = "".join(re.findall(f"[{letters}]", "".join(map(chr, range(0x40000)))))
    assert (len(inside), hashlib.sha256(inside.encode()).hexdigest()[:8]) == (count, digest)


@pytest.mark.parametrize(("text", "starts"), [("가b", True), ("b가", False), ("・가", False)])
def test_the_first_letter_decides(text: str, *, starts: bool) -> None:
    assert starts_with_cjk(text) is starts


def test_counting_is_of_scripts() -> None:
    assert count_cjk("a 東京・서울 サ, é") == 6
