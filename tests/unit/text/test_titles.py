"""What a memory without a title is called."""

from service.text.titles import title_of


def test_a_given_title_is_the_title() -> None:
    assert title_of("Gateway", "# Another\n\nText.") == "Gateway"


def test_without_one_the_first_line_with_text_is_its_title() -> None:
    assert title_of("", "\n \n## **Fixed the gateway**\n\nIt works.") == "Fixed the gateway"
    assert title_of("", "- `ls` works") == "ls` works"
    assert title_of("", " \n") == ""


def test_a_long_line_is_cut_at_80_characters() -> None:
    assert title_of("", "x" * 80) == "x" * 80
    assert title_of("", "x" * 81) == "x" * 79 + "…"
    assert title_of("", "word " * 40) == " ".join(["word"] * 16) + "…"
