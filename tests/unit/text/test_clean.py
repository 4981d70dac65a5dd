"""Characters a text may bring along: what stays, what goes, what is said about it."""

from hypothesis import given
from hypothesis import strategies as st

from service.text.clean import clean_text


def test_each_kind_of_line_end_becomes_one_line_feed() -> None:
    assert clean_text("a\r\nb\rc\nd\r\n\r\ne").text == "a\nb\nc\nd\n\ne"


def test_byte_order_mark_goes_without_a_word() -> None:
    clean = clean_text("\ufeff# Title")
    assert clean.text == "# Title"
    assert clean.warnings == ()


def test_control_characters_go_with_a_warning() -> None:
    clean = clean_text("a\x00b\x07c\x7fd\x9be\tf")
    assert clean.text == "abcde\tf"
    assert clean.warnings == ("4 control characters removed",)


def test_colours_of_a_terminal_go_whole() -> None:
    assert clean_text("\x1b[1;31mfailed\x1b[0m").text == "failed"


def test_form_feed_keeps_words_apart() -> None:
    assert clean_text("page one\x0cpage two").text == "page one page two"


def test_lone_surrogates_are_replaced_so_that_the_text_can_be_written() -> None:
    clean = clean_text("a\ud800b")
    assert clean.text == "a\ufffdb"
    assert clean.warnings == ("1 broken characters replaced",)


def test_hangul_emoji_and_joiners_stay() -> None:
    text = "한국어 메모 👩‍💻 é ﷺ"
    assert clean_text(text).text == text


@given(st.text(alphabet=st.characters(codec=None)))
def test_what_is_left_can_be_stored(text: str) -> None:
    clean = clean_text(text)
    clean.text.encode()
    assert not set(clean.text) & {"\x00", "\r", "\x1b", "\x0b", "\x0c", "\x85"}
    assert clean_text(clean.text).text == clean.text.lstrip("\ufeff")
