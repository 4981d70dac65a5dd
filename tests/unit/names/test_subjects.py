"""The subject of a memory: its title, else whoever speaks in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.names.slugs import slug_of
from service.names.subjects import subject_of


@pytest.mark.parametrize(
    ("title", "content", "subject"),
    [
        ("Blue Harbour", "It opened in 1990.", "blue_harbour"),
        ("The Lion King", "A film.", "lion_king"),
        ("Blue Harbour", "Anna Berg: I went there.", "blue_harbour"),
        ("", "Mina: I went there yesterday.", "mina"),
        ("", "[09:15] Anna Berg: I went there.", "anna_berg"),
        ("", "  Anna Berg : I went there.", "anna_berg"),
        ("", "민수： 네, 어제 갔어요.", slug_of("민수")),
    ],
)
def test_a_title_or_a_speaker_is_a_subject(title: str, content: str, subject: str) -> None:
    assert subject_of(title, content) == subject


@pytest.mark.parametrize(
    "content",
    [
        "", "no label here", "User: hello", "assistant: hello", "Note: the port is 8001",
        "TODO: mend it", "http://example.org is down", "10:30 stand-up", "12:30: stand-up",
        "the reason for it: it broke", "One Two Three Four: too long", "# Heading: x", "Mina:x",
        "A line\nMina: not at the beginning",
    ],
)  # fmt: skip
def test_other_labels_are_none(content: str) -> None:
    assert subject_of("", content) is None


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_has_a_slug_or_none(title: str, content: str) -> None:
    subject = subject_of(title, content)
    assert subject is None or subject
