"""Sentence borders, in several scripts and on text that is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.text.sentences import find_sentence_starts


def _split(text: str) -> list[str]:
    starts = find_sentence_starts(text)
    return [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]


@pytest.mark.parametrize(
    "sentences",
    [
        ["Dr. Smith runs v2.3.1 of src/app.py. ", "It failed, i.e. it stopped. ", "Why?"],
        ["서버를 다시 시작했습니다. ", "메모리는 3.5GB입니다. ", "끝."],
        ["我喜欢猫。", "你呢?", "我也是!"],
        ["東京に行った。", "面白い！", "また行く。"],
        ["One line\nwrapped to two. ", "Another."],
    ],
)
def test_knows_abbreviations_versions_and_east_asian_marks(sentences: list[str]) -> None:
    assert _split("".join(sentences)) == sentences


def test_white_space_of_several_bytes_after_an_initial() -> None:
    text = "Seen by J.\u00a0X.\u3000Then home. Next."
    assert "".join(_split(text)) == text


def test_a_sentence_on_a_window_border_stays_whole() -> None:
    sentence = "The quick brown fox jumped over the lazy dog again. "
    assert _split(sentence * 200) == [sentence] * 200


def test_a_sentence_longer_than_the_windows_stays_whole() -> None:
    long = "word " * 3_000 + "end. "
    assert _split(f"Short. {long}Short again.") == ["Short. ", long, "Short again."]


@given(
    st.text(
        alphabet=st.one_of(st.sampled_from(" .!?。\n\u00a0\"'JX1가"), st.characters(codec="utf-8"))
    )
)
def test_pieces_add_up_to_any_text(text: str) -> None:
    starts = find_sentence_starts(text)
    assert starts[0] == 0
    assert starts == sorted(starts)
    assert "".join(_split(text)) == text
